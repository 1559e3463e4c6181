//! Servers over HTTPS: trusted and untrusted certificates.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use serde_json::json;
use test_support::authority::Authority;
use test_support::program;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit_mcp_client::{Endpoint, McpBackend};

use super::{collected, in_the_end};

struct Served {
    address: SocketAddr,
    /// The number of connections, including failed ones.
    n_connected: Arc<AtomicUsize>,
    /// The bytes received over established connections.
    heard: Arc<Mutex<String>>,
}

impl Served {
    /// Starts a server with one tool and a certificate for this name.
    async fn new(authority: &Authority, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Self {
        let acceptor = authority.acceptor(name, change);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (n_connected, heard): (Arc<AtomicUsize>, Arc<Mutex<String>>) = Default::default();
        let served = Self { address, n_connected: Arc::clone(&n_connected), heard: Arc::clone(&heard) };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                n_connected.fetch_add(1, Ordering::SeqCst);
                let (acceptor, heard) = (acceptor.clone(), Arc::clone(&heard));
                tokio::spawn(async move {
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    let mut request = vec![0; 64 << 10];
                    while let Ok(n @ 1..) = stream.read(&mut request).await {
                        let request = String::from_utf8_lossy(&request[..n]).into_owned();
                        heard.lock().unwrap().push_str(&request);
                        if stream.write_all(answer(&request).as_bytes()).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        served
    }

    fn endpoint(&self) -> Endpoint {
        let url = format!("https://localhost:{}/mcp", self.address.port());
        Endpoint::new(&url).unwrap().bearer("hunter2".into())
    }

    /// Returns the error, and asserts that no bytes were received.
    async fn refusal(&self, endpoint: Endpoint) -> String {
        let error = in_the_end(McpBackend::http("remote", endpoint).start()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
        assert!(self.n_connected.load(Ordering::SeqCst) > 0, "nobody was asked");
        assert_eq!(*self.heard.lock().unwrap(), "");
        error.message().to_owned()
    }
}

/// Returns the response of an MCP server.
fn answer(request: &str) -> String {
    let body = request.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let message: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "remote", "version": "1" },
        }),
        Some("tools/list") => json!({ "tools": [{ "name": "secret", "inputSchema": { "type": "object" } }] }),
        Some("tools/call") => json!({ "content": [] }),
        Some("server/discover") => return "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_owned(),
        _ => return "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_owned(),
    };
    let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json";
    format!("{head}\r\ncontent-length: {}\r\n\r\n{answer}", answer.len())
}

async fn tools_of(backend: &McpBackend) -> Vec<String> {
    let collected = collected(backend).await;
    assert!(collected.failures.is_empty(), "{:?}", collected.failures);
    collected.catalog.iter().map(|tool| tool.id().to_string()).collect()
}

#[tokio::test]
async fn an_added_authority_is_trusted() {
    let authority = Authority::new();
    let served = Served::new(&authority, "localhost", |_| {}).await;
    let endpoint = served.endpoint().trust(&authority.pem()).unwrap();
    assert_eq!(tools_of(&McpBackend::http("remote", endpoint)).await, ["remote:secret"]);
    assert!(served.heard.lock().unwrap().to_lowercase().contains("authorization: bearer hunter2"));
}

#[tokio::test]
async fn an_untrusted_server_is_sent_nothing() {
    let (authority, other) = (Authority::new(), Authority::new());
    let served = Served::new(&authority, "localhost", |_| {}).await;
    let unknown = "the MCP server `remote` is not trusted, so no request was sent: its certificate is not signed by a \
                   trusted authority; add your own authority with `trust`, or in the file that `SSL_CERT_FILE` names";
    assert_eq!(served.refusal(served.endpoint()).await, unknown);
    assert_eq!(served.refusal(served.endpoint().trust(&other.pem()).unwrap()).await, unknown);

    let elsewhere = Served::new(&authority, "elsewhere.example", |_| {}).await;
    let trusting = |served: &Served| served.endpoint().trust(&authority.pem()).unwrap();
    let refusal = elsewhere.refusal(trusting(&elsewhere)).await;
    assert!(refusal.ends_with("its certificate is for another host name"), "{refusal}");
    let expired = Served::new(&authority, "localhost", |params| params.not_after = date_time_ymd(2020, 1, 1)).await;
    let refusal = expired.refusal(trusting(&expired)).await;
    assert!(refusal.ends_with("its certificate has expired"), "{refusal}");
}

#[tokio::test]
async fn a_malformed_certificate_is_rejected_early() {
    let endpoint = || Endpoint::new("https://localhost/mcp").unwrap();
    let none = "the PEM text has no certificate; expected `-----BEGIN CERTIFICATE`";
    assert_eq!(endpoint().trust("").unwrap_err().to_string(), none);
    let key = KeyPair::generate().unwrap().serialize_pem();
    assert_eq!(endpoint().trust(&key).unwrap_err().to_string(), none);
    let wrong = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let error = endpoint().trust(wrong).unwrap_err().to_string();
    assert!(error.starts_with("malformed certificate: "), "{error}");
}

/// Other systems use their own certificate store.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_platforms_variable_names_authorities_too() {
    let authority = Authority::new();
    let served = Served::new(&authority, "localhost", |_| {}).await;
    let file = std::env::temp_dir().join(format!("toolkit-tls-{}.pem", std::process::id()));
    std::fs::write(&file, authority.pem()).unwrap();
    let url = format!("https://localhost:{}/mcp", served.address.port());
    let calls = async |trusted: Option<&Path>| {
        let mut program = tokio::process::Command::new(program("fixture_client"));
        program.arg(&url).env_remove("SSL_CERT_FILE").envs(trusted.map(|file| ("SSL_CERT_FILE", file)));
        in_the_end(program.output()).await.unwrap()
    };
    let output = calls(None).await;
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("is not trusted"), "{error}");
    let output = calls(Some(&file)).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(served.heard.lock().unwrap().contains("tools/call"));
    std::fs::remove_file(file).unwrap();
}
