//! Calls that are made again. The clock stands still, and jumps to the next moment for which anybody waits.

use std::time::Duration;

use tokio::time::Instant;
use toolkit::call::ErrorKind;
use toolkit::{CancelToken, Context, ToolError};
use toolkit_tower::Retry;
use tower::retry::budget::TpsBudget;

use super::tools::dispatcher;

/// By the clock of the test.
fn retry() -> Retry {
    Retry::new().timer(tokio::time::sleep)
}

fn unavailable() -> ToolError {
    ToolError::new(ErrorKind::Unavailable, "not now")
}

fn always() -> impl Iterator<Item = ToolError> {
    std::iter::repeat_with(unavailable).take(100)
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_says_that_it_may_be_called_again_is() {
    for tool in ["flaky", "flaky_reader"] {
        let (dispatcher, seen) = dispatcher(|builder| builder.layer(retry()));
        seen.fail_with([unavailable(), ToolError::failed("busy").retryable(None)]);
        assert_eq!(dispatcher.call(tool, "{}").await.unwrap().value(), 3, "{tool}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_says_nothing_is_called_once() {
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(retry()));
    seen.fail_with([unavailable()]);
    assert_eq!(dispatcher.call("flaky_unmarked", "{}").await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(seen.begun(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_error_that_stays_is_not_tried_again() {
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(retry()));
    seen.fail_with([ToolError::failed("there is no such file")]);
    assert_eq!(dispatcher.call("flaky", "{}").await.unwrap_err().kind(), ErrorKind::Failed);
    assert_eq!(seen.begun(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_streamed_call_is_made_once() {
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(retry()));
    for tool in ["flaky_stream", "flaky"] {
        seen.fail_with([unavailable()]);
        let mut events = dispatcher.stream(tool, "{}");
        let mut kinds = Vec::new();
        while let Some(event) = events.next().await {
            kinds.push(event.event.kind());
        }
        assert_eq!(kinds, ["error"], "{tool}");
    }
    assert_eq!(seen.begun(), 2);
    // The same tool, its result taken as a whole, is called again.
    seen.fail_with([unavailable()]);
    assert!(dispatcher.call("flaky_stream", "{}").await.is_ok());
    assert_eq!(seen.begun(), 4);
}

#[tokio::test(start_paused = true)]
async fn there_are_as_many_attempts_as_were_allowed() {
    for n_attempts in [0, 1, 2, 7] {
        let (dispatcher, seen) = dispatcher(|builder| builder.layer(retry().attempts(n_attempts)));
        seen.fail_with(always());
        assert_eq!(dispatcher.call("flaky", "{}").await.unwrap_err().kind(), ErrorKind::Unavailable);
        assert_eq!(seen.begun(), n_attempts.max(1) as usize);
    }
}

#[tokio::test(start_paused = true)]
async fn waits_double_up_to_the_longest_and_half_of_each_is_chance() {
    let retry = retry().attempts(6).waits(Duration::from_secs(1), Duration::from_secs(4));
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(retry));
    let mut waits = Vec::new();
    for _ in 0..20 {
        seen.fail_with(always().take(6));
        let start = Instant::now();
        assert!(dispatcher.call("flaky", "{}").await.is_err());
        // 1 + 2 + 4 + 4 + 4 s, and at least half of each.
        let waited = start.elapsed();
        assert!((Duration::from_millis(7_500)..=Duration::from_millis(15_010)).contains(&waited), "{waited:?}");
        waits.push(waited);
    }
    waits.dedup();
    assert!(waits.len() > 10, "those who failed together come back together: {waits:?}");
}

#[tokio::test(start_paused = true)]
async fn what_the_error_asks_for_is_waited_for_unless_it_is_too_long() {
    let hour = Duration::from_secs(3_600);
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(retry().waits(Duration::from_millis(1), hour)));
    seen.fail_with([unavailable().retryable(hour)]);
    let start = Instant::now();
    assert!(dispatcher.call("flaky", "{}").await.is_ok());
    assert!(start.elapsed() >= hour);

    seen.fail_with([unavailable().retryable(hour + Duration::from_millis(1))]);
    let (start, n_before) = (Instant::now(), seen.begun());
    let error = dispatcher.call("flaky", "{}").await.unwrap_err();
    assert!(error.retry_after() > Some(hour));
    assert_eq!((start.elapsed(), seen.begun()), (Duration::ZERO, n_before + 1));
}

#[tokio::test(start_paused = true)]
async fn when_most_calls_fail_the_budget_ends_the_trying() {
    // Two attempts more in a second, whatever succeeds.
    let budget = TpsBudget::new(Duration::from_secs(1), 2, 0.0);
    let retry = retry().waits(Duration::ZERO, Duration::ZERO).attempts(100).budget(budget);
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(retry));
    seen.fail_with(always());
    for _ in 0..10 {
        assert!(dispatcher.call("flaky", "{}").await.is_err());
    }
    assert_eq!(seen.begun(), 10 + 2);
}

#[tokio::test(start_paused = true)]
async fn who_gives_up_does_not_wait_for_another_attempt() {
    let week = Duration::from_secs(7 * 24 * 3_600);
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(retry().waits(week, week)));
    seen.fail_with(always());
    let token = CancelToken::new();
    let context = Context::new().with_cancel(token.clone());
    let start = Instant::now();
    let give_up = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(dispatcher.call_with(&context, "flaky", "{}"), give_up);
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!((seen.begun(), start.elapsed().as_secs()), (1, 1));
}

// Tokio panics if it is asked for a timer where there is none. Nothing may panic here: a program may be built so that it
// aborts.
#[test]
fn calls_are_made_again_without_timers_of_a_runtime_and_without_a_panic() {
    let default = std::panic::take_hook();
    let this = std::thread::current().id();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() == this {
            eprintln!("{info}");
            std::process::abort();
        }
        default(info);
    }));
    let (dispatcher, seen) =
        dispatcher(|builder| builder.layer(Retry::new().waits(Duration::from_millis(1), Duration::from_millis(1))));
    let call = || async {
        seen.fail_with([unavailable()]);
        dispatcher.call("flaky", "{}").await.unwrap();
    };
    toolkit_tests::block_on(call());
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(call());
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(call());
    assert_eq!(seen.begun(), 6);
}
