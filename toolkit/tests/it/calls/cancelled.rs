//! Cancellation of work whose result is no longer needed, wherever it runs.

use std::sync::mpsc;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use toolkit::call::ErrorKind;
use toolkit::{CancelToken, Context, Dispatcher, catalog, handle, tool};

/// The channels between the tools of this file and the tests.
pub struct Desk {
    told: Mutex<mpsc::Sender<&'static str>>,
    calls: OnceLock<Dispatcher>,
}

impl Desk {
    fn tell(&self, what: &'static str) {
        // The test may be over.
        let _ = self.told.lock().unwrap().send(what);
    }
}

/// Waits on a thread of its own until the call is cancelled.
#[tool(namespace = "cancelled", blocking, timeout = "20ms")]
fn listen(ctx: &Context, desk: &Desk) {
    tokio::runtime::Handle::current().block_on(ctx.cancelled());
    assert!(ctx.is_cancelled());
    desk.tell("listen");
}

/// Makes a call, from a thread of its own, that never ends by itself.
#[tool(namespace = "cancelled", blocking)]
fn pass_on(ctx: &Context, desk: &Desk) {
    let dispatcher = desk.calls.get().expect("the test has set it");
    let call = dispatcher.call_with(ctx, "listen_on", "{}");
    // The call is cancelled, unless the tool, which the same signal wakes, ends first.
    let outcome = tokio::runtime::Handle::current().block_on(call);
    assert!(ctx.is_cancelled(), "{outcome:?}");
    desk.tell("pass_on");
}

/// Waits, on a thread of its own, without a timeout.
#[tool(namespace = "cancelled", blocking)]
fn listen_on(ctx: &Context, desk: &Desk) {
    desk.tell("started");
    tokio::runtime::Handle::current().block_on(ctx.cancelled());
    desk.tell("listen_on");
}

/// Never ends, and says when it starts.
#[tool(namespace = "cancelled")]
async fn wait(ctx: &Context, desk: &Desk) {
    desk.tell("started");
    ctx.cancelled().await;
    std::future::pending::<()>().await;
}

/// Makes a call that it may cancel itself.
#[tool(namespace = "cancelled")]
async fn with_own_token(ctx: &Context, desk: &Desk) {
    let dispatcher = desk.calls.get().expect("the test has set it");
    let own = ctx.clone().with_cancel(CancelToken::new());
    let error = dispatcher.call_with(&own, "wait", "{}").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}

fn desk() -> (Dispatcher, mpsc::Receiver<&'static str>) {
    let (told, hears) = mpsc::channel();
    let desk = Arc::new(Desk { told: Mutex::new(told), calls: OnceLock::new() });
    let catalog = catalog![listen, pass_on, listen_on, wait, with_own_token].unwrap();
    let dispatcher = Dispatcher::builder(catalog).shared_state(Arc::clone(&desk)).build().unwrap();
    desk.calls.set(dispatcher.clone()).ok().unwrap();
    (dispatcher, hears)
}

fn hear(hears: &mpsc::Receiver<&'static str>) -> &'static str {
    hears.recv_timeout(Duration::from_secs(60)).expect("the tool was not told")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abandoned_blocking_tool_is_woken_after_its_timeout() {
    let (dispatcher, hears) = desk();
    assert_eq!(dispatcher.call("listen", "{}").await.unwrap_err().kind(), ErrorKind::TimedOut);
    assert_eq!(hear(&hears), "listen");
    assert_eq!(handle!(listen).call(&dispatcher, ()).await.unwrap_err().kind(), ErrorKind::TimedOut);
    assert_eq!(hear(&hears), "listen");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_tokens_cancel_independently() {
    let (dispatcher, hears) = desk();
    let context = Context::new().with_cancel(CancelToken::new());
    assert_eq!(dispatcher.call_with(&context, "listen", "{}").await.unwrap_err().kind(), ErrorKind::TimedOut);
    assert_eq!(hear(&hears), "listen");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cancellation_of_a_caller_reaches_the_calls_of_its_tool() {
    let (dispatcher, hears) = desk();
    let given_up = dispatcher.clone();
    let given_up = tokio::spawn(async move { given_up.call("pass_on", "{}").await });
    assert_eq!(hear(&hears), "started");
    given_up.abort();
    let mut heard = [hear(&hears), hear(&hears)];
    heard.sort_unstable();
    assert_eq!(heard, ["listen_on", "pass_on"]);

    let token = CancelToken::new();
    let context = Context::new().with_cancel(token.clone());
    let call = tokio::spawn(async move { dispatcher.call_with(&context, "pass_on", "{}").await });
    token.cancel();
    // A task that the token has woken may end before its caller is dropped.
    let outcome = call.await.unwrap();
    assert!(outcome.is_ok() || outcome.unwrap_err().kind() == ErrorKind::Cancelled);
}

#[tokio::test]
async fn a_token_of_a_tools_own_does_not_replace_its_callers() {
    let (dispatcher, hears) = desk();
    let token = CancelToken::new();
    let context = Context::new().with_cancel(token.clone());
    let call = dispatcher.call_with(&context, "with_own_token", "{}");
    let cancel = async {
        while hears.try_recv().is_err() {
            tokio::task::yield_now().await;
        }
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(call, cancel);
    // The tool ends because the call that it made was cancelled, or is cancelled first.
    assert!(outcome.is_ok() || outcome.unwrap_err().kind() == ErrorKind::Cancelled);
}

#[tokio::test]
async fn each_of_several_tokens_cancels() {
    for idx in 0..3 {
        let tokens = [CancelToken::new(), CancelToken::new(), CancelToken::new()];
        let context = tokens.iter().fold(Context::new(), |context, token| context.with_cancel(token.clone()));
        assert!(!context.is_cancelled());
        let (waiting, token) = (context.clone(), tokens[idx].clone());
        let waiting = tokio::spawn(async move { waiting.cancelled().await });
        tokio::task::yield_now().await;
        token.cancel();
        waiting.await.unwrap();
        assert!(context.is_cancelled());
    }
}
