//! `Retry`. The clock is paused and advances to the next timer.

use std::time::Duration;

use tokio::time::Instant;
use toolkit::call::ErrorKind;
use toolkit::{CancelToken, Context, ToolError};
use toolkit_tower::Retry;
use tower::retry::budget::TpsBudget;

use super::tools::dispatcher;

const MINUTE: Duration = Duration::from_secs(60);

/// A layer that uses the paused clock.
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
async fn idempotent_and_read_only_tools_are_retried() {
    for tool in ["flaky", "flaky_reader"] {
        let (dispatcher, seen) = dispatcher(|builder| builder.layer(retry()));
        seen.fail_with([unavailable(), ToolError::failed("busy").retryable(None)]);
        assert_eq!(dispatcher.call(tool, "{}").await.unwrap().value(), 3, "{tool}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_idempotent_call_whose_outcome_is_unknown_is_retried() {
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(retry()));
    let lost = || ToolError::new(ErrorKind::OutcomeUnknown, "the connection was lost");
    seen.fail_with([lost()]);
    assert_eq!(dispatcher.call("flaky", "{}").await.unwrap().value(), 2);
    seen.fail_with([lost()]);
    assert_eq!(dispatcher.call("flaky_unmarked", "{}").await.unwrap_err().kind(), ErrorKind::OutcomeUnknown);
}

#[tokio::test(start_paused = true)]
async fn a_tool_without_hints_is_not_retried() {
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(retry()));
    seen.fail_with([unavailable()]);
    assert_eq!(dispatcher.call("flaky_unmarked", "{}").await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(seen.begun(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_permanent_error_is_not_retried() {
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(retry()));
    seen.fail_with([ToolError::failed("there is no such file")]);
    assert_eq!(dispatcher.call("flaky", "{}").await.unwrap_err().kind(), ErrorKind::Failed);
    assert_eq!(seen.begun(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_streamed_call_is_not_retried() {
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
    // A call of the same tool without streaming is retried.
    seen.fail_with([unavailable()]);
    assert!(dispatcher.call("flaky_stream", "{}").await.is_ok());
    assert_eq!(seen.begun(), 4);
}

#[tokio::test(start_paused = true)]
async fn the_number_of_attempts_is_limited() {
    for n_attempts in [0, 1, 2, 7] {
        let (dispatcher, seen) = dispatcher(|builder| builder.layer(retry().attempts(n_attempts)));
        seen.fail_with(always());
        assert_eq!(dispatcher.call("flaky", "{}").await.unwrap_err().kind(), ErrorKind::Unavailable);
        assert_eq!(seen.begun(), n_attempts.max(1) as usize);
    }
}

#[tokio::test]
async fn each_delay_doubles_up_to_the_maximum_and_is_reduced_by_up_to_a_half() {
    const LIMITS: [u64; 5] = [1, 2, 4, 4, 4];

    let (sender, mut delays) = tokio::sync::mpsc::unbounded_channel();
    let timer = move |delay: Duration| {
        sender.send(delay).unwrap();
        std::future::ready(())
    };
    let retry = Retry::new().attempts(6).backoff(Duration::from_secs(1), Duration::from_secs(4)).timer(timer);
    // The default budget would withhold some of these retries.
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(retry.budget(TpsBudget::new(MINUTE, 1_000, 1.0))));
    let mut longest = [Duration::ZERO; LIMITS.len()];
    for _ in 0..50 {
        seen.fail_with(always().take(6));
        assert!(dispatcher.call("flaky", "{}").await.is_err());
        for (limit, longest) in LIMITS.map(Duration::from_secs).into_iter().zip(&mut longest) {
            let delay = delays.try_recv().unwrap();
            assert!(delay >= limit / 2 && delay <= limit, "{delay:?} of {limit:?}");
            *longest = delay.max(*longest);
        }
        assert!(delays.try_recv().is_err());
    }
    // Of 50 delays, all would be in the lower half of the range by a chance of 1 to 10^15.
    for (limit, longest) in LIMITS.map(Duration::from_secs).into_iter().zip(longest) {
        assert!(longest > limit * 3 / 4, "{longest:?} of {limit:?}");
    }
}

#[tokio::test]
async fn a_layer_makes_three_attempts_by_default() {
    for retry in [Retry::new(), Retry::default()] {
        let (dispatcher, seen) = dispatcher(|builder| builder.layer(retry.timer(|_| std::future::ready(()))));
        seen.fail_with(always());
        assert!(dispatcher.call("flaky", "{}").await.is_err());
        assert_eq!(seen.begun(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_respected_up_to_the_maximum_delay() {
    let hour = Duration::from_secs(3_600);
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(retry().backoff(Duration::from_millis(1), hour)));
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
async fn the_budget_limits_retries() {
    // Two retries per second, independent of successful calls.
    let budget = TpsBudget::new(Duration::from_secs(1), 2, 0.0);
    let retry = retry().backoff(Duration::ZERO, Duration::ZERO).attempts(100).budget(budget);
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(retry));
    seen.fail_with(always());
    for _ in 0..10 {
        assert!(dispatcher.call("flaky", "{}").await.is_err());
    }
    assert_eq!(seen.begun(), 10 + 2);
}

#[tokio::test(start_paused = true)]
async fn cancellation_ends_the_delay() {
    let week = Duration::from_secs(7 * 24 * 3_600);
    let (dispatcher, seen) = dispatcher(|builder| builder.layer(retry().backoff(week, week)));
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

// Tokio panics without a timer, which would abort a program that is built with `panic = "abort"`.
#[test]
fn calls_are_retried_without_a_tokio_timer() {
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
        dispatcher(|builder| builder.layer(Retry::new().backoff(Duration::from_millis(1), Duration::from_millis(1))));
    let call = || async {
        seen.fail_with([unavailable()]);
        dispatcher.call("flaky", "{}").await.unwrap();
    };
    test_support::block_on(call());
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(call());
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(call());
    assert_eq!(seen.begun(), 6);
}
