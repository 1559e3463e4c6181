//! Parallel execution of steps.

use super::*;
use crate::chains::tools::Door;

#[tokio::test]
async fn independent_steps_run_at_the_same_time() {
    let context = Context::new().with(Door(tokio::sync::Barrier::new(2)));
    let meet = |n: u8| Step::new("run:meet").arg("n", n);
    let outcome = Chain::parallel().then(meet(1)).then(meet(2)).run(&dispatcher(), &context).await.unwrap();
    assert!(outcome.error().is_none());
    assert_eq!(outcome.result().unwrap().value(), json!(2));
}

/// Returns the indexes of the steps in the order of their completion.
async fn ends(chain: Chain) -> Vec<Value> {
    let script = Script::default();
    let outcome = chain.run(&dispatcher(), &Context::new().with(script.clone())).await.unwrap();
    assert!(outcome.error().is_none());
    script.received()
}

fn slow(n: u8) -> Step {
    Step::new("run:slow").named(n.to_string()).arg("n", n)
}

#[tokio::test]
async fn a_step_waits_for_all_that_it_refers_to_and_for_nothing_else() {
    let free = Chain::parallel().then(slow(1)).then(slow(2)).then(Step::new("run:mix").arg("a", 3).arg("b", 0));
    assert_eq!(ends(free).await, [3, 1, 2], "the synchronous step does not wait");
    let after = Chain::parallel().then(slow(1)).then(Step::new("run:mix").arg("a", 3).arg("b", 0).after("1"));
    assert_eq!(ends(after).await, [1, 3]);
    let taken = Chain::parallel().then(slow(1)).then(Step::new("run:mix").take("a", "1", "").arg("b", 0));
    assert_eq!(ends(taken).await, [1, 1]);
    let previous = Chain::parallel().then(slow(1)).then(slow(2)).then(Step::new("a").use_previous());
    assert_eq!(ends(previous).await, [json!(1), json!(2), json!({ "previous": 2 })]);
}

#[tokio::test]
async fn after_a_failure_what_runs_ends_and_nothing_else_starts() {
    let chain = Chain::parallel()
        .then(slow(1))
        .then(Step::new("geo:find").named("sunk").arg("name", "Atlantis"))
        .then(slow(2).after("1"))
        .then(Step::new("weather:forecast").take("city", "sunk", "/name"));
    let outcome = chain.run(&dispatcher(), &Context::new()).await.unwrap();
    let ran: Vec<(usize, bool)> = outcome.steps().iter().map(|step| (step.index, step.result.is_ok())).collect();
    assert_eq!(ran, [(0, true), (1, false)]);
    assert_eq!(outcome.error().unwrap().message(), "it has sunk");
    assert!(outcome.result().is_none());
    assert_eq!(outcome.into_result().unwrap_err().message(), "it has sunk");
}

#[tokio::test]
async fn of_several_failures_the_first_is_the_error_and_all_are_results() {
    let chain = Chain::parallel().then(slow(1).arg("fails", true)).then(Step::new("geo:find").arg("name", "Atlantis"));
    let outcome = chain.run(&dispatcher(), &Context::new()).await.unwrap();
    assert_eq!(outcome.error().unwrap().message(), "it has sunk");
    let failed = outcome.steps().iter().filter(|step| step.result.is_err()).count();
    assert_eq!(failed, 2);
}

#[tokio::test]
async fn progress_never_goes_back() {
    let last = std::sync::Mutex::new(-1.0);
    let context = Context::new().on_progress(move |report| {
        let mut last = last.lock().unwrap();
        assert!(report.done >= *last && report.total == Some(4.0), "{report:?} after {last}");
        *last = report.done;
    });
    let forecast = || Step::new("weather:forecast").arg("city", "Lima");
    let chain = Chain::parallel().then(slow(1)).then(forecast()).then(forecast().after("1")).then(slow(2));
    assert!(chain.run(&dispatcher(), &context).await.unwrap().error().is_none());
}

#[tokio::test]
async fn cancellation_reaches_every_step() {
    let token = CancelToken::new();
    let context = Context::new().with_cancel(token.clone());
    let (wait, dispatcher) = (|| Step::new("run:wait"), dispatcher());
    let chain = Chain::parallel().then(wait().named("x")).then(wait()).then(wait().after("x"));
    let (outcome, ()) = tokio::join!(chain.run(&dispatcher, &context), async {
        tokio::task::yield_now().await;
        token.cancel();
    });
    let outcome = outcome.unwrap();
    let kinds: Vec<ErrorKind> = outcome.steps().iter().map(|step| step.result.as_ref().unwrap_err().kind()).collect();
    assert_eq!(kinds, [ErrorKind::Cancelled; 2]);
    assert_eq!(outcome.error().map(ToolError::kind), Some(ErrorKind::Cancelled));
}
