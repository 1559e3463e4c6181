//! Calls: results, errors, progress, chunks, cancellation and deadlines.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use toolkit::call::{CancelToken, ErrorKind, TraceContext};
use toolkit::stream::Event;
use toolkit::{Chunks, Content, Context, Structured, ToolError, catalog, tool};
use toolkit_nats::{NatsBackend, WorkerLimits};

use super::*;

/// Adds two integers.
#[tool(namespace = "math", version = "1.2.0")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Returns text and a value.
#[tool]
fn describe(word: String) -> Structured<usize> {
    Structured::new(word.len(), [Content::text(format!("`{word}` has {} bytes", word.len()))])
}

/// Returns nothing.
#[tool]
fn ping() {}

/// Fails.
#[tool]
fn fail(kind: String) -> Result<(), ToolError> {
    Err(match &*kind {
        "failed" => ToolError::failed("there is no such file"),
        "later" => ToolError::failed("not now").retryable(Duration::from_secs(3)),
        "content" => ToolError::failed("it failed").with_content([Content::text("more")]),
        _ => panic!("a secret"),
    })
}

/// Sleeps.
#[tool]
async fn nap(ms: u64, ctx: &Context) -> bool {
    tokio::select! {
        () = tokio::time::sleep(Duration::from_millis(ms)) => {}
        () = ctx.cancelled() => {}
    }
    ctx.is_cancelled()
}

