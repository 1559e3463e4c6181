//! Dispatching calls: limits, panics, state, results, handles.

mod tools;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use toolkit::call::{ErrorKind, Progress, Stage};
use toolkit::catalog::DiagnosticKind;
use toolkit::dispatch::DispatcherBuilder;
use toolkit::{CancelToken, Catalog, Context, Dispatcher, ToolError, catalog, handle, tool};

use self::tools::*;

fn all() -> Catalog {
    catalog![
        now,
        later,
        Counter::next,
        Counter::skip,
        increment,
        tools::sleep,
        nap,
        work,
        tools::read,
        reenter,
        at_once,
        after_a_while,
        when_dropped,
        tools::elsewhere,
        in_serde,
        in_display,
        measure,
        digit,
        report,
        average,
        ratio,
        lonely,
        elsewhere::lonely,
        versions::older,
        versions::newer
    ]
    .unwrap()
}

fn builder() -> DispatcherBuilder {
    with_seen().0
}

fn with_seen() -> (DispatcherBuilder, Seen) {
    let seen = Seen::default();
    (with(seen.clone(), Arc::default()), seen)
}

fn with(seen: Seen, reentered: Arc<Mutex<Option<Dispatcher>>>) -> DispatcherBuilder {
    Dispatcher::builder(all())
        .shared_state::<dyn Clock>(Arc::new(Noon))
        .state(Counter(AtomicUsize::new(0)))
        .state(seen)
        .shared_state(reentered)
}

fn dispatcher() -> Dispatcher {
    builder().build().unwrap()
}

