//! An authorization server that publishes keys, and misbehaves on request.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// A running authorization server, until the end of the test.
pub struct Issuer {
    /// The issuer, which is also the URL of the server.
    pub url: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    keys: Mutex<Value>,
    metadata: Mutex<Value>,
    metadata_path: Mutex<String>,
    mode: Mutex<Mode>,
    requests: Mutex<Vec<String>>,
    bytes_written: Mutex<usize>,
    arrived: Notify,
    released: Notify,
}

/// The response to each request.
#[derive(Clone, Default)]
pub enum Mode {
    #[default]
    Serve,
    /// Closes the connection.
    Down,
    /// Responds after [`Issuer::release`].
    Held,
    /// A document of 1 GB.
    Endless,
    /// These bytes.
    Raw(String),
}

impl Issuer {
    /// Starts a server with these keys.
    pub async fn start(keys: Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared::default());
        *shared.metadata.lock().unwrap() = json!({ "issuer": url, "jwks_uri": format!("{url}/keys") });
        *shared.metadata_path.lock().unwrap() = "/.well-known/oauth-authorization-server".to_owned();
        let issuer = Self { url, shared: Arc::clone(&shared) };
        issuer.publish(keys);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(respond(stream, Arc::clone(&shared)));
            }
        });
        issuer
    }

    pub fn publish(&self, keys: Value) {
        *self.shared.keys.lock().unwrap() = keys;
    }

    pub fn set_mode(&self, mode: Mode) {
        *self.shared.mode.lock().unwrap() = mode;
    }

    pub fn set_metadata(&self, path: &str, metadata: Value) {
        *self.shared.metadata_path.lock().unwrap() = path.to_owned();
        *self.shared.metadata.lock().unwrap() = metadata;
    }

    /// Returns the paths of all requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// Returns the number of requests for keys so far.
    pub fn n_key_requests(&self) -> usize {
        self.requests().iter().filter(|path| *path == "/keys").count()
    }

    pub fn bytes_written(&self) -> usize {
        *self.shared.bytes_written.lock().unwrap()
    }

    /// Waits for a request that is held.
    pub async fn arrived(&self) {
        self.shared.arrived.notified().await;
    }

    pub fn release(&self) {
        self.shared.released.notify_one();
    }
}

async fn respond(stream: TcpStream, shared: Arc<Shared>) {
    let mut stream = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.unwrap_or(0) == 0 || line.trim().is_empty() {
            break;
        }
        lines.push(line);
    }
    let Some(path) = lines.first().and_then(|line| line.split(' ').nth(1)).map(str::to_owned) else { return };
    shared.requests.lock().unwrap().push(path.clone());
    let mode = shared.mode.lock().unwrap().clone();
    match mode {
        Mode::Down => return,
        Mode::Held => {
            shared.arrived.notify_one();
            shared.released.notified().await;
        }
        Mode::Endless => {
            let head = "HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n{\"keys\": [";
            let _ = stream.write_all(head.as_bytes()).await;
            for _ in 0..1_000_000_000 / (16 << 10) {
                if stream.write_all(&[b' '; 16 << 10]).await.is_err() {
                    return;
                }
                *shared.bytes_written.lock().unwrap() += 16 << 10;
            }
        }
        Mode::Raw(response) => {
            let _ = stream.write_all(response.as_bytes()).await;
            return;
        }
        Mode::Serve => {}
    }
    let body = if path == "/keys" {
        Some(shared.keys.lock().unwrap().to_string())
    } else if path == *shared.metadata_path.lock().unwrap() {
        Some(shared.metadata.lock().unwrap().to_string())
    } else {
        None
    };
    let status = if body.is_some() { "200 OK" } else { "404 Not Found" };
    let body = body.unwrap_or_default();
    let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    let _ = stream.write_all((head + &body).as_bytes()).await;
}
