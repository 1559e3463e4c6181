//! Calls over HTTP, on persistent connections, one call at a time on each.

use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader as AsyncBufReader};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use crate::cores::Cores;
use crate::payload::Payload;
use crate::process::{Process, Turn};
use crate::rows::Row;
use crate::table::Client;

/// A revision of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Revision {
    V2025_11_25,
    V2026_07_28,
}

impl Revision {
    /// Builds a request of a client without a session.
    fn request(self, address: &str, Payload { tool, arguments, .. }: Payload) -> String {
        let (name, headers, meta) = match self {
            Self::V2025_11_25 => ("2025-11-25", String::new(), ""),
            Self::V2026_07_28 => (
                "2026-07-28",
                format!("mcp-method: tools/call\r\nmcp-name: {tool}\r\n"),
                r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"}}"#,
            ),
        };
        let params = format!(r#"{{"name":"{tool}","arguments":{arguments}{meta}}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: {name}\r\n{headers}\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
    }
}

/// A server and its address.
pub(crate) struct Http {
    process: Process,
    address: String,
    request: String,
    expected: &'static str,
    runtime: Runtime,
}

impl Http {
    pub(crate) fn start(row: &Row, cores: Cores, revision: Revision, payload: Payload) -> Self {
        let mut process = Process::start(row, cores, "http", payload);
        let mut address = String::new();
        let output = process.0.stdout.take().expect("stdout is a pipe");
        BufReader::new(output).read_line(&mut address).expect("the server says where it is");
        let address = address.trim().to_owned();
        let runtime = Builder::new_current_thread().enable_io().build().expect("a runtime");
        let request = revision.request(&address, payload);
        Self { process, request, expected: payload.expected, address, runtime }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}

impl Client for Http {
    fn turn(&mut self, n_in_flight: usize, time: Duration) -> Turn {
        // Opened for each turn, since some servers close a connection that is idle for five seconds.
        let connections = self.runtime.block_on(async {
            let mut connections = Vec::new();
            for _ in 0..n_in_flight {
                let mut connection = Connection::open(&self.address, &self.request, self.expected).await;
                connection.call().await;
                connections.push(connection);
            }
            connections
        });
        self.process.measure(|| {
            self.runtime.block_on(async {
                let end = Instant::now() + time;
                let asking: JoinSet<_> = connections.into_iter().map(|connection| connection.ask_until(end)).collect();
                asking.join_all().await.concat()
            })
        })
    }
}

struct Connection {
    stream: AsyncBufReader<TcpStream>,
    request: String,
    expected: &'static str,
    line: String,
    body: Vec<u8>,
}

impl Connection {
    async fn open(address: &str, request: &str, expected: &'static str) -> Self {
        let stream = TcpStream::connect(address).await.expect("the server listens");
        stream.set_nodelay(true).expect("it is a connection");
        let request = request.to_owned();
        Self { stream: AsyncBufReader::new(stream), request, expected, line: String::new(), body: Vec::new() }
    }

    /// The duration of each call.
    async fn ask_until(mut self, end: Instant) -> Vec<Duration> {
        let mut taken = Vec::new();
        let mut now = Instant::now();
        while now < end {
            self.call().await;
            let answered = Instant::now();
            taken.push(answered - now);
            now = answered;
        }
        taken
    }

    async fn call(&mut self) {
        self.stream.write_all(self.request.as_bytes()).await.expect("the server reads");
        let (mut length, mut is_chunked) = (0, false);
        assert!(self.line().await.contains(" 200 "), "{}", self.line);
        loop {
            self.line().await.make_ascii_lowercase();
            match self.line.trim_end().split_once(": ") {
                Some(("content-length", value)) => length = value.parse().expect("a number"),
                Some(("transfer-encoding", _)) => is_chunked = true,
                Some(_) => {}
                None => break,
            }
        }
        self.body.clear();
        while is_chunked {
            let length = usize::from_str_radix(self.line().await.trim_end(), 16).expect("the length of a chunk");
            self.take(length + 2).await;
            is_chunked = length > 0;
        }
        self.take(length).await;
        let text = String::from_utf8_lossy(&self.body);
        assert!(text.contains(self.expected), "{text}");
    }

    async fn line(&mut self) -> &mut String {
        self.line.clear();
        self.stream.read_line(&mut self.line).await.expect("the server answers");
        &mut self.line
    }

    async fn take(&mut self, length: usize) {
        let start = self.body.len();
        self.body.resize(start + length, 0);
        self.stream.read_exact(&mut self.body[start..]).await.expect("the server answers in full");
    }
}
