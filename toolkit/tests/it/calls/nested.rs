//! Calls made by tools, under the limits of the outer call.

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::json;
use toolkit::call::ErrorKind;
use toolkit::catalog::DiagnosticKind;
use toolkit::dispatch::DispatcherBuilder;
use toolkit::{Catalog, Chunks, Context, Dispatcher, RunResult, ToolError, catalog, handle, tool};

/// The dispatchers that the tools of this file call: their own, and another one.
#[derive(Default)]
pub struct Switchboard {
    own: OnceLock<Dispatcher>,
    other: OnceLock<Dispatcher>,
}

impl Switchboard {
    fn own(&self) -> &Dispatcher {
        self.own.get().expect("the test has set it")
    }
}

fn number(result: Result<RunResult, ToolError>) -> Result<u64, ToolError> {
    result.map(|result| result.value().as_u64().expect("a number"))
}

const fn arguments() -> &'static str {
    r#"{"n":1}"#
}

/// Adds one.
#[tool(namespace = "nested")]
fn add_one(n: u64) -> u64 {
    n + 1
}

/// Adds one, later.
#[tool(namespace = "nested")]
async fn add_one_later(n: u64) -> u64 {
    tokio::task::yield_now().await;
    n + 1
}

/// Adds one on a thread of its own.
#[tool(namespace = "nested", blocking)]
fn add_one_elsewhere(n: u64) -> u64 {
    n + 1
}

/// Gives numbers.
#[tool(namespace = "nested")]
fn numbers(n: u64) -> Chunks<u64> {
    Chunks::from_items(n..n + 1000)
}

/// Makes a call with its own context.
#[tool(namespace = "nested")]
async fn by_context(tool: String, ctx: &Context, calls: &Switchboard) -> Result<u64, ToolError> {
    number(calls.own().call_with(ctx, &tool, arguments()).await)
}

/// Makes a call with no context.
#[tool(namespace = "nested")]
async fn without_context(tool: String, calls: &Switchboard) -> Result<u64, ToolError> {
    number(calls.own().call(&tool, arguments()).await)
}

/// Makes many calls at once.
#[tool(namespace = "nested")]
async fn many_at_once(tool: String, calls: &Switchboard) -> Result<u64, ToolError> {
    let mut all: Vec<_> = (0..10).map(|_| Box::pin(calls.own().call(&tool, arguments()))).collect();
    let mut sum = 0;
    std::future::poll_fn(|cx| {
        all.retain_mut(|call| match call.as_mut().poll(cx) {
            std::task::Poll::Ready(result) => {
                sum += number(result).unwrap_or_default();
                false
            }
            std::task::Poll::Pending => true,
        });
        if all.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    Ok(sum / 10)
}

/// Makes a call from a task that has the context.
#[tool(namespace = "nested")]
async fn from_a_task(tool: String, ctx: &Context, calls: &Switchboard) -> Result<u64, ToolError> {
    let (dispatcher, ctx) = (calls.own().clone(), ctx.clone());
    let task = tokio::spawn(async move { number(dispatcher.call_with(&ctx, &tool, arguments()).await) });
    task.await.map_err(ToolError::internal)?
}

/// Makes a call from a task that has no context: nothing shows whose call it is.
#[tool(namespace = "nested")]
async fn from_a_strange_task(tool: String, calls: &Switchboard) -> Result<u64, ToolError> {
    let dispatcher = calls.own().clone();
    let task = tokio::spawn(async move { number(dispatcher.call(&tool, arguments()).await) });
    task.await.map_err(ToolError::internal)?
}

/// Makes a call and waits for it on a thread that may block.
#[tool(namespace = "nested", blocking)]
fn from_a_thread(tool: String, calls: &Switchboard) -> Result<u64, ToolError> {
    number(tokio::runtime::Handle::current().block_on(calls.own().call(&tool, arguments())))
}

/// Makes a call without waiting.
#[tool(namespace = "nested")]
fn without_waiting(tool: String, calls: &Switchboard) -> Result<u64, ToolError> {
    number(calls.own().call_sync(&tool, arguments()))
}

/// Makes a call as a stream.
#[tool(namespace = "nested")]
async fn as_a_stream(tool: String, calls: &Switchboard) -> Result<u64, ToolError> {
    let mut events = calls.own().stream(&tool, arguments());
    while let Some(event) = events.next().await {
        match event.event {
            toolkit::stream::Event::Done(result) => return number(Ok(result)),
            toolkit::stream::Event::Error(error) => return Err(error),
            _ => {}
        }
    }
    Err("the stream had no end".into())
}

/// Makes a typed call.
#[tool(namespace = "nested")]
async fn by_handle(tool: String, calls: &Switchboard) -> Result<u64, ToolError> {
    match &*tool {
        "add_one" => handle!(add_one).call(calls.own(), 1).await,
        "add_one_later" => handle!(add_one_later).call(calls.own(), 1).await,
        _ => handle!(add_one_elsewhere).call(calls.own(), 1).await,
    }
}

/// Makes a call by way of another dispatcher's tool.
#[tool(namespace = "nested")]
async fn there_and_back(tool: String, calls: &Switchboard) -> Result<u64, ToolError> {
    let other = calls.other.get().expect("the test has set it");
    number(other.call("nested:by_context", json!({ "tool": tool })).await)
}

fn build(configure: impl Fn(DispatcherBuilder) -> DispatcherBuilder) -> Dispatcher {
    let tools = || {
        catalog![
            add_one,
            add_one_later,
            add_one_elsewhere,
            numbers,
            by_context,
            without_context,
            many_at_once,
            from_a_task,
            from_a_strange_task,
            from_a_thread,
            without_waiting,
            as_a_stream,
            by_handle,
            there_and_back
        ]
        .unwrap()
    };
    let calls = Arc::new(Switchboard::default());
    let build = |catalog: Catalog| {
        configure(Dispatcher::builder(catalog).shared_state(Arc::clone(&calls)).concurrency(1)).build().unwrap()
    };
    let (own, other) = (build(tools()), build(tools()));
    calls.own.set(own.clone()).ok().unwrap();
    calls.other.set(other).ok().unwrap();
    own
}

/// Long enough for any machine, and shorter than a deadlock.
async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), work).await.expect("the call hangs")
}

