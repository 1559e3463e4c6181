//! Connections to a server, and what ends them.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::FutureExt;
use http::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use toolkit_runtime::{HostGuard, HttpServer, Limits, RequestHead, bind, empty_response, events_response};

/// Starts a server with room for one connection. It runs until the second sender is dropped, and drains after the first.
fn serve() -> (SocketAddr, oneshot::Sender<()>, oneshot::Sender<()>) {
    let mut limits = Limits::default();
    (limits.max_connections, limits.reserved_connections) = (1, 0);
    let listener = bind(&[([127, 0, 0, 1], 0).into()]).unwrap();
    let address = listener.local_addr().unwrap();
    let server = HttpServer::new(limits, HostGuard::local());
    let ((drain, draining), (close, closing)) = (oneshot::channel::<()>(), oneshot::channel::<()>());
    tokio::spawn(async move {
        let answer = |head: RequestHead, _| async move {
            match head.path() {
                "/panics" => panic!("the answer of the test panics"),
                "/stream" => events_response(poll_fn(|_| panic!("the stream of the test panics")).into_stream()),
                _ => empty_response(StatusCode::OK),
            }
        };
        server.serve(listener, answer, async { drop(draining.await) }, async { drop(closing.await) }).await;
    });
    (address, drain, close)
}

async fn send(stream: &mut TcpStream, path: &str) {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes()).await.unwrap();
}

/// Returns the head of the response, or as much of it as arrives before the connection ends.
async fn receive(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match tokio::time::timeout(Duration::from_secs(5), stream.read_u8()).await.expect("the server responds") {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(head).unwrap()
}

async fn ask(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    send(&mut stream, path).await;
    receive(&mut stream).await
}

#[tokio::test]
async fn an_answer_that_panics_is_a_500_and_the_connection_goes_on() {
    let (address, _drain, _close) = serve();
    let mut stream = TcpStream::connect(address).await.unwrap();
    for (path, status) in [("/panics", "500"), ("/", "200")] {
        send(&mut stream, path).await;
        let head = receive(&mut stream).await;
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
    }
}

#[tokio::test]
async fn a_connection_leaves_its_room_when_a_response_panics() {
    let (address, _drain, _close) = serve();
    for path in ["/panics", "/stream"] {
        ask(address, path).await;
        assert!(ask(address, "/").await.starts_with("HTTP/1.1 200 "), "{path}");
    }
}

#[tokio::test]
async fn responses_close_their_connections_while_the_server_drains() {
    let (address, drain, _close) = serve();
    let mut stream = TcpStream::connect(address).await.unwrap();
    send(&mut stream, "/").await;
    assert!(!receive(&mut stream).await.contains("connection: close"));
    drop(drain);
    tokio::time::sleep(Duration::from_millis(50)).await;
    send(&mut stream, "/").await;
    let head = receive(&mut stream).await;
    assert!(head.contains("connection: close"), "{head}");
    // It still accepts connections.
    assert!(ask(address, "/").await.starts_with("HTTP/1.1 200 "));
}
