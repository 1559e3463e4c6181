//! HTTP servers that require credentials, fail, or do not speak MCP.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use toolkit::ToolError;
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit_mcp_client::{Endpoint, McpBackend};

use super::in_the_end;

/// Starts a server that sends this text for each request. Returns its address and the requests.
async fn answering(answer: String) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let requests: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            let (answer, heard) = (answer.clone(), Arc::clone(&heard));
            tokio::spawn(async move {
                let mut request = vec![0; 64 << 10];
                let n_bytes = connection.read(&mut request).await.unwrap_or(0);
                heard.lock().unwrap().push(String::from_utf8_lossy(&request[..n_bytes]).into_owned());
                let _ = connection.write_all(answer.as_bytes()).await;
            });
        }
    });
    (address, requests)
}

fn at(address: &str) -> McpBackend {
    let endpoint = Endpoint::new(&format!("http://{address}/mcp?key=hunter2")).unwrap();
    let endpoint = endpoint.header("x-key", "hunter2").unwrap().bearer("hunter2".into());
    McpBackend::http("remote", endpoint).start_timeout(Duration::from_secs(20))
}

/// Returns the error of connecting.
async fn refusal(answer: &str) -> ToolError {
    let (address, requests) = answering(answer.to_owned()).await;
    let error = in_the_end(at(&address).start()).await.unwrap_err();
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    assert!(requests.lock().unwrap()[0].to_lowercase().contains("authorization: bearer hunter2"));
    error
}

#[track_caller]
fn check(error: &ToolError, kind: ErrorKind, message: &str) {
    assert_eq!((error.kind(), error.message()), (kind, message), "{error:?}");
}

#[tokio::test]
async fn rejected_credentials_are_an_error() {
    let message = "the MCP server `remote` rejected the credentials of this program";
    for headers in ["www-authenticate: Bearer realm=\"x\"\r\ncontent-length: 0", "content-length: 0"] {
        for status in ["401 Unauthorized", "403 Forbidden"] {
            let error = refusal(&format!("HTTP/1.1 {status}\r\n{headers}\r\nconnection: close\r\n\r\n")).await;
            check(&error, ErrorKind::Unauthorized, message);
        }
    }
}

#[tokio::test]
async fn an_overloaded_server_has_retry_after() {
    let busy = "HTTP/1.1 503 Busy\r\nretry-after: 17\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let error = refusal(busy).await;
    check(&error, ErrorKind::Unavailable, "the MCP server `remote` responded with status 503 (retry after 17s)");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(17)));
}

#[tokio::test]
async fn responses_of_other_protocols_are_errors() {
    let ok = |kind: &str, body: &str| {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}", body.len());
        format!("{head}\r\nconnection: close\r\n\r\n{body}")
    };
    let message = "the MCP server `remote` responded with an invalid MCP message";
    for answer in [ok("text/html", "<p>hello</p>"), ok("application/json", "{]"), ok("application/json", "{}")] {
        check(&refusal(&answer).await, ErrorKind::InvalidResponse, message);
    }
    let long = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 104857600\r\n\r\n";
    check(
        &refusal(long).await,
        ErrorKind::InvalidResponse,
        "the MCP server `remote` responded with more than 16777216 bytes",
    );
}

#[tokio::test]
async fn a_closed_port_is_unavailable() {
    let address = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().to_string()
    };
    let error = in_the_end(at(&address).start()).await.unwrap_err();
    check(&error, ErrorKind::Unavailable, "the MCP server `remote` cannot be reached");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("refused"), "{cause}");
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
}

#[tokio::test]
async fn credentials_are_not_in_errors() {
    let address = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().to_string()
    };
    let address = format!("http://{address}/mcp?key={}", "hunter2".repeat(1000));
    let backend = McpBackend::http("remote", Endpoint::new(&address).unwrap());
    let error = in_the_end(backend.start()).await.unwrap_err();
    assert!(std::error::Error::source(&error).unwrap().to_string().contains('…'), "{error:?}");
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
}

#[tokio::test]
async fn connecting_has_a_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let backend = at(&address).start_timeout(Duration::from_millis(200));
    let error = in_the_end(backend.start()).await.unwrap_err();
    let message = "the MCP server `remote` did not respond within 200ms while connecting";
    check(&error, ErrorKind::Unavailable, message);
}

#[tokio::test]
async fn credentials_are_not_sent_to_other_hosts() {
    let n_asked = Arc::new(AtomicUsize::new(0));
    let elsewhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = elsewhere.local_addr().unwrap();
    tokio::spawn({
        let n_asked = Arc::clone(&n_asked);
        async move {
            while elsewhere.accept().await.is_ok() {
                n_asked.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    for status in ["302 Found", "307 Temporary Redirect"] {
        let head = format!("HTTP/1.1 {status}\r\nlocation: http://{address}/mcp\r\ncontent-length: 0");
        refusal(&format!("{head}\r\nconnection: close\r\n\r\n")).await;
    }
    assert_eq!(n_asked.load(Ordering::Relaxed), 0);
}
