//! Threads, timing and limits of typed calls are those of calls with JSON.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use test_support::wait::until;
use toolkit::call::{Credentials, ErrorKind};
use toolkit::{CancelToken, Context, Dispatcher, ToolError, catalog, handle, tool};

/// The channels between the tools of this file and the tests.
#[derive(Default)]
pub struct Seen {
    running: AtomicUsize,
    most: AtomicUsize,
    ended: AtomicUsize,
}

/// Blocks until it is cancelled; gives up on its own after a minute.
#[tool(namespace = "typed", blocking)]
fn block(ctx: &Context, seen: &Seen) {
    seen.most.fetch_max(seen.running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
    let start = Instant::now();
    while !ctx.is_cancelled() && start.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(1));
    }
    seen.running.fetch_sub(1, Ordering::SeqCst);
    seen.ended.fetch_add(1, Ordering::SeqCst);
}

/// The thread it runs on, as it prints.
#[tool(namespace = "typed", blocking)]
fn where_am_i() -> String {
    format!("{:?}", thread::current().id())
}

/// Fails, in one way or another.
#[tool(namespace = "typed", blocking)]
fn fail(panics: bool) -> Result<u8, ToolError> {
    if panics { panic!("secret of a tool") } else { Err("no".into()) }
}

/// Tells the secret.
#[tool(namespace = "typed", blocking, requires(secret = "KEY"))]
fn tell(ctx: &Context) -> bool {
    ctx.secret("KEY").is_some() && ctx.secret("OTHER").is_none()
}

fn dispatcher(
    configure: impl Fn(toolkit::dispatch::DispatcherBuilder) -> toolkit::dispatch::DispatcherBuilder,
) -> (Dispatcher, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let builder = Dispatcher::builder(catalog![block, where_am_i, fail, tell].unwrap());
    (configure(builder.shared_state(Arc::clone(&seen))).build().unwrap(), seen)
}

#[tokio::test]
async fn a_blocking_tool_leaves_the_thread_of_its_caller() {
    let (dispatcher, _) = dispatcher(|builder| builder);
    let here: ThreadId = thread::current().id();
    assert_ne!(handle!(where_am_i).call(&dispatcher, ()).await.unwrap(), format!("{here:?}"));
}

#[tokio::test]
async fn a_timeout_cancels_the_context_of_a_blocking_tool() {
    let (dispatcher, seen) = dispatcher(|builder| builder.timeout(Duration::from_millis(20)).concurrency(1));
    let error = handle!(block).call(&dispatcher, ()).await.unwrap_err();
    assert_eq!((error.kind(), error.tool()), (ErrorKind::TimedOut, Some("typed:block")));
    until(async || seen.ended.load(Ordering::SeqCst) == 1).await;
}

#[tokio::test]
async fn a_blocking_tool_is_cancelled() {
    let (dispatcher, seen) = dispatcher(|builder| builder);
    let token = CancelToken::new();
    let context = Context::new().with_cancel(token.clone());
    let cancel = async {
        until(async || seen.running.load(Ordering::SeqCst) == 1).await;
        token.cancel();
    };
    let typed = handle!(block);
    let (outcome, ()) = tokio::join!(typed.call_with(&context, &dispatcher, ()), cancel);
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Cancelled);
    until(async || seen.ended.load(Ordering::SeqCst) == 1).await;
}

#[tokio::test]
async fn typed_calls_and_others_take_permits_of_one_limit() {
    let (dispatcher, seen) = dispatcher(|builder| builder.concurrency(1).timeout(Duration::from_millis(10)));
    for _ in 0..3 {
        let typed = handle!(block);
        let (typed, other) = tokio::join!(typed.call(&dispatcher, ()), dispatcher.call("block", "{}"));
        assert!(typed.is_err() && other.is_err());
    }
    until(async || seen.running.load(Ordering::SeqCst) == 0).await;
    assert_eq!(seen.most.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn its_failure_and_its_panic_are_the_calls_error() {
    let (dispatcher, _) = dispatcher(|builder| builder);
    let error = handle!(fail).call(&dispatcher, false).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Failed, "no"));
    let error = handle!(fail).call(&dispatcher, true).await.unwrap_err();
    assert_eq!((error.kind(), error.message().contains("secret")), (ErrorKind::Panicked, false));
}

#[tokio::test]
async fn it_sees_the_credentials_that_it_requires() {
    let (dispatcher, _) = dispatcher(|builder| builder);
    assert_eq!(handle!(tell).call(&dispatcher, ()).await.unwrap_err().kind(), ErrorKind::MissingRequirements);
    let credentials = Credentials::new().with_secret("KEY", "1").with_secret("OTHER", "2");
    let context = Context::new().with_credentials(credentials);
    assert!(handle!(tell).call_with(&context, &dispatcher, ()).await.unwrap());
}

#[test]
fn a_blocking_tool_needs_a_runtime() {
    let (dispatcher, _) = dispatcher(|builder| builder);
    let typed = handle!(where_am_i);
    let mut call = std::pin::pin!(typed.call(&dispatcher, ()));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(outcome) = std::future::Future::poll(call.as_mut(), &mut cx) else {
        panic!("it waits for something")
    };
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::NeedsRuntime);
}
