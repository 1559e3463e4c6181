//! Requests and results of calls.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use test_support::program;
use toolkit::call::{CancelToken, ErrorKind, TraceContext};
use toolkit::{Context, Dispatcher};
use toolkit_mcp_client::{McpBackend, Program};

use super::{call, dispatcher, in_the_end, peer, until};

#[tokio::test]
async fn arguments_arrive_as_they_were_sent() {
    let dispatcher = dispatcher(&peer(&["usual"])).await;
    let arguments = json!({ "z": 1.0, "a": [null, "\u{1f41f}", 18446744073709551615_u64], "": { "x": {} } });
    let echoed = call(&dispatcher, "peer:echo", arguments.clone()).await.unwrap();
    assert_eq!(echoed["arguments"], arguments);
    assert_eq!(echoed["name"], "echo");
}

#[tokio::test]
async fn the_trace_context_is_sent() {
    let dispatcher = dispatcher(&peer(&["usual"])).await;
    let trace = TraceContext::new("00-ab-cd-01").tracestate("a=b");
    let context = Context::new().with(trace);
    let result = in_the_end(dispatcher.call_with(&context, "peer:echo", json!({}))).await.unwrap();
    let meta = result.value()["_meta"].clone();
    assert_eq!((&meta["traceparent"], &meta["tracestate"]), (&json!("00-ab-cd-01"), &json!("a=b")));
}

#[tokio::test]
async fn progress_arrives_in_order() {
    let dispatcher = dispatcher(&peer(&["usual"])).await;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let context = Context::new().on_progress({
        let heard = Arc::clone(&heard);
        move |progress| heard.lock().unwrap().push((progress.done, progress.total, progress.message))
    });
    in_the_end(dispatcher.call_with(&context, "peer:report", json!({}))).await.unwrap();
    let heard = heard.lock().unwrap();
    assert_eq!(*heard, [1.0, 2.0, 3.0].map(|done| (done, Some(3.0), "working".to_owned())));
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_that_is_reported_just_before_the_answer_is_never_lost() {
    let dispatcher = dispatcher(&peer(&["usual"])).await;
    for _ in 0..1_000 {
        let last = Arc::new(Mutex::new(0.0));
        let context = Context::new().on_progress({
            let last = Arc::clone(&last);
            move |progress| *last.lock().unwrap() = progress.done
        });
        in_the_end(dispatcher.call_with(&context, "peer:last_word", json!({}))).await.unwrap();
        assert_eq!(*last.lock().unwrap(), 3.0);
    }
}

#[tokio::test]
async fn a_flood_of_notifications_does_not_delay_calls() {
    let backend = peer(&["usual"]);
    let dispatcher = dispatcher(&backend).await;
    // The response is one of two hundred thousand messages.
    assert_eq!(call(&dispatcher, "peer:noise", json!({ "times": 40_000 })).await.unwrap(), "quiet");
    in_the_end(toolkit::backend::Backend::changed(&backend)).await;
}

#[tokio::test]
async fn a_dropped_call_is_cancelled() {
    let dispatcher = dispatcher(&peer(&["usual"])).await;
    let token = CancelToken::new();
    let context = Context::new().with_cancel(token.clone());
    let (given_up, ()) = tokio::join!(dispatcher.call_with(&context, "peer:hang", json!({})), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        token.cancel();
    });
    assert_eq!(given_up.unwrap_err().kind(), ErrorKind::Cancelled);
    let dropped = tokio::time::timeout(Duration::from_millis(50), dispatcher.call("peer:hang", json!({})));
    assert!(dropped.await.is_err());
    until(async || {
        let cancelled = call(&dispatcher, "peer:cancelled", json!({})).await.unwrap();
        cancelled.as_array().unwrap().len() == 2
    })
    .await;
}

#[tokio::test]
async fn a_call_beyond_the_timeout_fails() {
    let dispatcher = dispatcher(&peer(&["usual"]).timeout(Duration::from_millis(100))).await;
    let error = call(&dispatcher, "peer:hang", json!({})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert_eq!(error.message(), "the MCP server `peer` did not respond within 100ms");
}

async fn refused(dispatcher: &Dispatcher, code: i64, message: &str) -> (ErrorKind, String) {
    let error = call(dispatcher, "peer:refuse", json!({ "code": code, "message": message })).await.unwrap_err();
    (error.kind(), error.message().to_owned())
}

#[tokio::test]
async fn protocol_errors_are_converted_with_their_text() {
    let dispatcher = dispatcher(&peer(&["usual"])).await;
    let said = async |code, message| refused(&dispatcher, code, message).await;
    let gone =
        (ErrorKind::UnknownTool, "the MCP server `peer` no longer has this tool: Unknown tool: refuse".to_owned());
    assert_eq!(said(-32602, "Unknown tool: refuse").await, gone);
    assert_eq!(said(-32602, "`a` is missing").await, (ErrorKind::InvalidArguments, "`a` is missing".to_owned()));
    for code in [-32603, -32000, 1] {
        let shown = (ErrorKind::Internal, format!("the MCP server `peer` failed with error {code}: the disk is full"));
        assert_eq!(said(code, "the disk is full").await, shown);
    }
    let (_, long) = said(-32602, &"x".repeat(1 << 20)).await;
    assert_eq!(long.chars().count(), 2001);
}

#[tokio::test]
async fn an_error_of_a_tool_is_passed_on() {
    let dispatcher = dispatcher(&peer(&["usual"])).await;
    let error = call(&dispatcher, "peer:fail", json!({})).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Failed, "the disk is full"));
}

