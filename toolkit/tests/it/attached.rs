//! Values that a host attaches to the context of a call.

use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{self, Waker};

use serde_json::{Value, json};
use toolkit::call::{CancelToken, LogLevel, Progress, RequestParts, StepId, TraceContext};
use toolkit::tool::Requirements;
use toolkit::{Context, Tool, ToolError};

#[test]
fn headers_with_credentials_are_kept_from_tools() {
    for (name, value, is_secret) in [
        ("Authorization", "Basic abc", true),
        ("Proxy-Authorization", "x", true),
        ("Cookie", "a=b", true),
        ("Set-Cookie", "a=b", true),
        ("X-Auth-Token", "x", true),
        ("Client-Secret", "x", true),
        ("X-Password", "x", true),
        ("X-Credentials", "x", true),
        ("X-Api-Key", "x", true),
        ("ApiKey", "x", true),
        ("X-Auth-Key", "x", true),
        ("X-Jwt", "x", true),
        ("Mcp-Session-Id", "x", true),
        ("X-Any", "eyJhbGciOiJub25lIn0.eyJhIjoxfQ.AA", true),
        ("X-Any", "Bearer abc", true),
        ("X-Any", "bearer abc", true),
        ("X-Any", "eyJhbGciOiJub25lIn0", false),
        ("X-Any", "a.b.c", false),
        ("X-Any", "Bearer", false),
        ("X-Key", "x", false),
        ("X-Tenant", "acme", false),
        ("X-Empty", "", false),
    ] {
        let request = RequestParts::new().with_header(name, value);
        let readable = request.header(&name.to_uppercase());
        let withheld = request.credential(&name.to_uppercase()).map(|secret| secret.expose());
        assert_eq!((readable, withheld), if is_secret { (None, Some(value)) } else { (Some(value), None) }, "{name}");
        assert_eq!(request.headers().count(), usize::from(!is_secret), "{name}");
    }
}

#[test]
fn a_header_that_would_be_read_as_several_is_none() {
    let request = RequestParts::new()
        .with_header("X-A", "1:2")
        .with_header("x-a", "second")
        .with_header("x-b", "line\nx-c: forged")
        .with_header("x-b", "line\rx-c: forged")
        .with_header("x-b:x-c", "forged")
        .with_header("x-b\n", "forged")
        .with_header("x-b", b"\xff");
    assert_eq!(request.headers().collect::<Vec<_>>(), [("x-a", "1:2"), ("x-a", "second")]);
    assert_eq!((request.header("X-a"), request.header("x-b"), request.header("x-c")), (Some("1:2"), None, None));
}

#[test]
fn the_parts_of_a_request_are_those_that_its_server_sets() {
    let empty = Context::new();
    let request = empty.request();
    assert_eq!((request.path(), request.peer(), request.session(), request.caller()), (None, None, None, None));
    for (path, expected) in [("/mcp", "/mcp"), ("/mcp?token=1", "/mcp"), ("/a#b?c", "/a"), ("", "")] {
        assert_eq!(RequestParts::new().with_path(path).path(), Some(expected));
    }
    let peer: IpAddr = [192, 0, 2, 1].into();
    let request = RequestParts::new().with_path("/mcp").with_peer(peer).with_session("s1").with_caller("ada");
    let late = Context::new().with_request(move || request.clone());
    let read = late.request();
    let parts = (read.path(), read.peer(), read.session(), read.caller());
    assert_eq!(parts, (Some("/mcp"), Some(peer), Some("s1"), Some("ada")));
    let host = late.with(RequestParts::new().with_path("/host"));
    assert_eq!(host.request().path(), Some("/host"), "those of the host take precedence");
}

#[test]
fn the_latest_value_of_a_type_is_attached_beside_those_of_other_types() {
    let context = Context::new().with(1_u8).with("text").with(2_u8);
    assert_eq!((context.get::<u8>(), context.get::<&str>(), context.get::<u16>()), (Some(&2), Some(&"text"), None));
    let step = StepId::new("run-7", 3, 2);
    assert_eq!((step.run(), step.step(), step.attempt(), step.key()), ("run-7", 3, 2, "run-7/3".to_owned()));
    assert_eq!(step.to_string(), "run-7/3 (attempt 2)");
    assert_eq!(context.step(), None);
    assert_eq!(context.with(step.clone()).step(), Some(&step));
    let trace = TraceContext::new("00-1").tracestate("a=1").baggage("b=2");
    let parts = (&*trace.traceparent, trace.tracestate.as_deref(), trace.baggage.as_deref());
    assert_eq!(parts, ("00-1", Some("a=1"), Some("b=2")));
    assert_eq!((TraceContext::new("00-1").tracestate, TraceContext::new("00-1").baggage), (None, None));
}

