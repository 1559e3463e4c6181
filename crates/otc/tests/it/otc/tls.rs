//! Servers over HTTPS: trusted and untrusted certificates.

use std::sync::{Arc, Mutex};

use rcgen::{CertificateParams, date_time_ymd};
use test_support::authority::Authority;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit_otc::{Auth, OtcBackend};

use super::*;

struct Served {
    port: u16,
    /// The bytes received over established connections.
    heard: Arc<Mutex<String>>,
}

impl Served {
    /// Starts a server with one tool and a certificate for this name.
    async fn new(authority: &Authority, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Self {
        let acceptor = authority.acceptor(name, change);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard: Arc<Mutex<String>> = Arc::default();
        let served = Self { port, heard: Arc::clone(&heard) };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, heard) = (acceptor.clone(), Arc::clone(&heard));
                tokio::spawn(async move {
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    let mut request = vec![0; 64 << 10];
                    while let Ok(n @ 1..) = stream.read(&mut request).await {
                        let request = String::from_utf8_lossy(&request[..n]).into_owned();
                        heard.lock().unwrap().push_str(&request);
                        let body = match request.starts_with("GET") {
                            true => json!({ "tools": [definition("Doorbell.Ring@0.1.0")] }),
                            false => {
                                json!({ "result": { "call_id": "1", "duration": 1, "success": true, "value": "ding" } })
                            }
                        }
                        .to_string();
                        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json";
                        let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                        if stream.write_all(answer.as_bytes()).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        served
    }

    fn backend(&self) -> OtcBackend {
        let url = format!("https://localhost:{}/otc", self.port);
        OtcBackend::new("remote", &url).unwrap().auth(Auth::api_key("hunter2"))
    }

    /// Returns the error, and asserts that no bytes were received.
    async fn refusal(&self, backend: OtcBackend) -> String {
        let error = backend.tools().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
        assert_eq!(*self.heard.lock().unwrap(), "");
        error.message().to_owned()
    }
}

#[tokio::test]
async fn tools_of_a_server_over_tls_are_listed() {
    let authority = Authority::new();
    let served = Served::new(&authority, "localhost", |_| {}).await;
    let backend = served.backend().trust(&authority.pem()).unwrap();
    assert!(format!("{backend:?}").contains("https://localhost"), "{backend:?}");
    let dispatcher = dispatcher_on(backend).await;
    assert!(dispatcher.catalog().get("Doorbell:Ring").is_some());
    assert!(served.heard.lock().unwrap().contains("oxp-api-key: hunter2"));
}

#[tokio::test]
async fn a_server_that_is_not_trusted_is_sent_nothing() {
    let (authority, other) = (Authority::new(), Authority::new());
    let served = Served::new(&authority, "localhost", |_| {}).await;
    let unknown = "the tool server `remote` is not trusted, so no request was sent: its certificate is not signed by a \
                   trusted authority; add your own authority with `trust`, or in the file that `SSL_CERT_FILE` names";
    assert_eq!(served.refusal(served.backend()).await, unknown);
    assert_eq!(served.refusal(served.backend().trust(&other.pem()).unwrap()).await, unknown);

    let trusting = |served: &Served| served.backend().trust(&authority.pem()).unwrap();
    let elsewhere = Served::new(&authority, "elsewhere.example", |_| {}).await;
    let refusal = elsewhere.refusal(trusting(&elsewhere)).await;
    assert!(refusal.ends_with("its certificate is for another host name"), "{refusal}");
    let expired = Served::new(&authority, "localhost", |params| params.not_after = date_time_ymd(2020, 1, 1)).await;
    let refusal = expired.refusal(trusting(&expired)).await;
    assert!(refusal.ends_with("its certificate has expired"), "{refusal}");
    assert!(served.backend().trust("no certificate").is_err());
}

/// A client does not switch between HTTP and HTTPS.
#[tokio::test]
async fn https_never_falls_back_to_http() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut heard = vec![0; 4096];
        let n = stream.read(&mut heard).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
        String::from_utf8_lossy(&heard[..n]).into_owned()
    });
    let backend =
        OtcBackend::new("remote", &format!("https://localhost:{port}")).unwrap().auth(Auth::api_key("hunter2"));
    assert_eq!(backend.tools().await.unwrap_err().kind(), ErrorKind::Unavailable);
    let heard = heard.await.unwrap();
    assert!(!heard.contains("hunter2") && !heard.contains("GET"), "{heard}");
}
