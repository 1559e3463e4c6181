//! Steps that wait for a time.

use super::*;

async fn a_wait_survives_its_worker_and_is_not_begun_again(place: &Place) {
    let mut first = Process::start(place, "");
    let client = client(place).await;
    let step = Step::new("diary:once").arg("n", 0).arg("ms", 0).sleep(Duration::from_secs(8));
    let begun = std::time::Instant::now();
    let run = client.start(&Chain::new().then(step), id("reminder")).await.unwrap();
    let (step, pause) = waiting(&run).await;
    assert_eq!(step, 0);
    assert!(matches!(pause, Pause::Until { .. }), "{pause:?}");
    assert_eq!(run.status().await.unwrap().state, RunState::Running, "nobody has to decide");
    assert!(matches!(run.decide(0, &Decision::Retry).await, Err(DurableError::NotWaiting(_))));
    first.kill();
    let _second = Process::start(place, "");
    assert_eq!(waiting(&run).await, (0, pause), "the end of the wait is recorded");

    let outcome = soon(run.wait()).await.unwrap();

    assert!(begun.elapsed() >= Duration::from_secs(8));
    assert_eq!(outcome.result().unwrap().value(), 1);
    assert_eq!(starts(place, "once"), [("reminder/0".to_owned(), 1)].into());
}

async fn a_step_whose_time_has_passed_runs_at_once_and_its_effect_stays_guarded(place: &Place) {
    let mut first = Process::start(place, "");
    let client = client(place).await;
    let step = Step::new("diary:once").arg("n", 0).arg("ms", 1_000).until(std::time::SystemTime::UNIX_EPOCH);
    let run = client.start(&Chain::new().then(step), id("past")).await.unwrap();
    started(place, "past/0").await;
    first.kill();
    let _second = Process::start(place, "");
    until(async || matches!(waiting(&run).await.1, Pause::OutcomeUnknown { .. })).await;
    run.decide(0, &Decision::Skip(json!(1))).await.unwrap();
    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 1);
    assert_eq!(starts(place, "once"), [("past/0".to_owned(), 1)].into());
}

on_each_place! {
    a_wait_survives_its_worker_and_is_not_begun_again,
    a_step_whose_time_has_passed_runs_at_once_and_its_effect_stays_guarded,
}