/// Reports its steps.
#[tool]
async fn step(n: u32, ctx: &Context) -> u32 {
    for nth in 1..=n {
        ctx.progress(nth.into(), f64::from(n), "stepping");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    n
}

/// Counts up.
#[tool]
fn count_up(n: u64) -> Chunks<u64> {
    Chunks::from_items(0..n)
}

/// Returns the trace context of the call.
#[tool]
fn trace(ctx: &Context) -> Vec<Option<String>> {
    let trace = ctx.get::<TraceContext>().cloned().unwrap_or_default();
    vec![Some(trace.traceparent), trace.tracestate, trace.baggage]
}

fn tools() -> Catalog {
    catalog![add, describe, ping, fail, nap, step, count_up, trace].unwrap()
}

async fn start(server: &Server) -> (Running, Dispatcher) {
    let running = Running::start(worker(server, tools()));
    let backend = NatsBackend::new("fleet", connect(server));
    let dispatcher = dispatcher(&backend, 1).await;
    (running, dispatcher)
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn results_and_errors_are_those_of_the_tool() {
    let server = Server::start();
    let (_worker, dispatcher) = start(&server).await;
    let local = Dispatcher::new(tools()).unwrap();
    assert_eq!(dispatcher.catalog().len(), local.catalog().len());
    for (name, arguments) in [
        ("math:add", json!({ "a": 1, "b": 2 })),
        ("describe", json!({ "word": "héllo" })),
        ("ping", json!({})),
        ("fail", json!({ "kind": "failed" })),
        ("fail", json!({ "kind": "later" })),
        ("fail", json!({ "kind": "content" })),
        ("count_up", json!({ "n": 5 })),
        ("nap", json!({ "ms": 20 })),
        ("math:add", json!({ "a": 1, "b": "two" })),
    ] {
        let theirs = soon(dispatcher.call(&fleet(name), arguments.clone())).await;
        let ours = soon(local.call(name, arguments)).await;
        match (theirs, ours) {
            (Ok(theirs), Ok(ours)) => {
                assert_eq!(theirs.value(), ours.value(), "{name}");
                assert_eq!(theirs.content(), ours.content(), "{name}");
            }
            (Err(theirs), Err(ours)) => {
                assert_eq!((theirs.kind(), theirs.retry_after()), (ours.kind(), ours.retry_after()), "{name}");
                // The message of a backend contains all texts.
                assert!(theirs.message().contains(ours.message()), "{name}: {theirs}");
            }
            (theirs, ours) => panic!("{name}: {theirs:?}, {ours:?}"),
        }
    }
    let error = call(&dispatcher, "fleet:fail", json!({ "kind": "?" })).await.unwrap_err();
    assert!(!format!("{error:?}").contains("a secret"), "{error:?}");
}

/// Returns the id of a tool as the backend lists it.
fn fleet(name: &str) -> String {
    if name.contains(':') { name.to_owned() } else { format!("fleet:{name}") }
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn progress_and_chunks_arrive_in_order() {
    let server = Server::start();
    let (_worker, dispatcher) = start(&server).await;
    let seen: Arc<Mutex<Vec<f64>>> = Arc::default();
    let context = Context::new().on_progress({
        let seen = Arc::clone(&seen);
        move |progress| seen.lock().unwrap().push(progress.done)
    });
    assert_eq!(soon(dispatcher.call_with(&context, "fleet:step", json!({ "n": 5 }))).await.unwrap().value(), 5);
    assert_eq!(*seen.lock().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0]);

    let mut events = dispatcher.stream("fleet:count_up", r#"{"n": 1000}"#);
    let mut items = Vec::new();
    let result = loop {
        match soon(events.next()).await.unwrap().event {
            Event::Chunk(chunk) => items.push(chunk.value().as_u64().unwrap()),
            Event::Done(result) => break result,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(items, (0..1000).collect::<Vec<u64>>());
    assert_eq!(result.value(), json!(items));
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_slow_reader_slows_the_tool_down() {
    static N_TAKEN: AtomicUsize = AtomicUsize::new(0);

    /// Counts up, and counts what was taken.
    #[tool]
    fn produce(n: usize) -> Chunks<usize> {
        Chunks::from_items((0..n).inspect(|_| {
            _ = N_TAKEN.fetch_add(1, Ordering::Relaxed);
        }))
    }

    let server = Server::start();
    let _worker = Running::start(worker(&server, catalog![produce].unwrap()));
    let dispatcher = dispatcher(&NatsBackend::new("fleet", connect(&server)), 1).await;
    let mut events = dispatcher.stream("fleet:produce", r#"{"n": 100000}"#);
    assert!(matches!(soon(events.next()).await.unwrap().event, Event::Chunk(_)));
    // Nothing is polled now, neither here nor there.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let n_taken = N_TAKEN.load(Ordering::Relaxed);
    assert!(n_taken < 200, "{n_taken}");
    drop(events);
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_cancelled_call_is_cancelled_on_its_worker() {
    static IS_CANCELLED: Notify = Notify::const_new();

    struct Reports;

    impl Drop for Reports {
        fn drop(&mut self) {
            IS_CANCELLED.notify_one();
        }
    }

    /// Waits until it is cancelled.
    #[tool]
    async fn hang(ctx: &Context) -> bool {
        let _reports = Reports;
        ctx.progress(1.0, None, "hanging");
        std::future::pending().await
    }

    let server = Server::start();
    let _worker = Running::start(worker(&server, catalog![hang].unwrap()));
    let dispatcher = dispatcher(&NatsBackend::new("fleet", connect(&server)), 1).await;
    for is_dropped in [false, true] {
        let hanging = Arc::new(Notify::new());
        let (token, hangs) = (CancelToken::new(), Arc::clone(&hanging));
        let context = Context::new().with_cancel(token.clone()).on_progress(move |_| hangs.notify_one());
        let running = dispatcher.clone();
        let call = tokio::spawn(async move { running.call_with(&context, "fleet:hang", "{}").await });
        soon(hanging.notified()).await;
        match is_dropped {
            true => call.abort(),
            false => token.cancel(),
        }
        soon(IS_CANCELLED.notified()).await;
        match is_dropped {
            true => assert!(soon(call).await.unwrap_err().is_cancelled()),
            false => assert_eq!(soon(call).await.unwrap().unwrap_err().kind(), ErrorKind::Cancelled),
        }
    }
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_call_ends_at_its_deadline() {
    let server = Server::start();
    let _worker = Running::start(worker(&server, tools()));
    let backend = NatsBackend::new("fleet", connect(&server)).timeout(Duration::from_millis(200));
    let dispatcher = dispatcher(&backend, 1).await;
    let error = call(&dispatcher, "fleet:nap", json!({ "ms": 60_000 })).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn the_trace_context_reaches_the_tool() {
    let server = Server::start();
    let (_worker, dispatcher) = start(&server).await;
    let trace = TraceContext::new("00-ab-cd-01").tracestate("a=b").baggage("c=d");
    let context = Context::new().with(trace);
    let seen = soon(dispatcher.call_with(&context, "fleet:trace", "{}")).await.unwrap().value();
    assert_eq!(seen, json!(["00-ab-cd-01", "a=b", "c=d"]));
    // A line break would add a header.
    let context = Context::new().with(TraceContext::new("00\r\nTk-Call: x"));
    let seen = soon(dispatcher.call_with(&context, "fleet:trace", "{}")).await.unwrap().value();
    assert_eq!(seen, json!(["", null, null]));
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn many_calls_at_once_get_each_their_own_result() {
    let server = Server::start();
    let (_worker, dispatcher) = start(&server).await;
    let calls = (0..2_000_i64).map(|n| {
        let dispatcher = dispatcher.clone();
        tokio::spawn(async move { (n, call(&dispatcher, "math:add", json!({ "a": n, "b": n })).await) })
    });
    for call in calls.collect::<Vec<_>>() {
        let (n, sum) = soon(call).await.unwrap();
        assert_eq!(sum.unwrap(), 2 * n);
    }
}

#[test]
fn the_default_limits_of_a_worker_are_the_documented_ones() {
    let limits = WorkerLimits::default();
    assert_eq!((limits.max_calls, limits.max_body_bytes), (256, 256 << 20));
    let times = [limits.call_timeout, limits.shutdown_timeout, limits.beat];
    assert_eq!(times, [300, 30, 5].map(Duration::from_secs));
}
