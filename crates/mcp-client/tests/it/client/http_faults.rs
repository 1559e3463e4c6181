//! HTTP servers that require credentials, fail, or do not speak MCP.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use toolkit::ToolError;
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit_mcp_client::{Endpoint, McpBackend, fetch_status};

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
async fn the_reason_of_a_refusal_is_in_the_error() {
    let text = "the token has no access to the repository";
    for (kind, body) in [
        ("text/plain", text.to_owned()),
        ("application/json", format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-32001,"message":"{text}"}}}}"#)),
    ] {
        let head = format!("HTTP/1.1 403 Forbidden\r\ncontent-type: {kind}\r\ncontent-length: {}", body.len());
        let error = refusal(&format!("{head}\r\nconnection: close\r\n\r\n{body}")).await;
        check(&error, ErrorKind::Unauthorized, &format!("the MCP server `remote` refused the request: {text}"));
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

#[tokio::test]
async fn the_status_of_a_server_is_json_or_an_error_with_the_reason() {
    let limit = Duration::from_secs(20);
    let response = |status: &str, body: &str| {
        format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
    };
    for (answer, expected) in [
        (response("200 OK", r#"{"tools": 1}"#), Ok(1)),
        (response("200 OK", "{"), Err((ErrorKind::InvalidResponse, "the status is not JSON"))),
        (response("401 Unauthorized", ""), Err((ErrorKind::Unauthorized, "the server requires a valid token"))),
        (response("403 Forbidden", ""), Err((ErrorKind::Unauthorized, "the server requires a valid token"))),
        (response("404 Not Found", ""), Err((ErrorKind::InvalidResponse, "the server has no status"))),
        (
            response("500 Internal Server Error", ""),
            Err((ErrorKind::Unavailable, "the server responded with status 500 Internal Server Error")),
        ),
        (
            response("200 OK", "{}").replace("length: 2", "length: 9"),
            Err((ErrorKind::Unavailable, "the connection was lost")),
        ),
    ] {
        let (address, requests) = answering(answer.clone()).await;
        let endpoint = Endpoint::new(&format!("http://{address}/mcp?key=a")).unwrap();
        let endpoint = endpoint.header("x-key", "b").unwrap().bearer("c".into());
        let status = fetch_status(&endpoint, limit).await;
        let found = status
            .as_ref()
            .map(|status| status["tools"].as_u64().unwrap())
            .map_err(|error| (error.kind(), error.message()));
        assert_eq!(found, expected, "{answer}");
        let request = requests.lock().unwrap()[0].to_lowercase();
        assert!(request.starts_with("get /status?key=a http/1.1\r\n"), "{request}");
        assert!(request.contains("x-key: b\r\n") && request.contains("authorization: bearer c\r\n"), "{request}");
    }
    let endpoint = Endpoint::new("http://127.0.0.1:1/mcp").unwrap();
    check(&fetch_status(&endpoint, limit).await.unwrap_err(), ErrorKind::Unavailable, "the server cannot be reached");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::new(&format!("http://{}/mcp", listener.local_addr().unwrap())).unwrap();
    let error = fetch_status(&endpoint, Duration::from_millis(50)).await.unwrap_err();
    check(&error, ErrorKind::Unavailable, "the server did not respond within 50ms");
}

#[test]
fn an_endpoint_has_a_url_and_headers_that_the_protocol_does_not_set() {
    for (url, error) in [
        ("a b", "`url` is not a URL: relative URL without a base"),
        ("ftp://a.example", "`url` must begin with `https://` or `http://`"),
        ("https://user@a.example", "`url` must not contain a password; use a header or a token"),
        ("https://:secret@a.example", "`url` must not contain a password; use a header or a token"),
    ] {
        assert_eq!(Endpoint::new(url).unwrap_err().to_string(), error, "{url}");
    }
    let endpoint = || Endpoint::new("https://a.example/mcp").unwrap();
    assert!(endpoint().header("x-key", "a").is_ok() && Endpoint::new("http://a.example").is_ok());
    for (name, value, error) in [
        ("a b", "", "the header `a b` has an invalid name"),
        ("Accept", "", "the header `Accept` is reserved by the protocol"),
        ("host", "", "the header `host` is reserved by the protocol"),
        ("MCP-Session-Id", "", "the header `MCP-Session-Id` is reserved by the protocol"),
        ("x-key", "secret\n", "the header `x-key` has a value with invalid characters"),
    ] {
        assert_eq!(endpoint().header(name, value).unwrap_err().to_string(), error, "{name}");
    }
    assert!(
        endpoint().forward_header("x-a", "x-b").is_ok()
            && endpoint().forward_credential("x-a", "authorization").is_ok()
    );
    let credentials = "the header `authorization` may have credentials; use `forwardCredentials`";
    assert_eq!(endpoint().forward_header("x-a", "Authorization").unwrap_err().to_string(), credentials);
    let other = "the header `x-b` is not one with credentials; use `forwardHeaders`";
    assert_eq!(endpoint().forward_credential("x-a", "x-b").unwrap_err().to_string(), other);
    assert!(endpoint().forward_header("mcp-a", "x-b").is_err() && endpoint().forward_header("x-a", "host").is_err());
    assert!(endpoint().trust("no certificate").is_err());
}
