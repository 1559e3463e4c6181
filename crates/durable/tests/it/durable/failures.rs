//! Steps that fail: they are called again while that can help, and a failed run continues where it stopped.

use super::*;

/// Returns a chain of a step that succeeds and one of another tool.
fn after_one(tool: &str) -> Chain {
    let first = Step::new("diary:once").named("first").arg("n", 0).arg("ms", 0);
    Chain::new().then(first).then(Step::new(tool).take("n", "first", ""))
}

async fn a_failed_run_is_listed_with_its_error_and_retried_from_the_failed_step(place: &Place) {
    let _worker = Process::start(place, "");
    let client = client(place).await;
    let run = client.start(&after_one("diary:broken"), id("order")).await.unwrap();
    for n_failures in 1..3 {
        assert_eq!(soon(run.wait()).await.unwrap().error().unwrap().message(), "no connection to the bank");
        let failed = client.list(&RunFilter::new().state(RunState::Failed)).await.unwrap();
        assert_eq!(failed.len(), 1);
        assert!(failed[0].error.as_ref().unwrap().contains("no connection to the bank"), "{failed:?}");
        assert_eq!(run.status().await.unwrap().error, failed[0].error);
        assert_eq!(starts(place, "broken"), [("order/1".to_owned(), n_failures)].into());
        if n_failures == 2 {
            place.repair();
        }
        run.retry().await.unwrap();
    }
    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 2);
    assert_eq!(run.status().await.unwrap().state, RunState::Finished);
    assert_eq!(starts(place, "once"), [("order/0".to_owned(), 1)].into());
    let again = run.retry().await.unwrap_err().to_string();
    assert_eq!(again, "the run `order` is finished and cannot be retried: expected a failed run");
}

async fn a_run_whose_step_a_person_has_ended_is_retried(place: &Place) {
    let mut first = Process::start(place, "");
    let client = client(place).await;
    let run = client.start(&adding("diary:once", 1, 1_000), id("order")).await.unwrap();
    started(place, "order/0").await;
    first.kill();
    let _second = Process::start(place, "");
    waiting(&run).await;
    run.decide(0, &Decision::Fail).await.unwrap();
    assert!(soon(run.wait()).await.unwrap().error().is_some());

    run.retry().await.unwrap();

    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 1);
    assert_eq!(starts(place, "once"), [("order/0".to_owned(), 2)].into());
}

async fn a_tool_that_is_overloaded_is_called_until_it_starts(place: &Place) {
    let mut first = Process::start(place, "");
    let client = client(place).await;
    let run = client.start(&after_one("diary:busy"), id("order")).await.unwrap();
    // Its worker has called it several times, and records that it waits.
    let (step, pause) = waiting(&run).await;
    assert!(
        step == 1 && matches!(&pause, Pause::Backoff { error, .. } if error.contains("too many calls")),
        "{pause:?}"
    );
    assert_eq!(run.status().await.unwrap().state, RunState::Running, "nobody has to decide");
    first.kill();
    place.repair();
    let _second = Process::start(place, "");
    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 2);
    assert_eq!(starts(place, "busy"), [("order/1".to_owned(), 1)].into());
}

async fn a_step_that_may_repeat_is_called_again_after_an_error_that_may_pass(place: &Place) {
    let _worker = Process::start(place, "");
    let client = client(place).await;
    let begun = std::time::Instant::now();
    let run = client.start(&after_one("diary:flaky"), id("order")).await.unwrap();
    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 2);
    assert_eq!(starts(place, "flaky"), [("order/1".to_owned(), 3)].into());
    assert!(begun.elapsed() >= Duration::from_secs(5), "a second, and four");
}

async fn a_step_with_attempts_of_its_own_is_not_called_more_often(place: &Place) {
    let _worker = Process::start(place, "");
    let client = client(place).await;
    let chain = Chain::new().then(Step::new("diary:flaky").arg("n", 0).attempts(2));
    let run = client.start(&chain, id("order")).await.unwrap();
    assert_eq!(soon(run.wait()).await.unwrap().error().unwrap().message(), "try again");
    assert_eq!(starts(place, "flaky"), [("order/0".to_owned(), 2)].into());
}

async fn a_change_that_a_run_does_not_allow_names_its_state(place: &Place) {
    let _worker = Process::start(place, "");
    let client = client(place).await;
    let run = client.start(&adding("diary:repeatable", 1, 1), id("order")).await.unwrap();
    soon(run.wait()).await.unwrap();
    for (error, expected) in [
        (run.cancel().await, "is finished and cannot be cancelled: expected a run that has not ended"),
        (run.resume().await, "is finished and cannot be resumed: expected a cancelled or parked run"),
    ] {
        assert_eq!(error.unwrap_err().to_string(), format!("the run `order` {expected}"));
    }
}

async fn the_first_decision_counts_and_the_second_is_an_error(place: &Place) {
    let mut worker = Process::start(place, "approve");
    let client = client(place).await;
    let run = client.start(&adding("diary:approved", 1, 1), id("order")).await.unwrap();
    waiting(&run).await;
    // It reads no decision meanwhile.
    worker.signal("STOP");
    run.decide(0, &Decision::Deny).await.unwrap();
    let second = run.decide(0, &Decision::Approve).await.unwrap_err().to_string();
    assert!(second.starts_with("step 0 of the run `order` "), "{second}");
    worker.signal("CONT");
    assert_eq!(soon(run.wait()).await.unwrap().error().unwrap().kind(), ErrorKind::Denied);
    assert_eq!(starts(place, "approved").len(), 0);
    worker.kill();
}

on_each_place! {
    a_change_that_a_run_does_not_allow_names_its_state,
    a_failed_run_is_listed_with_its_error_and_retried_from_the_failed_step,
    a_run_whose_step_a_person_has_ended_is_retried,
    a_step_that_may_repeat_is_called_again_after_an_error_that_may_pass,
    a_step_with_attempts_of_its_own_is_not_called_more_often,
    a_tool_that_is_overloaded_is_called_until_it_starts,
    the_first_decision_counts_and_the_second_is_an_error,
}
