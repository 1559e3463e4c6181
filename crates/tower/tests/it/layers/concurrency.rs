//! `ConcurrencyPerTool`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use test_support::wait::until;
use toolkit::call::ErrorKind;
use toolkit::{CancelToken, Context, Dispatcher};
use toolkit_tower::ConcurrencyPerTool;

use super::tools::{Seen, dispatcher};

fn limited(limit: ConcurrencyPerTool) -> (Dispatcher, Seen) {
    dispatcher(|builder| builder.layer(limit))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_thousand_calls_respect_the_limit_and_all_end() {
    const CALLS: usize = 10_000;

    let (dispatcher, seen) = limited(ConcurrencyPerTool::new(5));
    let ended = Arc::new(AtomicUsize::new(0));
    let mut calls = Vec::new();
    for n in 0..CALLS {
        let (dispatcher, ended) = (dispatcher.clone(), Arc::clone(&ended));
        calls.push(tokio::spawn(async move {
            let result = dispatcher.call("echo", format!(r#"{{"n":{n}}}"#)).await.unwrap();
            assert_eq!(result.value(), n);
            ended.fetch_add(1, Ordering::SeqCst);
        }));
    }
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!((ended.load(Ordering::SeqCst), seen.begun(), seen.running()), (CALLS, CALLS, 0));
    assert!((2..=5).contains(&seen.most()), "{} ran at once", seen.most());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_outcome_of_a_call_releases_its_permit() {
    const CALLS: usize = 10_000;

    let (dispatcher, seen) = limited(ConcurrencyPerTool::new(7));
    let mut calls = Vec::new();
    for n in 0..CALLS {
        let (dispatcher, token) = (dispatcher.clone(), CancelToken::new());
        let context = Context::new().with_cancel(token.clone());
        calls.push(tokio::spawn(async move {
            let (tool, expected) = match n % 4 {
                0 => ("panics", ErrorKind::Panicked),
                1 => ("lies", ErrorKind::InvalidOutput),
                _ => ("hangs", ErrorKind::Cancelled),
            };
            let call = dispatcher.call_with(&context, tool, "{}");
            let later = async {
                for _ in 0..n % 7 {
                    tokio::task::yield_now().await;
                }
            };
            if n % 4 == 3 {
                // Dropped while it waits or runs.
                tokio::select! { _ = call => unreachable!("it hangs"), () = later => return }
            }
            let (outcome, ()) = tokio::join!(call, async {
                later.await;
                token.cancel();
            });
            let kind = outcome.unwrap_err().kind();
            assert!(kind == expected || kind == ErrorKind::Cancelled, "{tool}: {kind:?}");
        }));
    }
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(seen.running(), 0);
    // Every permit is free again.
    let mut hanging = Vec::new();
    for n in 1..=7 {
        let dispatcher = dispatcher.clone();
        hanging.push(tokio::spawn(async move { dispatcher.call("hangs", "{}").await.map(drop) }));
        until(async || seen.running() == n).await;
    }
    hanging.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn one_tool_does_not_wait_for_another() {
    let (dispatcher, seen) = limited(ConcurrencyPerTool::new(1));
    let hanging = dispatcher.clone();
    let hanging = tokio::spawn(async move { hanging.call("hangs", "{}").await.map(drop) });
    until(async || seen.running() == 1).await;
    dispatcher.call("echo", r#"{"n":1}"#).await.unwrap();
    hanging.abort();
}

#[tokio::test]
async fn excess_calls_are_rejected_on_request() {
    let (dispatcher, seen) = limited(ConcurrencyPerTool::new(1).reject_excess());
    let hanging = dispatcher.clone();
    let hanging = tokio::spawn(async move { hanging.call("hangs", "{}").await.map(drop) });
    until(async || seen.running() == 1).await;
    let error = dispatcher.call("hangs", "{}").await.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Overloaded, true));
    assert_eq!(error.to_string(), "layers:hangs: concurrency limit of this tool reached; try again later");
    hanging.abort();
    until(async || seen.running() == 0).await;
    for _ in 0..3 {
        assert_eq!(dispatcher.call("panics", "{}").await.unwrap_err().kind(), ErrorKind::Panicked);
    }
}

#[tokio::test]
async fn each_tool_has_its_own_limit() {
    let limit = ConcurrencyPerTool::with_limits(|tool| match tool.name() {
        "echo" => Some(0),
        "echo_too" => Some(usize::MAX),
        _ => None,
    });
    for limit in [limit.clone(), limit.reject_excess()] {
        let (dispatcher, seen) = limited(limit);
        assert_eq!(dispatcher.call("echo", r#"{"n":1}"#).await.unwrap_err().kind(), ErrorKind::Overloaded);
        dispatcher.call("echo_too", r#"{"n":1}"#).await.unwrap();
        dispatcher.call("append", "{}").await.unwrap();
        assert_eq!(seen.begun(), 2);
    }
}

#[tokio::test]
async fn cancellation_ends_the_wait_for_a_permit() {
    let (dispatcher, seen) = limited(ConcurrencyPerTool::new(1));
    let hanging = dispatcher.clone();
    let hanging = tokio::spawn(async move { hanging.call("hangs", "{}").await.map(drop) });
    until(async || seen.running() == 1).await;
    let token = CancelToken::new();
    let context = Context::new().with_cancel(token.clone());
    let cancel = async { token.cancel() };
    let (outcome, ()) = tokio::join!(dispatcher.call_with(&context, "hangs", "{}"), cancel);
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(seen.begun(), 1);
    hanging.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abandoned_blocking_tool_keeps_its_permit() {
    // The permit of the inner layer must not replace that of the outer one.
    let (outer, inner) = (ConcurrencyPerTool::new(1).reject_excess(), ConcurrencyPerTool::new(2).reject_excess());
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(outer).layer(inner));
    let first = dispatcher.clone();
    let first = tokio::spawn(async move { first.call("stays", "{}").await.map(drop) });
    until(async || seen.running() == 1).await;
    first.abort();
    let _ = first.await;
    for _ in 0..3 {
        assert_eq!(dispatcher.call("stays", "{}").await.unwrap_err().kind(), ErrorKind::Overloaded);
    }
    seen.let_go();
    until(async || seen.running() == 0).await;
    // The permit is released with the last reference to the context in the thread.
    while let Err(error) = dispatcher.call("stays", "{}").await {
        assert_eq!(error.kind(), ErrorKind::Overloaded);
    }
    assert_eq!((seen.begun(), seen.most()), (2, 1));
}

#[tokio::test]
async fn clones_of_a_layer_share_their_permits() {
    let limit = ConcurrencyPerTool::new(1).reject_excess();
    let ((one, seen), (other, _)) = (limited(limit.clone()), limited(limit));
    let hanging = tokio::spawn(async move { one.call("hangs", "{}").await.map(drop) });
    until(async || seen.running() == 1).await;
    assert_eq!(other.call("hangs", "{}").await.unwrap_err().kind(), ErrorKind::Overloaded);
    hanging.abort();
}
