//! Random bytes as results of a server over HTTP, and as the file that configures servers.
//!
//! No input causes a panic. A server that answers each request at once ends none of them by a timeout.
#![no_main]

use std::collections::VecDeque;
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use toolkit::Dispatcher;
use toolkit_backends::Backends;
use toolkit_mcp_client::{Endpoint, McpBackend, McpServers};

/// The byte between two answers. No text in UTF-8 has it.
const SEPARATOR: u8 = 0xff;

/// The time for all requests of an input.
const LIMIT: Duration = Duration::from_secs(8);

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_current_thread().enable_all().build().expect("there are threads"));
/// The answers that the server has left.
static ANSWERS: Mutex<VecDeque<Vec<u8>>> = Mutex::new(VecDeque::new());
static URL: LazyLock<String> = LazyLock::new(|| {
    let listener = RUNTIME.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port is free");
    let url = format!("http://{}/mcp", listener.local_addr().expect("it has an address"));
    RUNTIME.spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            tokio::spawn(answer(connection));
        }
    });
    url
});

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = str::from_utf8(bytes) {
        drop(McpServers::from_json_with(text, |_| None));
    }
    let url = &*URL;
    *ANSWERS.lock().expect("nobody panics") = bytes.split(|&byte| byte == SEPARATOR).map(<[u8]>::to_vec).collect();
    let began = Instant::now();
    RUNTIME.block_on(connect(url));
    assert!(began.elapsed() < LIMIT, "{:?}", began.elapsed());
});

/// Connects to the server, lists its tools, and calls the first of them.
async fn connect(url: &str) {
    let backends = Backends::new();
    let endpoint = Endpoint::new(url).expect("the URL is valid");
    let server = McpBackend::http("server", endpoint).start_timeout(LIMIT).timeout(LIMIT);
    backends.register(server).expect("the name is free");
    let collected = backends.collect_within(toolkit_fuzz::tools(), LIMIT).await;
    let first = collected.catalog.iter().map(|tool| tool.id().to_string()).find(|id| id.starts_with("server:"));
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build();
    if let (Some(first), Ok(dispatcher)) = (first, dispatcher) {
        drop(dispatcher.call(first.as_str(), "{}").await);
    }
    backends.stop().await;
}

/// Answers the request of a connection: with the next bytes as its result, or as the whole body if they begin with a zero.
async fn answer(connection: TcpStream) -> Option<()> {
    let mut connection = BufReader::new(connection);
    let (mut head, mut n_bytes) = (String::new(), 0);
    while connection.read_line(&mut head).await.ok()? > 2 {
        let line = head.lines().next_back()?.to_ascii_lowercase();
        n_bytes = line.strip_prefix("content-length:").map_or(n_bytes, |length| length.trim().parse().unwrap_or(0));
    }
    let mut body = vec![0; n_bytes];
    connection.read_exact(&mut body).await.ok()?;
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let next = || ANSWERS.lock().expect("nobody panics").pop_front();
    let (status, kind, body) = match (request.get("id"), head.starts_with("POST")) {
        (Some(id), true) => match next() {
            None => ("404 Not Found", "text/plain", Vec::new()),
            Some(bytes) => match bytes.strip_prefix(&[0]) {
                Some([b'{', ..]) => ("200 OK", "application/json", bytes[1..].to_vec()),
                Some(events) => ("200 OK", "text/event-stream", events.to_vec()),
                None => {
                    let before = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#);
                    ("200 OK", "application/json", [before.as_bytes(), &bytes, b"}"].concat())
                }
            },
        },
        (None, true) => ("202 Accepted", "text/plain", Vec::new()),
        _ => ("405 Method Not Allowed", "text/plain", Vec::new()),
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    connection.write_all(&[head.into_bytes(), body].concat()).await.ok()?;
    connection.shutdown().await.ok()
}
