//! Asking before something is destroyed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolkit::call::{ErrorKind, Stage};
use toolkit::{CancelToken, Context, Tool};
use toolkit_tower::{Answer, Approval, may_destroy};

use super::tools::dispatcher;

/// Tools and their arguments.
type Asked = Arc<Mutex<Vec<(String, Value)>>>;

/// An approval that gives one answer, and what it was asked.
fn answering(answer: Answer) -> (Approval, Asked) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    let approval = Approval::by(move |question| {
        log.lock().unwrap().push((question.tool().name().to_owned(), question.arguments().clone()));
        let answer = answer.clone();
        async move { answer }
    });
    (approval, asked)
}

#[tokio::test]
async fn a_call_that_is_denied_never_reaches_the_tool_and_the_model_reads_why() {
    let (approval, asked) = answering(Answer::No("it is not yours".into()));
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(approval));
    let error = dispatcher.call("delete", r#"{"path":"a"}"#).await.unwrap_err();
    assert_eq!((error.kind(), error.stage(), error.is_retryable()), (ErrorKind::Denied, Stage::Approve, false));
    assert_eq!(error.to_string(), "layers:delete: the call was not approved: it is not yours");
    assert_eq!(*asked.lock().unwrap(), [("delete".to_owned(), json!({ "path": "a" }))]);
    assert_eq!(seen.begun(), 0);

    let mut events = dispatcher.stream("delete", r#"{"path":"a"}"#);
    assert_eq!(events.next().await.unwrap().event.kind(), "error");
    assert_eq!(seen.begun(), 0);
}

#[tokio::test]
async fn only_what_may_destroy_something_is_asked_about() {
    let (approval, asked) = answering(Answer::Yes);
    let (dispatcher, _) = dispatcher(|builder| builder.layer(approval));
    for (tool, arguments) in
        [("delete", r#"{"path":"a"}"#), ("append", "{}"), ("echo", r#"{"n":1}"#), ("flaky_unmarked", "{}")]
    {
        dispatcher.call(tool, arguments).await.unwrap();
    }
    let tools: Vec<String> = asked.lock().unwrap().iter().map(|(tool, _)| tool.clone()).collect();
    assert_eq!(tools, ["delete", "flaky_unmarked"]);
}

#[test]
fn hints_are_read_as_mcp_reads_them() {
    // `destructiveHint` is true where nothing is said, and means nothing where `readOnlyHint` is true.
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
        assert_eq!(may_destroy(&Tool::from_mcp_json(tool.to_string()).unwrap()), expected, "{hints}");
    }
}

#[tokio::test]
async fn always_is_for_this_tool_and_for_no_other() {
    let (approval, asked) = answering(Answer::Always);
    let (dispatcher, _) = dispatcher(|builder| builder.layer(approval));
    for _ in 0..3 {
        dispatcher.call("delete", r#"{"path":"a"}"#).await.unwrap();
    }
    dispatcher.call("flaky_unmarked", "{}").await.unwrap();
    assert_eq!(asked.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_call_that_would_be_refused_is_put_before_nobody() {
    let (approval, asked) = answering(Answer::Yes);
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(approval));
    for arguments in ["{}", r#"{"path":7}"#, r#"{"path":"a","recursive":true}"#, "nonsense"] {
        let error = dispatcher.call("delete", arguments).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidArguments | ErrorKind::MalformedJson), "{arguments}");
    }
    assert_eq!((asked.lock().unwrap().len(), seen.begun()), (0, 0));
}

#[tokio::test]
async fn a_call_that_fits_only_after_a_change_is_asked_about_as_it_will_run() {
    let (approval, asked) = answering(Answer::No(String::new()));
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(approval));
    // The schema refuses this, and the dispatcher would run it all the same.
    let error = dispatcher.call("delete", r#"{"path":"a","force":null}"#).await.unwrap_err();
    assert_eq!(error.to_string(), "layers:delete: the call was not approved");
    assert_eq!(*asked.lock().unwrap(), [("delete".to_owned(), json!({ "path": "a" }))]);
    assert_eq!(seen.begun(), 0);
}

#[tokio::test]
async fn a_host_chooses_what_is_asked_about_and_sees_who_calls() {
    let approval = Approval::by(async |question| match question.context().get::<u8>() {
        Some(7) => Answer::Yes,
        _ => Answer::No("you are not seven".into()),
    });
    let approval = approval.when(|tool| tool.name() == "echo");
    let (dispatcher, _) = dispatcher(|builder| builder.layer(approval));
    dispatcher.call("delete", r#"{"path":"a"}"#).await.unwrap();
    dispatcher.call_with(&Context::new().with(7_u8), "echo", r#"{"n":1}"#).await.unwrap();
    assert_eq!(dispatcher.call("echo", r#"{"n":1}"#).await.unwrap_err().kind(), ErrorKind::Denied);
}

#[tokio::test]
async fn who_gives_up_waits_for_no_answer() {
    let (token, asked) = (CancelToken::new(), Arc::new(AtomicUsize::new(0)));
    let (cancel, count) = (token.clone(), Arc::clone(&asked));
    let approval = Approval::by(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        cancel.cancel();
        std::future::pending()
    });
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(approval));
    let context = Context::new().with_cancel(token);
    let error = dispatcher.call_with(&context, "delete", r#"{"path":"a"}"#).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert_eq!((asked.load(Ordering::SeqCst), seen.begun()), (1, 0));
}