async fn all_callers(configure: impl Fn(DispatcherBuilder) -> DispatcherBuilder) {
    let dispatcher = build(configure);
    for caller in [
        "by_context",
        "without_context",
        "many_at_once",
        "from_a_task",
        "from_a_thread",
        "as_a_stream",
        "by_handle",
        "there_and_back",
        "without_waiting",
    ] {
        for tool in ["add_one", "add_one_later", "add_one_elsewhere"] {
            if caller == "without_waiting" && tool == "add_one_later" {
                continue;
            }
            let arguments = json!({ "tool": tool });
            let result = soon(dispatcher.call(caller, arguments)).await;
            assert_eq!(result.unwrap_or_else(|error| panic!("{caller} {tool}: {error}")).value(), json!(2), "{caller}");
        }
    }
    // The permit is free again.
    assert_eq!(dispatcher.call_sync("add_one", arguments()).unwrap().value(), json!(2));
}

#[tokio::test]
async fn a_call_that_a_tool_makes_runs_under_the_tools_permit() {
    all_callers(|builder| builder).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_it_does_on_several_threads_and_with_a_timeout() {
    all_callers(|builder| builder.timeout(Duration::from_secs(120))).await;
}

#[tokio::test]
async fn a_call_not_attributed_to_its_tool_fails_instead_of_waiting_forever() {
    let dispatcher = build(|builder| builder.acquire_timeout(Duration::from_millis(30)));
    let error = soon(dispatcher.call("from_a_strange_task", json!({ "tool": "add_one" }))).await.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Overloaded, true));
    assert_eq!(error.message(), "the concurrency limit of 1 calls is reached; try again later");
    assert_eq!(soon(dispatcher.call("add_one", arguments())).await.unwrap().value(), json!(2));
}

#[tokio::test]
async fn an_unpolled_stream_holds_its_permit_and_other_calls_time_out() {
    let dispatcher = build(|builder| builder.acquire_timeout(Duration::from_millis(30)));
    let mut stream = dispatcher.stream("numbers", arguments());
    soon(stream.next()).await.unwrap();
    let error = soon(dispatcher.call("add_one", arguments())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Overloaded);
    drop(stream);
    assert!(soon(dispatcher.call("add_one", arguments())).await.is_ok());
}

#[test]
fn a_limit_of_no_calls_is_an_error_of_the_builder() {
    let problems = Dispatcher::builder(catalog![add_one].unwrap()).concurrency(0).build().unwrap_err();
    let kinds: Vec<DiagnosticKind> = problems.iter().map(|problem| problem.kind()).collect();
    assert_eq!(kinds, [DiagnosticKind::InvalidSetting]);
    assert!(problems.to_string().contains("the concurrency limit is 0"), "{problems}");
}

/// Keeps its context for later.
#[tool(namespace = "nested")]
fn keep_context(ctx: &Context, kept: &OnceLock<Context>) {
    kept.set(ctx.clone()).ok();
}

/// Waits.
#[tool(namespace = "nested")]
async fn hold(released: &tokio::sync::Notify) {
    released.notified().await;
}

#[tokio::test]
async fn a_context_that_outlives_its_call_takes_permits_like_any_other() {
    let (kept, released) = (Arc::new(OnceLock::new()), Arc::new(tokio::sync::Notify::new()));
    let dispatcher = Dispatcher::builder(catalog![keep_context, hold, add_one].unwrap())
        .shared_state(Arc::clone(&kept))
        .shared_state(Arc::clone(&released))
        .concurrency(1)
        .acquire_timeout(Duration::from_millis(30))
        .build()
        .unwrap();
    dispatcher.call("keep_context", "{}").await.unwrap();
    let kept = kept.get().unwrap();
    let mut holding = Box::pin(dispatcher.call("hold", "{}"));
    let early = std::future::poll_fn(|cx| std::task::Poll::Ready(holding.as_mut().poll(cx).is_ready())).await;
    assert!(!early);
    let error = soon(dispatcher.call_with(kept, "add_one", arguments())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Overloaded);
    released.notify_one();
    soon(holding).await.unwrap();
    assert!(soon(dispatcher.call_with(kept, "add_one", arguments())).await.is_ok());
}
