//! The protocol over HTTP: requests that are not those of our client, and responses that are not those of our server.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use toolkit_code::sandbox::{Remote, Sandbox, SandboxError};
use toolkit_code::server::ServerLimits;
use toolkit_code::wire::{self, ToWorker};
use toolkit_code::{Limits, Program};

use super::remote::{Served, TOKEN};
use super::{in_the_end, native};

/// Sends a request on a connection of its own, and returns the status, the head and the body.
async fn request(served: &Served, line: &str, headers: &str, body: &str) -> (u16, String, Value) {
    let mut stream = tokio::net::TcpStream::connect(served.address).await.unwrap();
    let request = format!(
        "{line} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    in_the_end(stream.read_to_string(&mut response)).await.unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_lowercase(), serde_json::from_str(body).unwrap_or_default())
}

async fn authorized(served: &Served, line: &str, body: &str) -> (u16, String, Value) {
    request(served, line, &format!("authorization: Bearer {TOKEN}\r\n"), body).await
}

fn hello() -> String {
    json!({ "hello": { "version": 1, "limits": {} } }).to_string()
}

/// Opens a session, and returns its path.
async fn opened(served: &Served) -> String {
    let (status, head, body) = authorized(served, "POST /v1/sessions", &hello()).await;
    assert_eq!((status, &body["ready"]["version"]), (201, &json!(1)), "{body}");
    head.lines().find_map(|line| line.strip_prefix("location: ")).unwrap().to_owned()
}

fn start() -> String {
    let start = ToWorker::Start(Box::new(Program::javascript("wait")));
    String::from_utf8(wire::encode(&start, 10_000).unwrap()).unwrap()
}

#[tokio::test]
async fn a_session_is_plain_http() {
    let served = Served::new(native(), ServerLimits::default()).await;
    let path = opened(&served).await;
    let (status, _, step) = authorized(&served, &format!("POST {path}"), &start()).await;
    assert_eq!((status, &step["step"]["state"]["waiting"][0]["id"]), (200, &json!(1)), "{step}");
    let resume = json!({ "resume": [{ "id": 1, "at": 0, "outcome": { "Ok": 3 } }] }).to_string();
    let (status, _, step) = authorized(&served, &format!("POST {path}"), &resume).await;
    assert_eq!((status, &step["step"]["state"]["done"]["outcome"]["Ok"]), (200, &json!(1)), "{step}");
    let (status, ..) = authorized(&served, &format!("POST {path}"), &resume).await;
    assert_eq!(status, 404, "the program is done");
}

#[tokio::test]
async fn requests_without_the_token_are_rejected_before_their_body_is_read() {
    let served = Served::new(native(), ServerLimits::default()).await;
    let path = opened(&served).await;
    let twice = format!("authorization: Bearer {TOKEN}\r\nauthorization: Bearer {TOKEN}\r\n");
    for headers in ["", "authorization: Bearer\r\n", "authorization: Basic s3cr3t\r\n", &twice] {
        for line in ["POST /v1/sessions", &format!("POST {path}"), &format!("DELETE {path}"), "GET /other"] {
            let (status, head, body) = request(&served, line, headers, &hello()).await;
            assert_eq!(status, 401, "{line} {headers}: {body}");
            assert!(head.contains("www-authenticate: bearer"), "{head}");
        }
    }
    let (status, ..) = request(&served, "GET /healthz", "", "").await;
    assert_eq!(status, 200);
    let (status, ..) = authorized(&served, &format!("POST {path}"), &start()).await;
    assert_eq!(status, 200, "the session is as it was");
}

#[tokio::test]
async fn invalid_requests_have_a_status_and_a_reason() {
    let served = Served::new(native(), ServerLimits::default()).await;
    let long = "x".repeat(100_000);
    let path = opened(&served).await;
    let cases = [
        ("POST /v1/sessions", "", 400, "invalid message"),
        ("POST /v1/sessions", &start(), 400, "invalid message"),
        ("POST /v1/sessions", r#"{"hello":{"version":2}}"#, 400, "version 2 of the protocol"),
        ("POST /v1/sessions", &long, 413, "65536 bytes"),
        ("GET /v1/sessions", "", 404, "not found"),
        ("POST /v1/session", "", 404, "not found"),
        ("PUT /v1/sessions/a", "", 404, "not found"),
        ("POST /v1/sessions/00000000000000000000000000000000", &start(), 404, "the session has ended"),
        ("DELETE /v1/sessions/", "", 404, "the session has ended"),
        ("DELETE /v1/sessions/../sessions", "", 404, "the session has ended"),
        (&*format!("POST {path}"), r#"{"resume":[]}"#, 400, "expected `start`"),
    ];
    for (line, body, expected, reason) in cases {
        let (status, _, answer) = authorized(&served, line, body).await;
        assert_eq!(status, expected, "{line}: {answer}");
        assert!(answer["error"].as_str().unwrap().contains(reason), "{line}: {answer}");
    }
    let (status, ..) = authorized(&served, &format!("POST {path}"), &start()).await;
    assert_eq!(status, 404, "a session ends at a message out of turn");
}

#[tokio::test]
async fn ids_of_sessions_cannot_be_guessed() {
    let served = Served::new(native(), ServerLimits::default()).await;
    let (one, other) = (opened(&served).await, opened(&served).await);
    for path in [&one, &other] {
        let id = path.strip_prefix("/v1/sessions/").unwrap();
        assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{path}");
    }
    assert_ne!(one[..20], other[..20]);
}

#[tokio::test]
async fn a_disconnected_client_ends_its_program() {
    let tagged = super::tagged();
    let served = Served::new(tagged.sandbox.clone(), ServerLimits::default()).await;
    let path = opened(&served).await;
    let body = start().replace("wait", "spin");
    let mut stream = tokio::net::TcpStream::connect(served.address).await.unwrap();
    let head = format!("POST {path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {TOKEN}\r\n");
    stream.write_all(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert_eq!(tagged.processes().len(), 1);
    drop(stream);
    super::until(|| tagged.processes().is_empty()).await;
}

/// Answers each request with the next of these responses.
async fn responding(responses: Vec<String>) -> Remote {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        for response in responses {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 64 << 10];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(response.as_bytes()).await;
        }
    });
    Remote::new(&format!("http://{address}"), TOKEN.to_owned()).unwrap()
}

fn response(head: &str, body: &str) -> String {
    format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

const READY: &str = r#"{"ready":{"version":1,"enforced":[]}}"#;

#[tokio::test]
async fn what_is_no_server_of_sandboxes_opens_no_session() {
    let located = "201 Created\r\nlocation: /v1/sessions/abc";
    let cases = [
        (response("200 OK", "<html>"), "invalid message"),
        (response("200 OK", READY), "the session has no location"),
        (response("201 Created\r\nlocation: /v1/sessions/..%2f", READY), "the session has no location"),
        (response("201 Created\r\nlocation: /v1/sessions/", READY), "the session has no location"),
        (response(located, r#"{"ready":{"version":7}}"#), "it speaks version 7"),
        (response(located, r#"{"step":{}}"#), "invalid message"),
        (response(located, &" ".repeat(70_000)), "longer than 65536 bytes"),
        (response("302 Found\r\nlocation: http://other", ""), "HTTP 302: its response is not one of a sandbox server"),
        (response("500 Oops", "a\u{1b}[2J"), "HTTP 500: its response is not one of a sandbox server"),
        (response("503 Busy", "{\"error\":\"full\\u001b[2J\"}"), "HTTP 503: full\\u{1b}[2J"),
        ("HTTP/1.1 201 Created\r\ncontent-length: 100\r\n\r\n{".to_owned(), "disconnected in the middle"),
        (String::new(), "disconnected before it responded"),
    ];
    for (answer, expected) in cases {
        let error = in_the_end(responding(vec![answer.clone()]).await.open(&Limits::default())).await.err().unwrap();
        assert!(error.to_string().contains(expected), "{answer}: {error}");
    }
}

#[tokio::test]
async fn messages_of_a_server_are_checked_like_those_of_a_worker() {
    let waiting = |id: u32| {
        let call = json!({ "id": id, "request": { "run_tool": { "id": "a", "args": {} } } });
        json!({ "step": { "state": { "waiting": [call] }, "usage": { "steps": 1, "memory_bytes": 1 } } }).to_string()
    };
    let cases = [
        (response("200 OK", &waiting(2)), "call 2 follows call 0"),
        (response("200 OK", READY), "expected `step`"),
        (response("200 OK", r#"{"error":"no"}"#), "invalid message: no"),
        (response("502 Bad Gateway", r#"{"error":"the worker ended"}"#), "invalid message: the worker ended"),
    ];
    for (step, expected) in cases {
        let first = response("201 Created\r\nlocation: /v1/sessions/abc", READY);
        let remote = responding(vec![first, step.clone()]).await;
        let mut session = in_the_end(remote.open(&Limits::default())).await.unwrap();
        let error = in_the_end(session.start(&Program::javascript("a"))).await.unwrap_err();
        assert!(matches!(error, SandboxError::Protocol { .. }), "{step}: {error:?}");
        assert!(error.to_string().contains(expected), "{step}: {error}");
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let remote = Remote::new(&format!("http://{}", listener.local_addr().unwrap()), TOKEN.to_owned()).unwrap();
    let remote = remote.start_timeout(std::time::Duration::from_millis(100));
    let error = in_the_end(remote.open(&Limits::default())).await.err().unwrap();
    assert!(matches!(&error, SandboxError::Unavailable { reason, .. } if reason == "no session in 100ms"), "{error:?}");
}
