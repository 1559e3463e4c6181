//! A client of faulty servers.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit_otc::OtcBackend;

use super::*;

/// The response to a call: bytes, and whether the connection stays open.
struct Sends(Vec<u8>, bool);

/// A server that lists one tool without constraints and answers each call with the same bytes.
async fn server(sends: Sends) -> OtcBackend {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let tool = json!({
        "id": "Any.Thing@1.0.0",
        "name": "Any_Thing",
        "description": "Anything.",
        "version": "1.0.0",
        "input_schema": { "parameters": {} },
        "output_schema": {},
    });
    let list = response("200 OK", "application/json", &json!({ "tools": [tool] }).to_string());
    let sends = std::sync::Arc::new(sends);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (list, sends) = (list.clone(), std::sync::Arc::clone(&sends));
            tokio::spawn(async move {
                let mut seen = Vec::new();
                let mut buffer = [0; 4096];
                while let Ok(n @ 1..) = stream.read(&mut buffer).await {
                    seen.extend_from_slice(&buffer[..n]);
                    let text = String::from_utf8_lossy(&seen);
                    let is_whole = text.contains("\r\n\r\n") && (text.starts_with("GET") || text.ends_with("}}"));
                    if !is_whole {
                        continue;
                    }
                    let is_call = text.starts_with("POST");
                    let bytes = if is_call { &sends.0 } else { &list };
                    let _ = stream.write_all(bytes).await;
                    if is_call && !sends.1 {
                        return;
                    }
                    seen.clear();
                }
            });
        }
    });
    OtcBackend::new("odd", &url).unwrap().timeout(Duration::from_secs(2)).max_body_bytes(4096)
}

fn response(status: &str, content_type: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
}

fn json_of(status: &str, body: Value) -> Sends {
    Sends(response(status, "application/json", &body.to_string()), true)
}

fn events(body: &str) -> Sends {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    Sends(format!("{head}{body}").into_bytes(), false)
}

async fn outcome(sends: Sends) -> Result<Value, ToolError> {
    let dispatcher = dispatcher_on(server(sends).await).await;
    let context = Context::new().on_progress(|_| ());
    dispatcher.call_with(&context, "Any:Thing", "{}").await.map(|result| result.value())
}

#[tokio::test]
async fn every_status_has_its_meaning() {
    let said = json!({ "message": "so it is" });
    for (status, kind, is_retryable) in [
        ("400 Bad Request", ErrorKind::UnknownTool, false),
        ("401 Unauthorized", ErrorKind::Unauthorized, false),
        ("403 Forbidden", ErrorKind::Unauthorized, false),
        ("404 Not Found", ErrorKind::InvalidResponse, false),
        ("413 Payload Too Large", ErrorKind::TooLarge, false),
        ("422 Unprocessable Entity", ErrorKind::InvalidArguments, false),
        ("429 Too Many Requests", ErrorKind::Overloaded, true),
        ("500 Internal Server Error", ErrorKind::OutcomeUnknown, false),
        ("502 Bad Gateway", ErrorKind::OutcomeUnknown, false),
        ("503 Service Unavailable", ErrorKind::Unavailable, true),
        ("301 Moved Permanently", ErrorKind::InvalidResponse, false),
        ("204 No Content", ErrorKind::InvalidResponse, false),
    ] {
        let error = outcome(json_of(status, said.clone())).await.unwrap_err();
        assert_eq!((error.kind(), error.is_retryable()), (kind, is_retryable), "{status}: {error}");
        if !matches!(kind, ErrorKind::InvalidResponse) {
            assert!(error.message().contains(": so it is"), "{status}: {error}");
        }
    }
}

#[tokio::test]
async fn missing_requirements_and_violations_are_reported() {
    let missing = json!({
        "message": "no",
        "missing_requirements": {
            "authorization": [{ "id": "github", "url": "https://grant.example/1" }],
            "user_id": true,
        },
    });
    let error = outcome(json_of("400 Bad Request", missing)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MissingRequirements);
    assert_eq!((&*error.missing().authorization[0].id, error.missing().user_id), ("github", true));
    assert!(format!("{:?}", error.content()).contains("https://grant.example/1"));

    let unfit = json!({ "message": "no", "parameter_errors": { "a/b": "must be odd", "": "is too much" } });
    let error = outcome(json_of("422 Unprocessable Entity", unfit)).await.unwrap_err();
    let told: Vec<String> = error.violations().iter().map(ToString::to_string).collect();
    assert_eq!(told, ["the value is too much", "/a~1b must be odd"]);
}

#[tokio::test]
async fn an_invalid_response_is_an_error() {
    let deep = format!("{}{}", "[".repeat(2000), "]".repeat(2000));
    for body in [
        String::new(),
        "null".to_owned(),
        "{}".to_owned(),
        json!({ "result": {} }).to_string(),
        json!({ "result": { "success": "yes" } }).to_string(),
        json!({ "result": { "success": true, "error": { "message": "and yet" } } }).to_string(),
        format!(r#"{{"result": {{"success": true, "value": {deep}}}}}"#),
        r#"{"result": {"success": true, "value": {"a": 1, "a": 2}}}"#.to_owned(),
        json!({ "result": { "success": true, "value": "x".repeat(5000) } }).to_string(),
    ] {
        let error = outcome(Sends(response("200 OK", "application/json", &body), true)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidResponse, "{body:.80}: {error}");
    }
    let error = outcome(json_of("200 OK", json!({ "result": { "success": false } }))).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Failed, "the tool failed without a message"));
}