#[test]
fn any_of_several_tokens_cancels_a_call() {
    for n in 0..2 {
        let tokens = [CancelToken::new(), CancelToken::new()];
        let context = tokens.iter().chain(&tokens).cloned().fold(Context::new(), Context::with_cancel);
        assert!(!context.is_cancelled());
        tokens[n].cancel();
        assert!(context.is_cancelled() && context.clone().is_cancelled() && !tokens[1 - n].is_cancelled());
    }
    let token = CancelToken::new();
    drop(token.clone());
    assert!(!token.is_cancelled(), "dropping a token cancels nothing");
    drop(token.drop_guard());
    assert!(token.is_cancelled());
}

/// Polls a future once. Returns true if it has ended.
fn has_ended(future: Pin<&mut impl Future>) -> bool {
    future.poll(&mut task::Context::from_waker(Waker::noop())).is_ready()
}

#[test]
fn a_wait_for_a_cancellation_ends_with_any_token() {
    assert!(!has_ended(pin!(Context::new().cancelled())));
    for (n_tokens, cancelled) in [(1, 0), (2, 0), (2, 1)] {
        let tokens: Vec<_> = (0..n_tokens).map(|_| CancelToken::new()).collect();
        let context = tokens.iter().cloned().fold(Context::new(), Context::with_cancel);
        let mut waits = pin!(context.cancelled());
        assert!(!has_ended(waits.as_mut()));
        tokens[cancelled].cancel();
        assert!(has_ended(waits) && has_ended(pin!(context.cancelled())));
    }
}

#[test]
fn messages_of_a_level_and_above_are_logged() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&heard);
    let context = Context::new().on_log(LogLevel::Warning, move |message| listener.lock().unwrap().push(message));
    for (level, is_logged) in [(LogLevel::Notice, false), (LogLevel::Warning, true), (LogLevel::Error, true)] {
        assert_eq!(context.logs(level), is_logged);
        context.log(level, level.name());
        context.forward_log(level, "other", json!({ "from": level.name() }));
    }
    let heard: Vec<_> = heard.lock().unwrap().drain(..).map(|found| (found.level, found.data, found.logger)).collect();
    let message = |level: LogLevel| (level, Value::from(level.name()), None);
    let forwarded = |level: LogLevel| (level, json!({ "from": level.name() }), Some("other".to_owned()));
    let expected =
        [LogLevel::Warning, LogLevel::Error].into_iter().flat_map(|level| [message(level), forwarded(level)]);
    assert_eq!(heard, expected.collect::<Vec<_>>());
    assert!(!Context::new().logs(LogLevel::Emergency));
    Context::new().log(LogLevel::Emergency, "nobody listens");
}

#[test]
fn progress_reaches_its_listener_with_what_is_known() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&heard);
    let context = Context::new().on_progress(move |progress| listener.lock().unwrap().push(json!(progress)));
    assert!(context.has_progress_listener() && !Context::new().has_progress_listener());
    context.progress(1.0, 4.0, "one");
    context.progress(2.0, None, "");
    Context::new().progress(3.0, None, "nobody listens");
    let expected = [json!({ "progress": 1.0, "total": 4.0, "message": "one" }), json!({ "progress": 2.0 })];
    assert_eq!(*heard.lock().unwrap(), expected);
    assert_eq!(json!(Progress::new(1.0, 2.0, "m")), json!({ "progress": 1.0, "total": 2.0, "message": "m" }));
}

#[test]
fn a_host_prepares_the_context_of_the_calls_that_a_tool_makes() {
    let tool = Tool::builder("inner").build().unwrap();
    let plain = Context::new().with(1_u8);
    assert_eq!(plain.nested(&tool).unwrap().get::<u8>(), Some(&1));
    let prepared = plain.nested_with(|tool, context| match tool.name() {
        "inner" => Ok(context.with(2_u8)),
        _ => Err(ToolError::missing_requirements(Requirements::NONE.with_scopes(["a", "b"]).with_user_id())),
    });
    assert_eq!(prepared.nested(&tool).unwrap().get::<u8>(), Some(&2));
    let error = prepared.nested(&Tool::builder("other").build().unwrap()).err().unwrap();
    let message = "the call lacks credentials that the tool requires: a token with the scopes `a`, `b`; the user's id";
    assert_eq!(error.message(), message);
    assert_eq!((error.missing().scopes.len(), error.missing().user_id, error.missing().is_empty()), (2, true, false));
    assert!(Requirements::NONE.is_empty() && !Requirements::NONE.with_scopes(["a"]).is_empty());
    let one = Requirements::NONE.with_scopes(["a"]).with_secret("K").with_authorization("id", [""; 0]);
    assert_eq!(one.to_string(), "the secret `K`; an authorization by `id`; a token with the scope `a`");
}
