//! Steps that wait for a time.

use std::time::{Duration, SystemTime};

use toolkit::call::{CancelToken, ErrorKind};
use toolkit_backends::chain::ChainDiagnosticKind;

use super::*;

fn after(field: &str, time: &str) -> Chain {
    Chain::from_json(json!([{ "toolId": "run:mix", "args": { "a": 1, "b": 0 }, field: time }])).unwrap()
}

#[tokio::test]
async fn a_step_is_called_when_its_time_has_come() {
    let earlier = SystemTime::now();
    let chain = Chain::new()
        .then(Step::new("run:mix").named("first").arg("a", 1).arg("b", 0).sleep(Duration::from_millis(40)))
        .then(Step::new("run:mix").arg("a", 3).arg("b", 0).until(earlier + Duration::from_millis(90)))
        .then(Step::new("run:mix").arg("a", 2).arg("b", 0).until(earlier));
    let chain = Chain::from_json(serde_json::to_value(&chain).unwrap()).unwrap();
    let outcome = chain.run(&dispatcher(), &Context::new()).await.unwrap();
    assert!(outcome.error().is_none());
    assert!(earlier.elapsed().unwrap() >= Duration::from_millis(90));
}

#[tokio::test]
async fn cancellation_ends_a_wait() {
    let token = CancelToken::new();
    let context = Context::new().with_cancel(token.clone());
    let chain = after("sleep", "300d");
    let dispatcher = dispatcher();
    let run = chain.run(&dispatcher, &context);
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(run, cancel);
    assert_eq!(outcome.unwrap().error().unwrap().kind(), ErrorKind::Cancelled);
}

#[test]
fn what_is_no_time_is_reported_with_what_to_write() {
    for (field, time, message) in [
        ("sleep", "1 hour", "must be a time such as `500ms`, `90s`, `15m`, `24h` or `7d`"),
        ("sleep", "-5s", "must be a time such as `500ms`, `90s`, `15m`, `24h` or `7d`"),
        ("sleep", "99999999999999999999d", "must be a time such as `500ms`, `90s`, `15m`, `24h` or `7d`"),
        ("sleep", "367d", "must be at most 366 days"),
        ("until", "tomorrow", "must be a time with its offset, as in `2027-01-31T09:00:00+01:00`"),
        ("until", "2027-01-31T09:00:00", "must be a time with its offset, as in `2027-01-31T09:00:00+01:00`"),
        ("until", "9000-01-01T00:00:00Z", "must be at most 366 days from now"),
    ] {
        let diagnostics = after(field, time).check(&dispatcher()).unwrap_err();
        assert_eq!(diagnostics.len(), 1, "{diagnostics}");
        let found = &diagnostics[0];
        let expected = (ChainDiagnosticKind::InvalidWait, format!("/0/{field}"), message);
        assert_eq!((found.kind(), found.pointer().to_owned(), found.message()), expected, "{time}");
    }
    let both =
        json!([{ "toolId": "run:mix", "args": { "a": 1, "b": 0 }, "sleep": "1s", "until": "2026-01-01T00:00:00Z" }]);
    let diagnostics = Chain::from_json(both).unwrap().check(&dispatcher()).unwrap_err();
    assert_eq!(diagnostics[0].message(), "write `sleep` or `until`, not both");
}

#[test]
fn a_wait_of_366_days_is_accepted_in_each_unit_and_a_longer_one_is_not() {
    const DAYS: u64 = 366;

    for (unit, n_per_day) in [("d", 1), ("h", 24), ("m", 1_440), ("s", 86_400), ("ms", 86_400_000)] {
        let check = |n: u64| after("sleep", &format!("{n}{unit}")).check(&dispatcher());
        assert!(check(DAYS * n_per_day).is_ok(), "{unit}");
        let diagnostics = check(DAYS * n_per_day + 1).unwrap_err();
        assert_eq!(diagnostics[0].message(), "must be at most 366 days", "{unit}");
    }
    for (days, is_accepted) in [(0, true), (365, true), (367, false)] {
        let end = SystemTime::now() + Duration::from_secs(days * 86_400);
        let chain = Chain::new().then(Step::new("run:mix").arg("a", 1).arg("b", 0).until(end));
        assert_eq!(chain.check(&dispatcher()).is_ok(), is_accepted, "{days}");
    }
}

#[test]
fn a_wait_needs_an_asynchronous_run() {
    let outcome = after("sleep", "1ms").run_sync(&dispatcher(), &Context::new()).unwrap();
    let error = outcome.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::NeedsRuntime);
    assert!(error.message().starts_with("the step waits, or may be repeated; run the chain with `run`"), "{error}");
}
