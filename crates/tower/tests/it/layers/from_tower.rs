//! `FromTower`.

use std::time::Duration;

use test_support::wait::until;
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit::dispatch::Call;
use toolkit_tower::{FromTower, Retry};
use tower::ServiceBuilder;
use tower::limit::ConcurrencyLimitLayer;
use tower::timeout::TimeoutLayer;
use tower::util::MapErrLayer;

use super::tools::dispatcher;

#[tokio::test(start_paused = true)]
async fn an_elapsed_timeout_is_timed_out() {
    let limit = FromTower::new(TimeoutLayer::new(Duration::from_secs(1)));
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(limit));
    let error = dispatcher.call("hangs", "{}").await.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::TimedOut, true));
    assert_eq!(error.to_string(), "layers:hangs: the call reached its timeout");
    assert_eq!(seen.running(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_inside_retry_applies_to_an_attempt_and_outside_to_the_call() {
    let limit = || FromTower::new(TimeoutLayer::new(Duration::from_secs(1)));
    let retry = || Retry::new().attempts(3).backoff(Duration::from_millis(10), Duration::from_millis(10));
    let (within, seen) = dispatcher(|builder| builder.layer(retry()).layer(limit()));
    assert_eq!(within.call("hangs", "{}").await.unwrap_err().kind(), ErrorKind::TimedOut);
    assert_eq!(seen.begun(), 3);
    let (around, seen) = dispatcher(|builder| builder.layer(limit()).layer(retry()));
    assert_eq!(around.call("hangs", "{}").await.unwrap_err().kind(), ErrorKind::TimedOut);
    assert_eq!(seen.begun(), 1);
}

#[tokio::test]
async fn a_shed_call_is_overloaded() {
    let bounds = ServiceBuilder::new().load_shed().concurrency_limit(1);
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(FromTower::new(bounds)));
    let hanging = dispatcher.clone();
    let hanging = tokio::spawn(async move { hanging.call("hangs", "{}").await.map(drop) });
    until(async || seen.running() == 1).await;
    let error = dispatcher.call("echo", r#"{"n":1}"#).await.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Overloaded, true));
    hanging.abort();
    let _ = hanging.await;
    dispatcher.call("echo", r#"{"n":1}"#).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_concurrency_limit_applies_to_all_calls() {
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(FromTower::new(ConcurrencyLimitLayer::new(3))));
    let calls: Vec<_> = (0..10_000)
        .map(|n| {
            let dispatcher = dispatcher.clone();
            let tool = if n % 2 == 0 { "echo" } else { "echo_too" };
            tokio::spawn(async move { dispatcher.call(tool, r#"{"n":1}"#).await.map(drop) })
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!((seen.begun(), seen.running()), (10_000, 0));
    assert!(seen.most() <= 3, "{} ran at once", seen.most());
}

#[tokio::test]
async fn tool_errors_pass_and_unknown_errors_are_masked() {
    let unknown = MapErrLayer::new(|_: ToolError| std::io::Error::other("hunter2"));
    let (dispatcher, _) = dispatcher(|builder| builder.layer(FromTower::new(unknown)));
    let error = dispatcher.call("panics", "{}").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert!(!error.to_string().contains("hunter2"), "{error}");

    let known = MapErrLayer::new(|error: ToolError| -> Box<dyn std::error::Error + Send + Sync> { error.into() });
    let (dispatcher, _) = super::tools::dispatcher(|builder| builder.layer(FromTower::new(known)));
    assert_eq!(dispatcher.call("panics", "{}").await.unwrap_err().kind(), ErrorKind::Panicked);
}

#[tokio::test]
async fn a_service_builder_combines_layers_of_both_crates() {
    let first = |call: Call| call;
    let stack = ServiceBuilder::new().layer(toolkit_tower::Traced::new()).map_request(first).layer(Retry::new());
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(stack));
    dispatcher.call("flaky", "{}").await.unwrap();
    assert_eq!(seen.begun(), 1);
}
