//! An HTTP client that can send malformed requests.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::{MODERN, assert_official};

/// A timeout for operations that must not hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client with a new connection for each request.
#[derive(Clone)]
pub struct Client {
    pub address: SocketAddr,
    headers: Vec<(String, String)>,
}

/// A response.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Client {
    pub fn of(address: SocketAddr) -> Self {
        let accept = ("accept".to_owned(), "application/json, text/event-stream".to_owned());
        Self { address, headers: vec![("host".to_owned(), format!("localhost:{}", address.port())), accept] }
    }

    /// Returns a client that also sends a header.
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut client = self.without(name);
        client.headers.push((name.to_owned(), value.to_owned()));
        client
    }

    pub fn without(&self, name: &str) -> Self {
        let mut client = self.clone();
        client.headers.retain(|(other, _)| other != name);
        client
    }

    /// Posts a message with the headers of its revision, and validates the response against the official schema.
    pub async fn send(&self, message: &Value) -> Response {
        let version = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
        let mut client = self.clone();
        if version == Some(MODERN) {
            let mut add = |name: &str, value: &Value| {
                if let (Some(value), false) = (value.as_str(), client.headers.iter().any(|(other, _)| other == name)) {
                    client.headers.push((name.to_owned(), value.to_owned()));
                }
            };
            add("mcp-protocol-version", &MODERN.into());
            add("mcp-method", &message["method"]);
            add("mcp-name", &message["params"]["name"]);
            add("mcp-name", &message["params"]["uri"]);
        }
        let response = client.post(message.to_string().as_bytes()).await;
        let version = version.filter(|version| *version == MODERN).unwrap_or(super::LEGACY);
        for message in response.messages() {
            assert_official(version, &message);
        }
        response
    }

    pub async fn post(&self, body: &[u8]) -> Response {
        self.with("content-type", "application/json").ask("POST", "/mcp", body).await
    }

    pub async fn get(&self, path: &str) -> Response {
        self.ask("GET", path, b"").await
    }

    pub async fn ask(&self, method: &str, path: &str, body: &[u8]) -> Response {
        let exchange = async {
            let mut stream = self.begin(method, path, body).await;
            Response::read(&mut stream).await
        };
        tokio::time::timeout(PATIENCE, exchange).await.expect("the server answers")
    }

    /// Sends a request without reading the response.
    pub async fn begin(&self, method: &str, path: &str, body: &[u8]) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(&self.head(method, path, body.len())).await.unwrap();
        stream.write_all(body).await.unwrap();
        BufReader::new(stream)
    }

    pub fn head(&self, method: &str, path: &str, length: usize) -> Vec<u8> {
        let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {length}\r\n");
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        (head + "\r\n").into_bytes()
    }
}

impl Response {
    /// Reads the head of the response.
    pub async fn read_head(stream: &mut BufReader<TcpStream>) -> Self {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            let n_read = stream.read_line(&mut line).await.unwrap_or(0);
            if n_read == 0 || line.trim().is_empty() {
                break;
            }
            lines.push(line.trim().to_owned());
        }
        let status = lines.first().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
        let header = |line: &String| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self { status: status.unwrap_or(0), headers: lines.iter().filter_map(header).collect(), body: Vec::new() }
    }

    pub async fn read(stream: &mut BufReader<TcpStream>) -> Self {
        let mut response = Self::read_head(stream).await;
        let _ = stream.read_to_end(&mut response.body).await;
        if response.header("transfer-encoding") == Some("chunked") {
            response.body = unchunked(&response.body);
        }
        response
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Returns the only message of the body.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    #[track_caller]
    pub fn result(&self) -> Value {
        let message = self.json();
        assert!(message["error"].is_null(), "{message}");
        message["result"].clone()
    }

    /// Returns the code of the error.
    #[track_caller]
    pub fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns all messages of the body, which may be an event stream.
    pub fn messages(&self) -> Vec<Value> {
        match self.header("content-type") {
            Some("application/json") => vec![self.json()],
            Some("text/event-stream") => {
                let text = self.text();
                let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
                data.map(|data| serde_json::from_str(data).unwrap()).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|pair| pair == b"\r\n") {
        let length = std::str::from_utf8(&body[..end]).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
        let Some(length) = length.filter(|length| *length > 0) else { break };
        whole.extend_from_slice(&body[end + 2..end + 2 + length]);
        body = &body[end + 4 + length..];
    }
    whole
}
