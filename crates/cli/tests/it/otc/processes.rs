//! Two processes: `fixture_otc` provides the tools, and this one calls them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolkit::call::{Credentials, ErrorKind};
use toolkit::stream::Event;
use toolkit::{CancelToken, Content};
use toolkit_otc::{CallId, OtcBackend};

use super::provider::{PATIENCE, Provider};
use super::*;

async fn dispatcher(provider: &Provider) -> Dispatcher {
    dispatcher_on(OtcBackend::new("remote", &provider.url).unwrap()).await
}

/// Awaits a future with a timeout.
async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("nothing hangs")
}

#[tokio::test]
async fn a_tool_of_another_process_is_called_as_one_of_this() {
    let provider = Provider::start("result");
    let dispatcher = dispatcher(&provider).await;
    let result = soon(dispatcher.call("Math:add", r#"{"a": 2, "b": 40}"#)).await.unwrap();
    assert_eq!(result.value(), 42);
    assert_eq!(result.tool(), "Math:add:1.0.0");
    let backend = json!({ "kind": "provider", "provider": { "providerId": "remote", "toolId": "Math.add@1.0.0" } });
    assert_eq!(json!(result.backend()), backend);
    let properties = &dispatcher.catalog().get("Math:add").unwrap().input().as_value()["properties"];
    assert_eq!(properties["a"]["description"], "The first addend.");
    // A tool without a namespace gets that of its program.
    let result = soon(dispatcher.call("fixture_otc:shout", r#"{"text": "hey"}"#)).await.unwrap();
    assert_eq!(result.value(), "HEY");
}

#[tokio::test]
async fn arguments_that_do_not_fit_never_leave_this_process() {
    let provider = Provider::start("arguments");
    let dispatcher = dispatcher(&provider).await;
    let error = soon(dispatcher.call("Math:add", r#"{"a": 2}"#)).await.unwrap_err();
    assert_eq!((error.kind(), error.violations()[0].pointer.as_str()), (ErrorKind::InvalidArguments, "/b"));
}

#[tokio::test]
async fn a_rejection_has_the_text_for_the_model() {
    let provider = Provider::start("refusal");
    let dispatcher = dispatcher(&provider).await;
    let error = soon(dispatcher.call("Moon:refuse", "{}")).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Failed, "the moon is not full"));
    assert_eq!(error.content(), [Content::text("nights: 14, 15")]);
    assert_eq!(error.retry_after(), Some(Duration::from_millis(1500)));
    let error = soon(dispatcher.call("Moon:broken", "{}")).await.unwrap_err();
    assert_eq!(error.message(), "the tool failed with an internal error");
    assert!(!format!("{error:?}").contains("disk 7"), "the cause stays in its process: {error:?}");
}

#[tokio::test]
async fn a_tool_gets_only_the_required_credentials() {
    let provider = Provider::start("requirements");
    let dispatcher = dispatcher(&provider).await;
    let error = soon(dispatcher.call("Mail:send", "{}")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MissingRequirements);
    let credentials = Credentials::new().with_user_id("ada").with_secret("MAIL_KEY", "k").with_token("postman", "t");
    let context = Context::new().with_credentials(credentials.with_secret("OTHER", "o"));
    let result = soon(dispatcher.call_with(&context, "Mail:send", "{}")).await.unwrap();
    assert_eq!(result.value(), "ada true true");
}

#[tokio::test]
async fn progress_and_chunks_arrive_while_the_tool_runs() {
    let provider = Provider::start("progress");
    let dispatcher = dispatcher(&provider).await;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let reports = Arc::clone(&heard);
    let context = Context::new().on_progress(move |progress| reports.lock().unwrap().push(progress));
    let result = soon(dispatcher.call_with(&context, "Slow:walk", r#"{"steps": 5}"#)).await.unwrap();
    assert_eq!(result.value(), "arrived");
    let heard = heard.lock().unwrap().clone();
    assert!(!heard.is_empty());
    assert!(heard.iter().all(|report| report.total == Some(5.0) && report.message == "walking"), "{heard:?}");

    let mut events = dispatcher.stream("Slow:countdown", r#"{"from": 100}"#);
    let (mut parts, mut whole) = (Vec::new(), None);
    while let Some(event) = soon(events.next()).await {
        match event.event {
            Event::Chunk(chunk) => parts.push(chunk.value()),
            Event::Done(result) => whole = Some(result.value()),
            Event::Progress(_) => {}
            other => panic!("{other:?}"),
        }
    }
    let expected: Vec<u32> = (1..=100).rev().collect();
    assert_eq!((json!(parts), whole), (json!(expected), Some(json!(expected))));
}

#[tokio::test]
async fn a_failure_arrives_at_a_stream_too() {
    let provider = Provider::start("stream");
    let dispatcher = dispatcher(&provider).await;
    let mut events = dispatcher.stream("Moon:refuse", "{}");
    match soon(events.next()).await.unwrap().event {
        Event::Error(error) => assert_eq!(error.message(), "the moon is not full"),
        other => panic!("{other:?}"),
    }
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn a_call_that_is_cancelled_here_is_cancelled_there() {
    let provider = Provider::start("cancel");
    let dispatcher = dispatcher(&provider).await;
    for (tool, begins, ends) in [("Slow:wait", "waiting", "cancelled"), ("Slow:hang", "hanging", "dropped")] {
        let cancel = CancelToken::new();
        let context = Context::new().with_cancel(cancel.clone());
        let call = dispatcher.call_with(&context, tool, "{}");
        let (outcome, ()) = soon(async {
            tokio::join!(call, async {
                provider.notes(begins).await;
                cancel.cancel();
            })
        })
        .await;
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Cancelled);
        provider.notes(ends).await;
    }
}

#[tokio::test]
async fn a_stream_that_is_dropped_is_cancelled_there() {
    let provider = Provider::start("dropped");
    let dispatcher = dispatcher(&provider).await;
    let mut events = dispatcher.stream("Slow:hang", "{}");
    soon(async {
        tokio::select! {
            event = events.next() => panic!("{event:?}"),
            () = provider.notes("hanging") => {}
        }
    })
    .await;
    drop(events);
    provider.notes("dropped").await;
}

#[tokio::test]
async fn a_timeout_of_the_client_cancels_the_remote_call() {
    let provider = Provider::start("limit");
    let backend = OtcBackend::new("remote", &provider.url).unwrap().timeout(Duration::from_millis(300));
    let error = soon(dispatcher_on(backend).await.call("Slow:hang", "{}")).await.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::TimedOut, true));
    provider.notes("dropped").await;
}

#[tokio::test]
async fn the_outcome_of_a_call_is_unknown_if_the_server_exits_during_it() {
    for (name, is_heard, after_progress) in
        [("die", false, false), ("die-events", true, false), ("die-progress", true, true)]
    {
        let mut provider = Provider::start(name);
        let dispatcher = dispatcher(&provider).await;
        let context = if is_heard { Context::new().on_progress(|_| ()) } else { Context::new() };
        let arguments = json!({ "after_progress": after_progress });
        let error = soon(dispatcher.call_with(&context, "Slow:die", arguments)).await.unwrap_err();
        assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::OutcomeUnknown, false), "{name}: {error}");
        assert!(error.message().starts_with("the tool server `remote` disconnected"), "{name}: {error}");
        assert_eq!(provider.ended().await.code(), Some(7));
    }
    let mut provider = Provider::start("killed");
    let dispatcher = dispatcher(&provider).await;
    let call = dispatcher.call("Slow:hang", "{}");
    let killed = async {
        provider.notes("hanging").await;
        provider.kill();
    };
    let (outcome, ()) = soon(async { tokio::join!(call, killed) }).await;
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::OutcomeUnknown);
}

#[tokio::test]
async fn a_restarted_server_is_called_again() {
    let mut provider = Provider::start("restart");
    let backend = OtcBackend::new("remote", &provider.url).unwrap();
    let dispatcher = dispatcher_on(backend.clone()).await;
    soon(dispatcher.call("Math:add", r#"{"a": 1, "b": 1}"#)).await.unwrap();
    provider.kill();
    // The client may not know yet that its connection is closed.
    let error = soon(dispatcher.call("Math:add", r#"{"a": 1, "b": 1}"#)).await.unwrap_err();
    assert!([ErrorKind::OutcomeUnknown, ErrorKind::Unavailable].contains(&error.kind()), "{error}");
    let error = soon(dispatcher.call("Math:add", r#"{"a": 1, "b": 1}"#)).await.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Unavailable, true));
    assert_eq!(soon(backend.health()).await.unwrap_err().kind(), ErrorKind::Unavailable);

    let port = provider.port().to_owned();
    let _again = Provider::start_with("restarted", &port, &[], &[]);
    soon(backend.health()).await.unwrap();
    assert_eq!(soon(dispatcher.call("Math:add", r#"{"a": 1, "b": 1}"#)).await.unwrap().value(), 2);
}

#[tokio::test]
async fn many_calls_at_once_get_each_their_own_answer() {
    let provider = Provider::start("many");
    let dispatcher = dispatcher(&provider).await;
    let calls = (0..64_i64).map(|n| {
        let dispatcher = dispatcher.clone();
        tokio::spawn(async move { (n, dispatcher.call("Math:add", json!({ "a": n, "b": n })).await) })
    });
    for call in calls.collect::<Vec<_>>() {
        let (n, outcome) = soon(call).await.unwrap();
        assert_eq!(outcome.unwrap().value(), 2 * n);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn shutdown_finishes_running_calls() {
    let mut provider = Provider::start("stop");
    let dispatcher = dispatcher(&provider).await;
    let call = dispatcher.call("Slow:nap", r#"{"ms": 300}"#);
    let stopped = async {
        provider.notes("napping").await;
        provider.terminate();
    };
    let (outcome, ()) = soon(async { tokio::join!(call, stopped) }).await;
    assert_eq!(outcome.unwrap().value(), true);
    assert_eq!(provider.ended().await.code(), Some(0));
    let error = soon(dispatcher.call("Math:add", r#"{"a": 1, "b": 1}"#)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

#[tokio::test]
async fn a_call_that_is_repeated_from_another_process_runs_once() {
    let provider = Provider::start("repeated");
    let dispatcher = dispatcher_on(OtcBackend::new("remote", &provider.url).unwrap()).await;
    let context = Context::new().with(CallId("the-one".to_owned()));
    for _ in 0..3 {
        assert_eq!(dispatcher.call_with(&context, "Math:count", "{}").await.unwrap().value(), 1);
    }
    // Without an id of the host, each call has its own.
    assert_eq!(dispatcher.call("Math:count", "{}").await.unwrap().value(), 2);
    assert_eq!(dispatcher.call("Math:count", "{}").await.unwrap().value(), 3);
}