#[tokio::test]
async fn the_data_of_an_error_changes_neither_its_text_nor_the_limits_of_the_client() {
    let dispatcher = dispatcher(&peer(&["usual"])).await;
    let failed = async |data: serde_json::Value| {
        let arguments = json!({ "meta": { "rs.toolkit/error": data } });
        let error = call(&dispatcher, "peer:fail", arguments).await.unwrap_err();
        assert_eq!(error.message(), "the disk is full");
        error
    };
    // Decisions of this program, other kinds that only it can know, unknown kinds, and other data.
    let decisions = ["denied", "declined", "cannot_ask", "unauthorized", "missing_requirements"];
    let others = ["cancelled", "unknown_tool", "needs_runtime", "panicked", "no_backend", "malformed_json", "?"];
    for kind in decisions.into_iter().chain(others) {
        assert_eq!(failed(json!({ "kind": kind })).await.kind(), ErrorKind::Failed, "{kind}");
    }
    for data in [json!(null), json!(7), json!({ "kind": 7 }), json!({ "kind": "overloaded", "retryable": "yes" })] {
        assert_eq!(failed(data).await.kind(), ErrorKind::Failed);
    }
    for kind in [ErrorKind::TimedOut, ErrorKind::Unavailable, ErrorKind::OutcomeUnknown] {
        assert_eq!(failed(json!({ "kind": kind.name() })).await.kind(), kind);
    }
    let error = failed(json!({ "kind": "overloaded", "retryable": true, "retryAfterMs": u64::MAX })).await;
    assert_eq!((error.kind(), error.retry_after()), (ErrorKind::Overloaded, Some(Duration::from_secs(86_400))));
    let large = json!({ "pointer": "/a", "rule": "is wrong", "sent": "x".repeat(2_000), "allowed": vec![0; 2_000] });
    let endless = json!({ "pointer": "/b", "rule": "x".repeat(3_000) });
    let violations = vec![[large, endless, json!(1)]; 100].concat();
    let error = failed(json!({ "kind": "invalid_arguments", "violations": violations })).await;
    assert_eq!(error.violations().len(), 7, "of the first 20, those that are complete");
    assert_eq!(serde_json::json!(error.violations()[0]), json!({ "pointer": "/a", "keyword": "", "rule": "is wrong" }));
    // Violations belong to arguments.
    let error = failed(json!({ "kind": "failed", "violations": [{ "pointer": "/a", "rule": "is wrong" }] })).await;
    assert!(error.violations().is_empty());
}

#[tokio::test]
async fn an_invalid_result_is_an_error() {
    let dispatcher = dispatcher(&peer(&["usual"])).await;
    let error = call(&dispatcher, "peer:odd", json!({})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidResponse);
    let error = call(&dispatcher, "peer:foo", json!({})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidResponse, "an object with other fields than those of a result");
    assert_eq!(call(&dispatcher, "peer:empty", json!({})).await.unwrap(), json!(null));
    let error = call(&dispatcher, "peer:asks", json!({})).await.unwrap_err();
    assert_eq!(error.message(), "the tool requires a client capability that this program does not support");
}

#[tokio::test]
async fn a_process_inherits_few_variables() {
    let fixture = Program::new(program("fixture_peer")).env("ITS_KEY", "k").current_dir("/");
    let dispatcher = dispatcher(&McpBackend::stdio("peer", fixture.clone())).await;
    let seen = call(&dispatcher, "peer:environment", json!({})).await.unwrap();
    assert_eq!(seen["ITS_KEY"], "k");
    assert!(seen.get("PATH").is_some());
    assert_eq!(seen.get("CARGO_MANIFEST_DIR"), None);
    assert_eq!(call(&dispatcher, "peer:folder", json!({})).await.unwrap(), "/");

    let dispatcher = super::dispatcher(&McpBackend::stdio("peer", fixture.inherit_env())).await;
    let seen = call(&dispatcher, "peer:environment", json!({})).await.unwrap();
    assert!(seen.get("CARGO_MANIFEST_DIR").is_some());
}

#[tokio::test]
async fn debug_output_has_no_secrets() {
    let program = Program::new("x").arg("--key=hunter2").env("KEY", "hunter2");
    let endpoint = toolkit_mcp_client::Endpoint::new("https://example.com/mcp?key=hunter2").unwrap();
    let endpoint = endpoint.header("x-key", "hunter2").unwrap().bearer("hunter2".into());
    for backend in [McpBackend::stdio("x", program), McpBackend::http("x", endpoint)] {
        let printed = format!("{backend:?}");
        assert!(!printed.contains("hunter2"), "{printed}");
    }
}
