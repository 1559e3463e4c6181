use serde_json::json;

use super::*;

#[test]
fn incomplete_errors_are_errors() {
    let read = |error: Value| {
        let error = ServerError::read(&Raw::from(error.to_string()));
        (error.code, error.message)
    };
    assert_eq!(read(json!("busy")), (-32603, "busy".to_owned()));
    assert_eq!(read(json!({ "message": "busy", "code": "x" })), (-32603, "busy".to_owned()));
    assert_eq!(read(json!({ "code": -32000 })), (-32000, String::new()));
}

fn of_status(status: u16, retry_after: Option<Duration>, text: Option<&str>) -> HttpFailure {
    HttpFailure { status: StatusCode::from_u16(status).unwrap(), retry_after, text: text.map(str::to_owned) }
}

#[test]
fn a_failure_tells_what_it_knows_about_the_server() {
    let rpc = || ServerError { code: 1, message: "m".to_owned(), data: None };
    let reach = |failure: &Failure| match failure.reach() {
        Reach::Responds => "responds",
        Reach::Unknown => "unknown",
        Reach::Lost => "lost",
    };
    for (failure, expected, text) in [
        (Failure::Rpc(rpc()), "responds", "error 1: m"),
        (Failure::TooLarge(7), "responds", "the response has more than 7 bytes"),
        (Failure::Status(of_status(408, None, None)), "responds", "responded with status 408"),
        (Failure::Status(of_status(413, None, None)), "responds", "responded with status 413"),
        (Failure::Status(of_status(429, None, None)), "responds", "responded with status 429"),
        (Failure::Status(of_status(500, None, Some("t"))), "unknown", "responded with status 500: t"),
        (Failure::Challenge(StatusCode::FORBIDDEN, "c".to_owned()), "unknown", "status 403: c"),
        (Failure::Invalid("i".to_owned()), "unknown", "i"),
        (Failure::Closed, "unknown", "the connection has ended"),
        (Failure::SessionEnded, "lost", "the session has ended"),
        (Failure::SessionLost, "lost", "the session was lost"),
        (Failure::NotInitialized(rpc()), "lost", "no new session: error 1: m"),
        (Failure::Pipe(io::Error::other("p")), "lost", "p"),
    ] {
        assert_eq!((reach(&failure), &*failure.to_string()), (expected, text));
    }
}

#[test]
fn a_status_tells_whether_the_server_is_busy_or_needs_a_login() {
    let second = Some(Duration::from_secs(1));
    for (status, after, is_busy, is_unauthorized) in [
        (401, None, false, true),
        (403, None, false, true),
        (404, None, false, false),
        (429, None, true, false),
        (500, None, false, false),
        (500, second, true, false),
        (502, None, true, false),
        (503, None, true, false),
        (504, None, true, false),
    ] {
        let failure = of_status(status, after, None);
        assert_eq!((failure.is_busy(), failure.is_unauthorized()), (is_busy, is_unauthorized), "{status}");
    }
    let text = of_status(503, second, Some("t")).to_string();
    assert_eq!(text, "responded with status 503 (retry after 1s): t");
    assert_eq!(HttpFailure::of_status(StatusCode::OK).to_string(), "responded with status 200");
}

#[test]
fn codes_of_the_protocol_are_defined() {
    let error = |code: i32| ServerError { code, message: String::new(), data: None };
    for (code, is_defined) in
        [(-32601, true), (-32602, true), (-32603, false), (-32700, false), (0, false), (UNREADABLE, false)]
    {
        assert_eq!(error(code).is_defined(), is_defined, "{code}");
    }
    assert!(error(-32601).has_code(Code::MethodNotFound) && !error(-32601).has_code(Code::InvalidParams));
}

#[test]
fn what_cannot_be_read_has_a_reason() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for (text, expected) in [(&*deep, "it is nested deeper than 127 levels"), ("{", "it is not JSON: EOF")] {
        let error = serde_json::from_str::<Value>(text).unwrap_err();
        assert!(unreadable(&error).starts_with(expected), "{error}");
    }
}

#[test]
fn secrets_that_a_server_repeats_are_replaced() {
    let secrets = Redaction::new(["s3cr3t-token".to_owned()]);
    let error = |message: &str| ServerError {
        code: -1,
        message: message.to_owned(),
        data: Some(json!({ "a": ["of s3cr3t-token", 7] })),
    };
    let status =
        HttpFailure { text: Some("Bearer s3cr3t-token".to_owned()), ..HttpFailure::of_status(StatusCode::FORBIDDEN) };
    for failure in [
        Failure::Rpc(error("no s3cr3t-token")),
        Failure::NotInitialized(error("s3cr3t-token s3cr3t-token")),
        Failure::Status(status),
        Failure::Challenge(StatusCode::UNAUTHORIZED, "Bearer realm=\"s3cr3t-token\"".to_owned()),
        Failure::Invalid("the type of the body is `s3cr3t-token`".to_owned()),
    ] {
        let shown = format!("{:?}", failure.without(&secrets));
        assert!(!shown.contains("s3cr3t") && shown.contains("***"), "{shown}");
    }
    let Failure::Rpc(kept) = Failure::Rpc(error("other")).without(&Redaction::new(["".to_owned(), "her".to_owned()]))
    else {
        panic!("another failure")
    };
    assert_eq!(kept, error("other"));
}
