//! `RateLimit`, with periods that are much longer than a test.

use std::time::Duration;

use toolkit::call::ErrorKind;
use toolkit::{Dispatcher, ToolError};
use toolkit_tower::{Rate, RateLimit};

use super::tools::dispatcher;

const HOUR: Duration = Duration::from_secs(3_600);

async fn echo(dispatcher: &Dispatcher, tool: &str) -> Result<(), ToolError> {
    dispatcher.call(tool, r#"{"n":1}"#).await.map(drop)
}

#[tokio::test]
async fn excess_calls_are_rejected_with_retry_after() {
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(RateLimit::overall(Rate::new(4, HOUR))));
    for tool in ["echo", "echo_too", "echo", "echo_too"] {
        echo(&dispatcher, tool).await.unwrap();
    }
    let error = echo(&dispatcher, "echo").await.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Overloaded, true));
    let after = error.retry_after().unwrap();
    assert!(Duration::ZERO < after && after <= HOUR / 4, "{after:?}");
    let said: u128 = error.message().trim_end_matches(" s").rsplit(' ').next().unwrap().parse().unwrap();
    assert_eq!(said, after.as_millis().div_ceil(1000), "{error}");
    assert_eq!(seen.begun(), 4);
}

#[tokio::test]
async fn each_tool_has_its_own_quota() {
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(RateLimit::per_tool(Rate::new(2, HOUR))));
    for tool in ["echo", "echo_too", "echo", "echo_too"] {
        echo(&dispatcher, tool).await.unwrap();
    }
    assert_eq!(echo(&dispatcher, "echo").await.unwrap_err().kind(), ErrorKind::Overloaded);
    assert_eq!(echo(&dispatcher, "echo_too").await.unwrap_err().kind(), ErrorKind::Overloaded);
    // The same tool under an alias.
    assert_eq!(echo(&dispatcher, "layers:echo").await.unwrap_err().kind(), ErrorKind::Overloaded);
    assert_eq!(seen.begun(), 4);
}

#[tokio::test]
async fn a_host_sets_the_rate_of_each_tool() {
    let limit = RateLimit::with_rates(|tool| (tool.name() == "echo").then(|| Rate::new(1, HOUR)));
    let (dispatcher, _) = dispatcher(|builder| builder.layer(limit));
    echo(&dispatcher, "echo").await.unwrap();
    assert_eq!(echo(&dispatcher, "echo").await.unwrap_err().kind(), ErrorKind::Overloaded);
    for _ in 0..100 {
        echo(&dispatcher, "echo_too").await.unwrap();
    }
}

#[tokio::test]
async fn extreme_rates_do_not_panic() {
    let times = [Duration::ZERO, Duration::from_nanos(1), Duration::from_secs(1), Duration::MAX];
    for (n_calls, per) in [0, 1, u32::MAX].into_iter().flat_map(|n_calls| times.map(|per| (n_calls, per))) {
        for limit in [RateLimit::overall(Rate::new(n_calls, per)), RateLimit::per_tool(Rate::new(n_calls, per))] {
            let (dispatcher, _) = dispatcher(|builder| builder.layer(limit));
            assert!(echo(&dispatcher, "echo").await.is_ok(), "{n_calls} in {per:?}");
            // The call ends, with any outcome.
            let _ = echo(&dispatcher, "echo").await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_calls_respect_the_rate() {
    const CALLS: usize = 10_000;

    let (dispatcher, seen) = dispatcher(|builder| builder.layer(RateLimit::overall(Rate::new(100, 1_000 * HOUR))));
    let calls: Vec<_> = (0..CALLS)
        .map(|_| {
            let dispatcher = dispatcher.clone();
            tokio::spawn(async move { echo(&dispatcher, "echo").await.is_ok() })
        })
        .collect();
    let mut n_passed = 0;
    for call in calls {
        n_passed += usize::from(call.await.unwrap());
    }
    assert_eq!((n_passed, seen.begun()), (100, 100));
}
