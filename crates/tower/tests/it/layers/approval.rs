//! `Approval`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolkit::call::{ErrorKind, Stage};
use toolkit::{CancelToken, Context, Tool};
use toolkit_tower::{Approval, Decision, may_be_destructive};

use super::tools::dispatcher;

/// The requested approvals: tools and their arguments.
type Requests = Arc<Mutex<Vec<(String, Value)>>>;

/// Creates a layer that always returns `decision`, and records the requests.
fn deciding(decision: Decision) -> (Approval, Requests) {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&requests);
    let approval = Approval::new(move |request| {
        log.lock().unwrap().push((request.tool().name().to_owned(), request.arguments().clone()));
        let decision = decision.clone();
        async move { decision }
    });
    (approval, requests)
}

#[tokio::test]
async fn a_denied_call_never_reaches_the_tool_and_has_the_reason() {
    let (approval, requests) = deciding(Decision::Deny("it is not yours".into()));
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(approval));
    let error = dispatcher.call("delete", r#"{"path":"a"}"#).await.unwrap_err();
    assert_eq!((error.kind(), error.stage(), error.is_retryable()), (ErrorKind::Denied, Stage::Approve, false));
    assert_eq!(error.to_string(), "layers:delete: the call was not approved: it is not yours");
    assert_eq!(*requests.lock().unwrap(), [("delete".to_owned(), json!({ "path": "a" }))]);
    assert_eq!(seen.begun(), 0);

    let mut events = dispatcher.stream("delete", r#"{"path":"a"}"#);
    assert_eq!(events.next().await.unwrap().event.kind(), "error");
    assert_eq!(seen.begun(), 0);
}

#[tokio::test]
async fn approval_is_required_for_tools_that_may_be_destructive() {
    let (approval, requests) = deciding(Decision::Approve);
    let (dispatcher, _) = dispatcher(|builder| builder.layer(approval));
    for (tool, arguments) in
        [("delete", r#"{"path":"a"}"#), ("append", "{}"), ("echo", r#"{"n":1}"#), ("flaky_unmarked", "{}")]
    {
        dispatcher.call(tool, arguments).await.unwrap();
    }
    let tools: Vec<String> = requests.lock().unwrap().iter().map(|(tool, _)| tool.clone()).collect();
    assert_eq!(tools, ["delete", "flaky_unmarked"]);
}

#[tokio::test]
async fn the_cause_of_a_denial_names_the_hints_that_a_function_lacks() {
    let (approval, _) = deciding(Decision::Deny(String::new()));
    let (dispatcher, _) = dispatcher(|builder| builder.layer(approval));
    for (tool, arguments, has_hint) in [("delete", r#"{"path":"a"}"#, true), ("flaky_unmarked", "{}", false)] {
        let error = dispatcher.call(tool, arguments).await.unwrap_err();
        assert_eq!(error.message(), "the call was not approved", "only the host reads the cause");
        let cause = std::error::Error::source(&error).map(|cause| cause.to_string());
        assert_eq!(cause.is_none(), has_hint, "{tool}: {cause:?}");
        assert!(
            cause.is_none_or(|cause| cause.contains("write `read_only`") && cause.contains("`destructive = false`"))
        );
    }
}

#[test]
fn hints_have_the_defaults_of_mcp() {
    // `destructiveHint` defaults to true, and is ignored if `readOnlyHint` is true.
    for (hints, expected) in [
        (json!({}), true),
        (json!({ "readOnlyHint": false }), true),
        (json!({ "destructiveHint": true }), true),
        (json!({ "destructiveHint": false }), false),
        (json!({ "readOnlyHint": true }), false),
        (json!({ "readOnlyHint": true, "destructiveHint": true }), false),
        (json!({ "idempotentHint": true }), true),
    ] {
        let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "annotations": hints });
        assert_eq!(may_be_destructive(&Tool::from_mcp_json(tool.to_string()).unwrap()), expected, "{hints}");
    }
}

#[tokio::test]
async fn approve_always_applies_to_one_tool() {
    let (approval, requests) = deciding(Decision::ApproveAlways);
    let (dispatcher, _) = dispatcher(|builder| builder.layer(approval));
    for _ in 0..3 {
        dispatcher.call("delete", r#"{"path":"a"}"#).await.unwrap();
    }
    dispatcher.call("flaky_unmarked", "{}").await.unwrap();
    assert_eq!(requests.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn an_invalid_call_requests_no_approval() {
    let (approval, requests) = deciding(Decision::Approve);
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(approval));
    for arguments in ["{}", r#"{"path":7}"#, r#"{"path":"a","recursive":true}"#, "nonsense"] {
        let error = dispatcher.call("delete", arguments).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidArguments | ErrorKind::MalformedJson), "{arguments}");
    }
    assert_eq!((requests.lock().unwrap().len(), seen.begun()), (0, 0));
}

#[tokio::test]
async fn a_request_contains_the_coerced_arguments() {
    let (approval, requests) = deciding(Decision::Deny(String::new()));
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(approval));
    // The schema rejects `null`, which the dispatcher removes.
    let error = dispatcher.call("delete", r#"{"path":"a","force":null}"#).await.unwrap_err();
    assert_eq!(error.to_string(), "layers:delete: the call was not approved");
    assert_eq!(*requests.lock().unwrap(), [("delete".to_owned(), json!({ "path": "a" }))]);
    assert_eq!(seen.begun(), 0);
}

#[tokio::test]
async fn a_host_selects_tools_and_reads_the_context() {
    let approval = Approval::new(async |request| match request.context().get::<u8>() {
        Some(7) => Decision::Approve,
        _ => Decision::Deny("you are not seven".into()),
    });
    let approval = approval.when(|tool| tool.name() == "echo");
    let (dispatcher, _) = dispatcher(|builder| builder.layer(approval));
    dispatcher.call("delete", r#"{"path":"a"}"#).await.unwrap();
    dispatcher.call_with(&Context::new().with(7_u8), "echo", r#"{"n":1}"#).await.unwrap();
    assert_eq!(dispatcher.call("echo", r#"{"n":1}"#).await.unwrap_err().kind(), ErrorKind::Denied);
}

#[tokio::test]
async fn cancellation_ends_the_wait_for_a_decision() {
    let (token, requests) = (CancelToken::new(), Arc::new(AtomicUsize::new(0)));
    let (cancel, count) = (token.clone(), Arc::clone(&requests));
    let approval = Approval::new(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        cancel.cancel();
        std::future::pending()
    });
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(approval));
    let context = Context::new().with_cancel(token);
    let error = dispatcher.call_with(&context, "delete", r#"{"path":"a"}"#).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert_eq!((requests.load(Ordering::SeqCst), seen.begun()), (1, 0));
}