#[tokio::test]
async fn null_counts_as_absent_in_what_others_write() {
    let error = json!({
        "message": "no",
        "developer_message": null,
        "can_retry": null,
        "additional_prompt_content": null,
        "retry_after_ms": null,
    });
    let failed = json!({ "call_id": null, "duration": null, "success": false, "value": null, "error": error });
    let error = outcome(json_of("200 OK", json!({ "$schema": null, "result": failed }))).await.unwrap_err();
    assert_eq!((error.kind(), error.message(), error.is_retryable()), (ErrorKind::Failed, "no", false));
    let succeeded = json!({ "call_id": null, "duration": 0.5, "success": true, "value": 1, "error": null });
    assert_eq!(outcome(json_of("200 OK", json!({ "result": succeeded }))).await.unwrap(), 1);
    let later = json!({ "success": false, "error": { "message": "no", "can_retry": true, "retry_after_ms": 20.5 } });
    let error = outcome(json_of("200 OK", json!({ "result": later }))).await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_millis(20)));
}

#[tokio::test]
async fn the_outcome_of_a_call_is_unknown_if_the_server_disconnects() {
    let whole = response("200 OK", "application/json", &json!({ "result": { "success": true } }).to_string());
    for sends in [
        Sends(Vec::new(), false),
        Sends(b"HTTP/1.1 200".to_vec(), false),
        Sends(whole[..whole.len() - 5].to_vec(), false),
        events(""),
        events("data: {\"kind\": \"progress\", \"data\": {\"progress\": 1}}\n\n"),
        events("data: {\"kind\": \"done\""),
    ] {
        let error = outcome(sends).await.unwrap_err();
        assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::OutcomeUnknown, false), "{error}");
    }
}

#[tokio::test]
async fn a_silent_server_times_out() {
    for sends in [Sends(Vec::new(), true), Sends(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{".to_vec(), true)] {
        let error = outcome(sends).await.unwrap_err();
        assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::TimedOut, true));
    }
}

#[tokio::test]
async fn events_are_read_as_the_standard_says() {
    let done = r#"{"kind": "done", "data": {"success": true, "value": 7}}"#;
    for body in [
        format!("data: {done}\n\n"),
        format!("data:{done}\r\n\r\n"),
        format!(": still here\n\nevent: x\nid: 1\nretry: 10\ndata: {done}\n\n"),
        format!("data: {{\"kind\": \"novelty\"}}\n\ndata: {done}\n\n"),
        format!("data: {}\n\n", done.replace(", ", ",\ndata: ")),
        format!("data: {{\"kind\": \"progress\", \"data\": {{\"progress\": 0.5}}}}\n\ndata: {done}\n\n"),
    ] {
        assert_eq!(outcome(events(&body)).await.unwrap(), 7, "{body}");
    }
    for body in
        ["data: {}\n\n", "data: done\n\n", "data: {\"kind\": \"done\"}\n\n", &format!("data: {}", "x".repeat(5000))]
    {
        assert_eq!(outcome(events(body)).await.unwrap_err().kind(), ErrorKind::InvalidResponse, "{body:.80}");
    }
}

#[tokio::test]
async fn invalid_definitions_are_left_out_and_reported() {
    let right = definition("Calculator.Add@1.0.0");
    let mut unsound = right.clone();
    unsound["input_schema"]["parameters"]["properties"]["a"]["type"] = json!("numeral");
    let mut tools = vec![json!(7), json!({ "id": "A.B@1.0.0" }), unsound];
    tools.push(right);
    let list = json!({ "tools": tools });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/below/", listener.local_addr().unwrap());
    let router = axum::Router::new().route("/below/tools", axum::routing::get(async move || list.to_string()));
    tokio::spawn(async { axum::serve(listener, router).await });
    let offers = OtcBackend::new("odd", &url).unwrap().tools().await.unwrap();
    let ids: Vec<String> = offers.tools.iter().map(|(tool, _)| tool.id().to_string()).collect();
    assert_eq!(ids, ["Calculator:Add:1.0.0"]);
    let told: Vec<&str> = offers.diagnostics.iter().map(|problem| problem.message()).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[1].contains("(`A.B@1.0.0`): missing field `name`"), "{told:?}");
    assert!(told[2].starts_with("the input schema is invalid"), "{told:?}");
}

#[test]
fn invalid_urls_are_rejected() {
    for (url, reason) in [
        ("", "syntax"),
        ("localhost:80", "it must begin"),
        ("ftp://localhost", "it must begin"),
        ("http://user:pass@localhost", "password"),
        ("http://localhost/?a=b", "query"),
    ] {
        let error = OtcBackend::new("remote", url).unwrap_err().to_string();
        assert!(error.starts_with("not a server URL: ") && error.contains(reason), "{url}: {error}");
    }
    for url in ["http://localhost", "http://[::1]:8080/", "https://tools.example/otc"] {
        assert!(OtcBackend::new("remote", url).is_ok(), "{url}");
    }
}