#[tokio::test]
async fn the_attributes_time_limit_stops_a_tool() {
    let dispatcher = dispatcher();
    let error = dispatcher.call("run:nap", r#"{"millis":60000}"#).await.unwrap_err();
    assert_eq!((error.kind(), error.stage(), error.is_retryable()), (ErrorKind::TimedOut, Stage::Invoke, true));
    assert_eq!(error.to_string(), "run:nap: the tool took longer than 30ms");
    assert_eq!(dispatcher.call("run:nap", r#"{"millis":0}"#).await.unwrap().value(), json!(0));
}

#[tokio::test]
async fn the_builders_time_limit_is_for_tools_that_set_none() {
    let dispatcher = builder().timeout(Duration::from_millis(40)).build().unwrap();
    let error = dispatcher.call("run:sleep", r#"{"millis":60000}"#).await.unwrap_err();
    assert_eq!(error.to_string(), "run:sleep: the tool took longer than 40ms");
    let error = dispatcher.call("run:nap", r#"{"millis":60000}"#).await.unwrap_err();
    assert_eq!(error.message(), "the tool took longer than 30ms");
    let error = handle!(sleep).call(&dispatcher, 60_000).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
}

#[tokio::test]
async fn a_cancelled_call_does_not_start() {
    let (builder, seen) = with_seen();
    let dispatcher = builder.build().unwrap();
    let token = CancelToken::new();
    token.cancel();
    let context = Context::new().with_cancel(token);
    let error = dispatcher.call_with(&context, "run:sleep", r#"{"millis":1}"#).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    let error = dispatcher.call_sync_with(&context, "run:increment", r#"{"n":1}"#).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    let error = handle!(sleep).call_with(&context, &dispatcher, 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert_eq!(handle!(increment).call_with(&context, &dispatcher, 1).await.unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(seen.most.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_running_call_is_cancelled() {
    let (builder, seen) = with_seen();
    let dispatcher = builder.build().unwrap();
    let token = CancelToken::new();
    let context = Context::new().with_cancel(token.clone());
    let call = dispatcher.call_with(&context, "run:sleep", r#"{"millis":60000}"#);
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(call, cancel);
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!((seen.most.load(Ordering::SeqCst), seen.done.load(Ordering::SeqCst)), (1, 0));
}

#[tokio::test]
async fn a_cancelled_blocking_tool_holds_its_permit_until_it_returns() {
    let (builder, seen) = with_seen();
    let dispatcher = builder.concurrency(1).build().unwrap();
    let error = dispatcher.call("run:work", "{}").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    // The next call waits until the thread has ended.
    assert_eq!(dispatcher.call("run:increment", r#"{"n":1}"#).await.unwrap().value(), json!(2));
    assert_eq!(seen.done.load(Ordering::SeqCst), 1);
    assert!(seen.cancelled.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_panic_is_that_calls_error_wherever_it_happens() {
    let dispatcher = dispatcher();
    for (tool, arguments, kind) in [
        ("panic:at_once", r#"{"way":"Sync"}"#, ErrorKind::Panicked),
        ("panic:at_once", r#"{"way":"Payload"}"#, ErrorKind::Panicked),
        ("panic:at_once", r#"{"way":"InDrop"}"#, ErrorKind::Panicked),
        ("panic:after_a_while", "{}", ErrorKind::Panicked),
        ("panic:when_dropped", "{}", ErrorKind::TimedOut),
        ("panic:elsewhere", "{}", ErrorKind::Panicked),
        ("panic:in_serde", r#"{"n":13}"#, ErrorKind::Panicked),
        ("panic:in_serde", r#"{"n":14}"#, ErrorKind::Panicked),
        ("panic:in_serde", r#"{"n":15}"#, ErrorKind::Internal),
        ("panic:in_display", "{}", ErrorKind::Internal),
    ] {
        let error = dispatcher.call(tool, arguments).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{tool} {arguments}");
        assert!(!error.to_string().contains("secret"), "{error}");
        assert!(!error.message().contains("secret") && error.violations().is_empty());
    }
    let error = handle!(after_a_while).call(&dispatcher, ()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Panicked);
    assert_eq!(dispatcher.call("panic:in_serde", r#"{"n":1}"#).await.unwrap().value(), json!(1));
}

#[test]
fn the_cause_of_a_panic_is_for_the_host() {
    let error = dispatcher().call_sync("panic:at_once", r#"{"way":"Sync"}"#).unwrap_err();
    assert_eq!(error.to_string(), "panic:at_once: the tool failed with an internal error");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "secret of a tool");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_concurrency_limit_holds() {
    let (builder, seen) = with_seen();
    let dispatcher = builder.concurrency(3).build().unwrap();
    let calls: Vec<_> = (0..20)
        .map(|idx| {
            let dispatcher = dispatcher.clone();
            tokio::spawn(async move {
                match idx % 2 {
                    0 => dispatcher.call("run:sleep", r#"{"millis":20}"#).await.map(drop),
                    _ => handle!(sleep).call(&dispatcher, 20).await.map(drop),
                }
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!((seen.most.load(Ordering::SeqCst), seen.done.load(Ordering::SeqCst)), (3, 20));
}

#[test]
fn without_a_runtime_calls_do_not_wait_for_permits() {
    let place = Arc::new(Mutex::new(None));
    let dispatcher = with(Seen::default(), Arc::clone(&place)).concurrency(1).build().unwrap();
    // A new thread does not run under the permit of the tool.
    let stranger = dispatcher.clone();
    let context = Context::new().on_progress(move |_| {
        let stranger = stranger.clone();
        let call = std::thread::spawn(move || stranger.call_sync("run:increment", r#"{"n":1}"#).unwrap_err());
        let error = call.join().unwrap();
        assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Overloaded, true));
        assert_eq!(error.tool(), Some("run:increment"));
    });
    let mut report = std::pin::pin!(dispatcher.call_with(&context, "run:report", "{}"));
    let waker = std::task::Waker::noop();
    assert!(report.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
    assert!(dispatcher.call_sync("run:increment", r#"{"n":1}"#).is_err(), "the tool has not ended");
    assert!(report.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_ready());
    assert!(dispatcher.call_sync("run:increment", r#"{"n":1}"#).is_ok(), "the permit is free again");
    *place.lock().unwrap() = Some(dispatcher.clone());
    assert!(dispatcher.call_sync("run:reenter", "{}").is_ok(), "a tool's calls run under its permit");
}

#[test]
fn missing_state_is_reported_with_all_tools_that_borrow_it() {
    let problems = Dispatcher::new(all()).unwrap_err();
    let found: Vec<(DiagnosticKind, usize)> =
        problems.iter().map(|problem| (problem.kind(), problem.tools().count())).collect();
    assert_eq!(
        found,
        [(DiagnosticKind::MissingState, 2); 3]
            .into_iter()
            .chain([(DiagnosticKind::MissingState, 1)])
            .collect::<Vec<_>>()
    );
    let text = problems.to_string();
    for part in [
        "dyn it::dispatch::tools::Clock",
        "run:later at ",
        "run:now at ",
        "Counter",
        "counter:next at ",
        "run:work at ",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[tokio::test]
async fn state_is_injected_by_its_type() {
    let dispatcher = dispatcher();
    assert_eq!(dispatcher.call_sync("run:now", "{}").unwrap().value(), json!(12));
    assert_eq!(dispatcher.call("run:later", r#"{"hours":3}"#).await.unwrap().value(), json!(15));
    assert_eq!(handle!(now).call(&dispatcher, ()).await.unwrap(), 12);
    assert_eq!(dispatcher.call_sync("counter:next", "{}").unwrap().value(), json!(0));
    assert_eq!(dispatcher.call("skip", r#"{"n":5}"#).await.unwrap().value(), json!(1));
    assert_eq!(handle!(Counter::next).call(&dispatcher.clone(), ()).await.unwrap(), 6);
}

#[test]
fn output_that_breaks_its_schema_is_withheld() {
    let dispatcher = dispatcher();
    assert_eq!(dispatcher.call_sync("measure", r#"{"percent":100}"#).unwrap().value()["percent"], json!(100));
    let error = dispatcher.call_sync("measure", r#"{"percent":101}"#).unwrap_err();
    assert_eq!((error.kind(), error.stage()), (ErrorKind::InvalidOutput, Stage::ValidateOutput));
    for text in [error.to_string(), format!("{error:?}")] {
        assert!(!text.contains("101") && !text.contains("instructions"), "{text}");
    }
}

// JSON cannot represent this number, and serde writes `null`, which the function did not return.
#[test]
fn a_number_that_json_does_not_have_is_named_with_its_place() {
    let dispatcher = dispatcher();
    for (n, said) in [(0, "NaN"), (1, "Infinity"), (-1, "-Infinity")] {
        let error = dispatcher.call_sync("average", json!({ "n": n })).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOutput);
        let cause = std::error::Error::source(&error).unwrap().to_string();
        let line = format!("/groups/1/mean must be a number, got {said}");
        assert_eq!(cause, format!("{line}; /means/secret key must be a number, got {said}"));
        let masked = "run:average: the result does not match the output schema";
        assert_eq!(error.to_string(), format!("{masked}: {line}; and 1 more"));
    }
    let error = dispatcher.call_sync("ratio", json!({ "of": 0.0 })).unwrap_err();
    let said = "run:ratio: the result does not match the output schema: the value must be a number, got Infinity";
    assert_eq!(error.to_string(), said);
    assert_eq!(dispatcher.call_sync("ratio", json!({ "of": 4.0 })).unwrap().value(), json!(0.25));
}

#[test]
fn both_checks_can_be_switched_off() {
    let dispatcher = builder().validate_output(false).build().unwrap();
    assert_eq!(dispatcher.call_sync("measure", r#"{"percent":101}"#).unwrap().value()["percent"], json!(101));
    assert_eq!(dispatcher.call_sync("digit", r#"{"n":10}"#).unwrap_err().kind(), ErrorKind::InvalidArguments);
    let dispatcher = builder().validate_input(false).build().unwrap();
    assert_eq!(dispatcher.call_sync("digit", r#"{"n":10}"#).unwrap().value(), json!(10));
    assert_eq!(dispatcher.call_sync("digit", json!({ "n": 10 })).unwrap().value(), json!(10));
    let error = dispatcher.call_sync("digit", r#"{"n":"x"}"#).unwrap_err();
    assert_eq!((error.kind(), error.violations().len()), (ErrorKind::InvalidArguments, 1));
    assert_eq!(dispatcher.call_sync("digit", "{").unwrap_err().kind(), ErrorKind::MalformedJson);
    assert_eq!(dispatcher.call_sync("measure", r#"{"percent":101}"#).unwrap_err().kind(), ErrorKind::InvalidOutput);
}

/// Polls a future without a runtime.
fn poll_once<T>(future: impl Future<Output = T>) -> T {
    let waker = std::task::Waker::noop();
    match std::pin::pin!(future).poll(&mut std::task::Context::from_waker(waker)) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("the future waits for something"),
    }
}

#[test]
fn tools_that_need_a_runtime_fail_without_one() {
    let dispatcher = dispatcher();
    let kind = |outcome: Result<toolkit::RunResult, ToolError>| outcome.unwrap_err().kind();
    assert_eq!(kind(dispatcher.call_sync("run:sleep", "{}")), ErrorKind::NeedsRuntime);
    assert_eq!(kind(poll_once(dispatcher.call("run:read", "{}"))), ErrorKind::NeedsRuntime);
    assert_eq!(dispatcher.call_sync("run:read", "{}").unwrap().value(), json!(1));
    assert_eq!(poll_once(dispatcher.call("run:increment", r#"{"n":1}"#)).unwrap().value(), json!(2));
    assert_eq!(poll_once(handle!(increment).call(&dispatcher, 1)).unwrap(), 2);
}

#[tokio::test]
async fn a_handle_runs_only_tools_of_the_catalog() {
    let dispatcher = Dispatcher::new(catalog![increment].unwrap()).unwrap();
    assert_eq!(handle!(increment).call(&dispatcher, 1).await.unwrap(), 2);
    let error = handle!(digit).call(&dispatcher, 1).await.unwrap_err();
    assert_eq!((error.kind(), error.stage()), (ErrorKind::UnknownTool, Stage::Resolve));
    assert_eq!(error.to_string(), "the tool `run:digit` is not in this catalog");
}

mod elsewhere {
    /// Another tool that answers to the name.
    #[toolkit::tool(namespace = "other")]
    pub(super) fn lonely(n: u8) -> u8 {
        n
    }
}

/// A tool without a namespace.
#[tool]
fn lonely(n: u8) -> u8 {
    n + 1
}

#[tokio::test]
async fn a_handle_never_takes_another_tools_place() {
    let dispatcher = Dispatcher::new(catalog![elsewhere::lonely].unwrap()).unwrap();
    assert_eq!(dispatcher.call_sync("lonely", r#"{"n":1}"#).unwrap().value(), json!(1));
    let error = handle!(lonely).call(&dispatcher, 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownTool);
    assert_eq!(handle!(elsewhere::lonely).call(&dispatcher, 1).await.unwrap(), 1);
}

mod versions {
    /// A blocking tool.
    #[toolkit::tool(namespace = "twins", name = "twin", version = "1.0.0", blocking)]
    pub(super) fn older(#[schemars(range(max = 5))] n: u8) -> u8 {
        n
    }

    /// A later version of it.
    #[toolkit::tool(namespace = "twins", name = "twin", version = "2.0.0", blocking)]
    pub(super) fn newer(#[schemars(range(max = 50))] n: u8) -> u8 {
        n + 100
    }
}

#[tokio::test]
async fn a_blocking_tool_is_checked_by_its_own_schema() {
    let dispatcher = Dispatcher::new(catalog![versions::older, versions::newer].unwrap()).unwrap();
    assert_eq!(dispatcher.call("twins:twin", r#"{"n":9}"#).await.unwrap().value(), json!(109));
    assert_eq!(handle!(versions::older).call(&dispatcher, 3).await.unwrap(), 3);
}

#[tokio::test]
async fn the_context_carries_progress_and_what_the_host_attached() {
    let dispatcher = dispatcher();
    let reports = Arc::new(Mutex::new(Vec::<Progress>::new()));
    let listener = Arc::clone(&reports);
    let context = Context::new()
        .on_progress(move |progress| listener.lock().unwrap().push(progress))
        .with(7_u8)
        .with("nobody".to_owned())
        .with("ann".to_owned());
    assert_eq!((context.get::<u8>(), context.get::<u16>()), (Some(&7), None));
    let result = dispatcher.call_with(&context, "run:report", "{}").await.unwrap();
    assert_eq!(result.value(), json!("ann"));
    assert_eq!(handle!(report).call_with(&Context::new(), &dispatcher, ()).await.unwrap(), None);
    let report = |done, total, message: &str| Progress::new(done, total, message);
    assert_eq!(*reports.lock().unwrap(), [report(1.0, Some(2.0), "half"), report(2.0, None, "")]);
}

#[tokio::test]
async fn a_listener_that_panics_is_the_calls_error() {
    let context = Context::new().on_progress(|_| panic!("secret of a listener"));
    let error = dispatcher().call_with(&context, "run:report", "{}").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Panicked);
}

#[tokio::test]
async fn a_prepared_tool_runs_as_it_does_by_its_name() {
    let dispatcher = dispatcher();
    assert_eq!(dispatcher.prepared("nothing").unwrap_err().kind(), ErrorKind::UnknownTool);
    let later = dispatcher.prepared("later").unwrap();
    assert_eq!(later.tool().id().to_string(), "run:later");
    assert_eq!(later.call(r#"{"hours":3}"#).await.unwrap().value(), json!(15));
    assert_eq!(later.call_sync(r#"{"hours":3}"#).unwrap_err().kind(), ErrorKind::NeedsRuntime);
    for arguments in [r#"{"hours":"three"}"#, "{", "{}"] {
        let by_name = dispatcher.call("later", arguments).await.unwrap_err();
        assert_eq!(later.call(arguments).await.unwrap_err().to_string(), by_name.to_string());
    }
    let cancel = CancelToken::new();
    cancel.cancel();
    let context = Context::new().with_cancel(cancel);
    let now = dispatcher.prepared("run:now").unwrap();
    assert_eq!(now.call_sync("{}").unwrap().value(), json!(12));
    assert_eq!(now.call_sync_with(&context, "{}").unwrap_err().kind(), ErrorKind::Cancelled);
}
