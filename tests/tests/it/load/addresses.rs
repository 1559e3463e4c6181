//! The limit of connections per address, here applied to loopback addresses.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use serde_json::json;
use tokio::net::TcpSocket;

use super::server::{PATIENCE, Response};
use super::*;

const ONE: &str = "127.0.0.1:0";
const OTHER: &str = "127.0.0.2:0";

fn connect_from(address: &str, server: &Server) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(address.parse().unwrap()).unwrap();
        socket.connect(server.address).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn get(mut stream: TcpStream, server: &Server, path: &str) -> Response {
    // A read detects a closed connection.
    let _ = stream.write_all(server.head("GET", path, 0, "").as_bytes());
    Response::read(stream)
}

#[test]
fn an_address_at_its_limit_evicts_its_own_idle_connections() {
    let server = Server::start(Protocol::Mcp, "of_address=4");
    let others: Vec<TcpStream> = (0..3).map(|_| connect_from(OTHER, &server)).collect();
    let mut own: Vec<TcpStream> = (0..12).map(|_| connect_from(ONE, &server)).collect();
    let left = own.split_off(8);
    for mut closed in own {
        match closed.read(&mut [0]) {
            Ok(n) => assert_eq!(n, 0),
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        }
    }
    for stream in left.into_iter().chain(others) {
        assert_eq!(get(stream, &server, "/metrics").status, 200);
    }
}

#[test]
fn an_address_at_its_limit_evicts_no_connections_of_others() {
    let server = Server::start(Protocol::Mcp, "of_address=4 reserved=2 call_timeout=3600");
    let _held: Vec<TcpStream> = (0..4).map(|_| server.begin("sleep", json!({ "ms": 3_600_000 }))).collect();
    server.wait_until_noted("sleep", 4);
    // A connection from the reserve.
    assert_eq!(get(connect_from(ONE, &server), &server, "/healthz").status, 200);
    assert_eq!(get(connect_from(ONE, &server), &server, "/metrics").status, 503);
    assert_eq!(get(connect_from(OTHER, &server), &server, "/metrics").status, 200);
}
