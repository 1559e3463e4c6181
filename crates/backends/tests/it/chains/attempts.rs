//! Steps whose tools are called again.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use toolkit::{Dispatcher, catalog, tool};

use super::*;

static N_CALLS: AtomicU32 = AtomicU32::new(0);

/// Succeeds at the second call.
#[tool(namespace = "attempts", idempotent)]
fn flaky() -> Result<u32, ToolError> {
    match N_CALLS.fetch_add(1, Ordering::Relaxed) {
        0 => Err(ToolError::failed("try again").retryable(None)),
        n => Ok(n),
    }
}

/// Fails for good.
#[tool(namespace = "attempts", read_only)]
fn broken() -> Result<u32, ToolError> {
    Err(ToolError::failed("no such table"))
}

/// Sends a mail.
#[tool(namespace = "attempts")]
fn send() -> u32 {
    1
}

fn tools() -> Dispatcher {
    Dispatcher::new(catalog![flaky, broken, send].unwrap()).unwrap()
}

fn chain(tool: &str, attempts: u32) -> Chain {
    Chain::from_json(json!([{ "toolId": format!("attempts:{tool}"), "attempts": attempts }])).unwrap()
}

#[tokio::test]
async fn a_tool_that_may_repeat_is_called_again_after_a_second() {
    let begun = Instant::now();
    let outcome = chain("flaky", 3).run(&tools(), &Context::new()).await.unwrap();
    assert_eq!(outcome.result().unwrap().value(), 1);
    assert_eq!(N_CALLS.load(Ordering::Relaxed), 2);
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn an_error_that_does_not_pass_ends_the_step_at_once() {
    let begun = Instant::now();
    let outcome = chain("broken", 3).run(&tools(), &Context::new()).await.unwrap();
    assert_eq!(outcome.error().unwrap().message(), "no such table");
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[test]
fn attempts_that_cannot_be_made_are_reported() {
    let not_again = "attempts:send may not be called again, since it is neither `read_only` nor `idempotent`";
    for (tool, attempts, message) in
        [("send", 2, not_again), ("flaky", 0, "must be from 1 to 100"), ("flaky", 101, "must be from 1 to 100")]
    {
        let diagnostics = chain(tool, attempts).check(&tools()).unwrap_err();
        assert_eq!(diagnostics.len(), 1, "{diagnostics}");
        let found = (diagnostics[0].kind(), diagnostics[0].pointer(), diagnostics[0].message());
        assert_eq!(found, (ChainDiagnosticKind::InvalidAttempts, "/0/attempts", message));
    }
    chain("send", 1).check(&tools()).unwrap();
}

#[test]
fn an_error_cannot_put_off_the_next_call_for_longer_than_a_day() {
    use toolkit_backends::chain::StepCall;

    let day = Duration::from_secs(24 * 60 * 60);
    for (stated, n_failures, expected) in [
        (Some(Duration::MAX), 0, day),
        (Some(Duration::from_secs(30)), 0, Duration::from_secs(30)),
        (None, u32::MAX, Duration::from_secs(300)),
    ] {
        let error = ToolError::failed("try again").retryable(stated);
        assert_eq!(StepCall::backoff(&error, n_failures), expected);
    }
}

#[test]
fn attempts_need_an_asynchronous_run() {
    let outcome = chain("broken", 2).run_sync(&tools(), &Context::new()).unwrap();
    assert_eq!(outcome.error().unwrap().kind(), ErrorKind::NeedsRuntime);
}
