//! Calls as streams of events: chunks, progress, outcomes, back-pressure, cancellation.

mod emitters;
mod laws;
mod tools;

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use toolkit::call::{ErrorKind, Stage};
use toolkit::stream::{CallStream, Event};
use toolkit::{CancelToken, Context, Dispatcher, handle};

use self::tools::Seen;

fn dispatcher() -> (Dispatcher, Seen) {
    let seen = Seen::default();
    let dispatcher = Dispatcher::builder(tools::catalog()).state(seen.clone());
    (dispatcher.max_result_bytes(1000).build().unwrap(), seen)
}

/// Returns every event as `kind data`, with its tool.
async fn events(mut stream: CallStream) -> (Vec<String>, Vec<String>) {
    let (mut told, mut tools) = (Vec::new(), Vec::new());
    while let Some(event) = stream.next().await {
        let written = json!(event);
        told.push(format!("{} {}", event.event.kind(), written.get("data").unwrap_or(&Value::Null)));
        tools.push(event.tool_id.into_owned());
    }
    assert!(stream.next().await.is_none(), "nothing comes after the end");
    (told, tools)
}

#[tokio::test]
async fn chunks_are_streamed_before_the_whole_result() {
    let (dispatcher, _) = dispatcher();
    let (told, tools) = events(dispatcher.stream("countdown", r#"{"from": 3}"#)).await;
    assert_eq!(told, ["chunk 3", "chunk 2", "chunk 1", "done [3,2,1]"]);
    assert!(tools.iter().all(|tool| tool == "stream:countdown:1.0.0"), "{tools:?}");
}

#[tokio::test]
async fn a_plain_call_of_a_chunked_tool_returns_the_list() {
    let (dispatcher, _) = dispatcher();
    let result = dispatcher.call("countdown", r#"{"from": 3}"#).await.unwrap();
    assert_eq!(result.value(), json!([3, 2, 1]));
    let empty = dispatcher.call("countdown", r#"{"from": 0}"#).await.unwrap();
    assert_eq!(empty.value(), json!([]));
    let schema = dispatcher.catalog().get("countdown").unwrap().output().unwrap().as_value().clone();
    assert_eq!((&schema["type"], &schema["items"]["type"]), (&json!("array"), &json!("integer")));
}

#[tokio::test]
async fn any_tool_is_a_stream_of_its_progress_and_its_end() {
    let (dispatcher, _) = dispatcher();
    let (told, _) = events(dispatcher.stream("plain", r#"{"n": 2}"#)).await;
    assert_eq!(told, ["done 3"]);
    let (told, _) = events(dispatcher.stream("steps", "{}")).await;
    let progress = |done: f64| format!(r#"progress {{"progress":{done:?},"total":2.0}}"#);
    assert_eq!(told, [progress(1.0), progress(2.0), "done \"ready\"".to_owned()]);
}

#[tokio::test]
async fn every_rejection_and_failure_is_the_last_event() {
    let (dispatcher, _) = dispatcher();
    for (name, arguments, expected) in [
        ("nobody", "{}", &["error \"no tool is named `nobody`\""][..]),
        ("fails_midway", "{}", &["chunk 1", "error \"the disk is gone\""]),
        ("panics_midway", "{}", &["chunk 1", "error \"the tool failed with an internal error\""]),
        (
            "breaks_its_promise",
            "{}",
            &["chunk 1", "error \"the result does not match the output schema: /0 must be an integer\""],
        ),
        ("too_slow", "{}", &["chunk 1", "error \"the tool took longer than 20ms\""]),
    ] {
        assert_eq!(events(dispatcher.stream(name, arguments)).await.0, expected, "{name}");
    }
    let refused = events(dispatcher.stream("countdown", r#"{"from": "3"}"#)).await.0;
    assert!(
        refused.len() == 1 && refused[0].starts_with("error \"the arguments do not match the schema"),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_stream_without_an_end_is_ended_where_it_grows_too_large() {
    let (dispatcher, _) = dispatcher();
    let mut stream = dispatcher.stream("endless", "{}");
    let mut n_chunks = 0;
    loop {
        match stream.next().await.unwrap().event {
            Event::Chunk(_) => n_chunks += 1,
            Event::Error(error) => {
                assert_eq!((error.kind(), error.stage()), (ErrorKind::ResultTooLarge, Stage::ValidateOutput));
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(n_chunks < 1000);
    assert_eq!(dispatcher.call("endless", "{}").await.unwrap_err().kind(), ErrorKind::ResultTooLarge);
}

#[tokio::test]
async fn a_slow_reader_slows_the_tool_down() {
    let (dispatcher, seen) = dispatcher();
    let mut stream = dispatcher.stream("counted", "{}");
    for n_read in 1..=40 {
        let event = stream.next().await.unwrap();
        assert!(matches!(event.event, Event::Chunk(_)));
        let n_made = seen.made.load(Ordering::SeqCst);
        assert!(n_made <= n_read + 17, "{n_made} were made when {n_read} were read");
    }
}

#[tokio::test]
async fn a_stream_runs_only_when_polled_and_dropping_it_cancels() {
    let (dispatcher, seen) = dispatcher();
    let stream = dispatcher.stream("counted", "{}");
    tokio::task::yield_now().await;
    assert_eq!(seen.made.load(Ordering::SeqCst), 0);
    drop(stream);

    let mut stream = dispatcher.stream("counted", "{}");
    stream.next().await.unwrap();
    assert_eq!(seen.dropped.load(Ordering::SeqCst), 0);
    drop(stream);
    assert_eq!(seen.dropped.load(Ordering::SeqCst), 1);

    let mut stream = dispatcher.stream("works", "{}");
    assert!(matches!(stream.next().await.unwrap().event, Event::Progress(_)));
    drop(stream);
    for _ in 0..1000 {
        if seen.cancelled.load(Ordering::SeqCst) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the blocking tool was not told that nobody waits");
}

#[tokio::test]
async fn a_cancelled_call_ends_in_one_error() {
    let (dispatcher, _) = dispatcher();
    let token = CancelToken::new();
    let context = Context::new().with_cancel(token.clone());
    let mut stream = dispatcher.stream_with(&context, "counted", "{}");
    stream.next().await.unwrap();
    token.cancel();
    let (told, _) = events(stream).await;
    assert_eq!(told.last().unwrap(), "error \"the call was cancelled\"");
    assert_eq!(told.iter().filter(|told| told.starts_with("error")).count(), 1);
}

#[tokio::test]
async fn a_flood_of_progress_keeps_the_newest_and_loses_no_chunk() {
    let (dispatcher, _) = dispatcher();
    let (told, _) = events(dispatcher.stream("floods", "{}")).await;
    assert_eq!(
        told,
        [r#"progress {"progress":99999.0}"#, "chunk 1", r#"progress {"progress":199999.0}"#, "chunk 2", "done [1,2]",]
    );
}

#[tokio::test]
async fn a_listener_of_the_context_hears_the_progress_too() {
    let (dispatcher, _) = dispatcher();
    let heard = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let listener = std::sync::Arc::clone(&heard);
    let context = Context::new().on_progress(move |progress| listener.lock().unwrap().push(progress.done));
    events(dispatcher.stream_with(&context, "steps", "{}")).await;
    assert_eq!(*heard.lock().unwrap(), [1.0, 2.0]);
}

#[tokio::test]
async fn a_handle_gives_the_typed_stream() {
    let (dispatcher, _) = dispatcher();
    let mut items = handle!(tools::countdown).call(&dispatcher, 2).await.unwrap();
    assert_eq!(items.next().await.unwrap().unwrap(), 2);
    assert_eq!(items.next().await.unwrap().unwrap(), 1);
    assert!(items.next().await.is_none());
}

#[test]
fn without_a_runtime_the_call_fails_with_advice() {
    let error = dispatcher().0.call_sync("countdown", r#"{"from": 1}"#).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NeedsRuntime);
}
