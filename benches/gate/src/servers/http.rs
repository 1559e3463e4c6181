//! Calls over HTTP, on loopback connections.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use toolkit_mcp_server::Server;

use super::answer::answered;

const LOOPBACK: &str = "127.0.0.1:0";

/// A revision of the protocol.
#[derive(Clone, Copy)]
pub(super) enum Revision {
    V2025_11_25,
    V2026_07_28,
}

impl Revision {
    /// Builds a request of a client without a session.
    fn request(self, address: SocketAddr) -> String {
        let (name, headers, meta) = match self {
            Self::V2025_11_25 => ("2025-11-25", "", ""),
            Self::V2026_07_28 => (
                "2026-07-28",
                "mcp-method: tools/call\r\nmcp-name: add\r\n",
                r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"}}"#,
            ),
        };
        let params = format!(r#"{{"name":"add","arguments":{{"a":17,"b":25}}{meta}}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: {name}\r\n{headers}\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
    }
}

/// A handler of hyper.
pub(super) fn floor(revision: Revision, n_in_flight: usize, n_calls: usize) {
    let runtime = runtime();
    let listener = runtime.block_on(TcpListener::bind(LOOPBACK)).expect("a port is free");
    let end = call(listener.local_addr().expect("it has one"), revision, n_in_flight, n_calls);
    runtime.block_on(async {
        tokio::select! {
            () = accept(listener) => {}
            _ = end => {}
        }
    });
}

async fn accept(listener: TcpListener) {
    let answer = async |request: Request<Incoming>| {
        let body = request.into_body().collect().await.expect("the client sends all of it").to_bytes();
        let mut response = Response::new(Full::new(Bytes::from(answered(&body))));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok::<_, Infallible>(response)
    };
    loop {
        let (stream, _) = listener.accept().await.expect("it listens");
        stream.set_nodelay(true).expect("it is a socket");
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)));
    }
}

/// The server, with the checks and limits of its defaults.
pub(super) fn calls(server: &Server, revision: Revision, n_in_flight: usize, n_calls: usize) {
    let runtime = runtime();
    let listening = runtime.block_on(server.clone().http().bind(LOOPBACK)).expect("a port is free");
    let end = call(listening.local_addr().expect("it has one"), revision, n_in_flight, n_calls);
    runtime.block_on(listening.run(async { drop(end.await) }));
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime starts")
}

/// Makes the calls on another thread: one on each connection, and the next ones when all are answered.
fn call(address: SocketAddr, revision: Revision, n_in_flight: usize, n_calls: usize) -> oneshot::Receiver<()> {
    let (ended, end) = oneshot::channel();
    std::thread::spawn(move || {
        let request = revision.request(address);
        let connect = |_| TcpStream::connect(address).expect("the server listens");
        let mut streams: Vec<TcpStream> = (0..n_in_flight).map(connect).collect();
        // All responses to this request have the same length.
        let mut response = vec![0; 4 << 10];
        streams[0].write_all(request.as_bytes()).expect("the server reads");
        let n_bytes = streams[0].read(&mut response).expect("the server answers");
        response.truncate(n_bytes);
        assert!(String::from_utf8_lossy(&response).contains(r#""sum":42"#), "{}", String::from_utf8_lossy(&response));
        for _ in 0..n_calls / n_in_flight {
            streams.iter_mut().for_each(|stream| stream.write_all(request.as_bytes()).expect("the server reads"));
            streams.iter_mut().for_each(|stream| stream.read_exact(&mut response).expect("the server answers"));
        }
        drop(streams);
        drop(ended);
    });
    end
}
