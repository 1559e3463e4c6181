//! Processes that are killed.

use super::*;

async fn a_run_ends_although_its_worker_is_killed_and_never_comes_back(place: &Place) {
    let mut first = Process::start(place, "");
    let client = client(place).await;
    let run = client.start(&adding("diary:repeatable", 4, 300), id("order-1")).await.unwrap();
    started(place, "order-1/1").await;
    first.kill();
    let _second = Process::start(place, "");

    let outcome = soon(run.wait()).await.unwrap();

    assert_eq!(outcome.result().unwrap().value(), 4);
    assert_eq!(outcome.steps().len(), 4);
    let expected = [("order-1/0", 1), ("order-1/1", 2), ("order-1/2", 1), ("order-1/3", 1)];
    assert_eq!(starts(place, "repeatable"), expected.map(|(key, n)| (key.to_owned(), n)).into());
}

async fn workers_that_start_together_create_the_tables_once(place: &Place) {
    let mut workers: Vec<Process> = (0..6).map(|_| Process::start(place, "")).collect();

    // From the first connection on, no slower worker sets the tables back.
    drop(client(place).await);
    let connect = Connect::new(&place.url()).unwrap().application("fixture");
    for _ in 0..60 {
        if let Err(error) = Client::connect(&connect).await {
            panic!("{error}");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(!workers.iter_mut().any(Process::has_ended));
}

/// Kills the worker in the middle of a step, and starts another one.
async fn interrupted(place: &Place, name: &str, options: &str) -> (Run, Process) {
    let mut first = Process::start(place, options);
    let client = client(place).await;
    let run = client.start(&adding("diary:once", 2, 1_000), id(name)).await.unwrap();
    started(place, &format!("{name}/0")).await;
    first.kill();
    (run, Process::start(place, options))
}

async fn an_effect_is_not_repeated_and_a_person_decides(place: &Place) {
    let cases = [(Decision::Skip(json!(1)), "ok", 1), (Decision::Retry, "ok", 2), (Decision::Fail, "failed", 1)];
    for (idx, (decision, expected, n_starts)) in cases.into_iter().enumerate() {
        let name = format!("order-{idx}");
        let (run, _second) = interrupted(place, &name, "").await;
        assert!(matches!(waiting(&run).await, (0, Pause::OutcomeUnknown { .. })));
        assert_eq!(run.status().await.unwrap().state, RunState::Waiting);
        let wrong = run.decide(0, &Decision::Approve).await.unwrap_err().to_string();
        let why = "does not wait for the decision `approve`: expected one of retry, skip=JSON, fail";
        assert_eq!(wrong, format!("step 0 of the run `{name}` {why}"));

        run.decide(0, &decision).await.unwrap();

        let outcome = soon(run.wait()).await.unwrap();
        let state = &run.status().await.unwrap().steps[0].state;
        match expected {
            "ok" => {
                assert_eq!(outcome.result().unwrap().value(), 2);
                assert!(matches!(state, StepState::Succeeded), "{decision:?}: {state:?}");
            }
            _ => {
                assert_eq!(outcome.error().unwrap().kind(), ErrorKind::OutcomeUnknown);
                assert!(matches!(state, StepState::Failed), "{decision:?}: {state:?}");
            }
        }
        assert_eq!(starts(place, "once")[&format!("{name}/0")], n_starts, "{decision:?}");
    }
}

async fn without_the_guard_an_effect_is_repeated(place: &Place) {
    let (run, _second) = interrupted(place, "order", "no_guard").await;
    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 2);
    assert_eq!(starts(place, "once")["order/0"], 2);
}

async fn a_value_that_the_tool_could_not_return_is_no_result(place: &Place) {
    let (run, _second) = interrupted(place, "order", "").await;
    waiting(&run).await;
    let refused = run.decide(0, &Decision::Skip(json!("one"))).await.unwrap_err().to_string();
    assert!(refused.starts_with("step 0 of the run `order` does not accept this value of `skip=JSON`: "), "{refused}");
    assert!(refused.ends_with("must be an integer, got \"one\"; expected one of retry, skip=JSON, fail"), "{refused}");
    // The worker checks what another program has written.
    {
        place.execute(
            "INSERT INTO toolkit_entries (run, step, attempt, entry, value) \
             VALUES ('order', 0, 0, 'decision', '{\"skip\": \"one\"}'); \
             UPDATE toolkit_runs SET n_decisions = n_decisions + 1",
        );
        until(async || matches!(waiting(&run).await.1, Pause::InvalidValue { .. })).await;
        let refused = run.decide(0, &Decision::Skip(json!("two"))).await.unwrap_err().to_string();
        assert!(refused.contains("must be an integer"), "{refused}");
    }
    run.decide(0, &Decision::Skip(json!(1))).await.unwrap();
    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 2);
}

async fn a_worker_that_is_told_to_end_finishes_its_steps_first(place: &Place) {
    let mut first = Process::start(place, "");
    let client = client(place).await;
    let run = client.start(&adding("diary:once", 3, 700), id("order")).await.unwrap();
    started(place, "order/1").await;
    let _second = Process::start(place, "release=first");
    first.signal("TERM");

    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 3);
    until(async || first.has_ended()).await;
    assert!(starts(place, "once").values().all(|n| *n == 1));
}

async fn a_tool_that_ends_its_worker_is_stopped(place: &Place) {
    let mut workers = [Process::start(place, "")];
    let client = client(place).await;
    let run = client.start(&Chain::new().then(Step::new("diary:crash")), id("order")).await.unwrap();
    let mut n_deaths = 0;
    until(async || {
        if workers[0].has_ended() {
            n_deaths += 1;
            workers[0] = Process::start(place, "");
        }
        run.status().await.is_ok_and(|status| status.state == RunState::Waiting)
    })
    .await;
    assert!((2..=5).contains(&n_deaths), "{n_deaths}");
    assert!(matches!(waiting(&run).await, (0, Pause::OutcomeUnknown { .. })));
    run.decide(0, &Decision::Fail).await.unwrap();
    assert!(soon(run.wait()).await.unwrap().error().is_some());
}

/// Returns the number of runs: that of the acceptance criterion is 200.
fn n_runs() -> usize {
    std::env::var("TOOLKIT_DURABLE_RUNS").map_or(24, |n| n.parse().unwrap())
}

const N_STEPS: usize = 8;

/// Returns the value of a step of a run of [`mixed`].
fn value(run: usize, step: usize) -> usize {
    if run.is_multiple_of(2) { step + 1 } else { step / 4 + 1 }
}

async fn all_runs_end_whatever_is_killed(place: &Place) {
    let mut workers = [Process::start(place, ""), Process::start(place, "")];
    drop(client(place).await);
    let options = format!("runs={}", n_runs());
    let mut caller = Process::start(place, &options);
    let mut random = Random(7);
    let mut n_kills = 0;
    let mut unknown = std::collections::BTreeSet::new();
    let deadline = std::time::Instant::now() + Duration::from_secs(600);
    // The criterion demands 2 seconds, which are few kills in a short run.
    let interval = if n_runs() < 100 { Duration::from_secs(1) } else { Duration::from_secs(2) };
    let mut next_kill = std::time::Instant::now() + interval;
    loop {
        assert!(std::time::Instant::now() < deadline, "the runs do not end");
        if caller.has_succeeded() {
            break;
        }
        // Its first connection was that of a server that was killed.
        if caller.has_ended() {
            caller = Process::start(place, &options);
        }
        if std::time::Instant::now() >= next_kill {
            n_kills += 1;
            // Each of them once, and then any.
            match [2, 3, 0, 1].get(n_kills - 1).copied().unwrap_or_else(|| random.below(4)) {
                0 => place.restart(),
                1 => {
                    caller.kill();
                    caller = Process::start(place, &options);
                }
                which => {
                    workers[which - 2].kill();
                    workers[which - 2] = Process::start(place, "");
                }
            }
            next_kill = std::time::Instant::now() + interval;
        }
        // A person who decides.
        let client = client(place).await;
        for nth in 0..n_runs() {
            let run = client.run(id(&format!("run-{nth}")));
            let Ok(status) = run.status().await else { continue };
            for step in status.steps {
                if let StepState::Waiting { pause, .. } = step.state {
                    assert!(matches!(pause, Pause::OutcomeUnknown { .. }), "{pause:?}");
                    unknown.insert(format!("run-{nth}/{}", step.index));
                    let _ = run.decide(step.index, &Decision::Skip(json!(value(nth, step.index)))).await;
                }
            }
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    }

    let client = client(place).await;
    for nth in 0..n_runs() {
        let outcome = soon(client.run(id(&format!("run-{nth}"))).wait()).await.unwrap();
        assert!(outcome.error().is_none(), "{:?}", outcome.error());
        for step in outcome.steps() {
            assert_eq!(step.value(), value(nth, step.index), "run {nth}, step {}", step.index);
        }
    }
    let (once, repeatable) = (starts(place, "once"), starts(place, "repeatable"));
    assert!(once.values().all(|n| *n == 1), "{once:?}");
    let all = (0..n_runs()).flat_map(|run| (0..N_STEPS).map(move |step| format!("run-{run}/{step}")));
    // A step without a start died between its guard and its tool.
    let missing: Vec<String> =
        all.filter(|key| !once.contains_key(key) && !repeatable.contains_key(key) && !unknown.contains(key)).collect();
    assert_eq!(missing, Vec::<String>::new());
    // The record: one final result for each step.
    let results = place.query(
        "SELECT count(*) || '|' || count(DISTINCT run || '/' || step) FROM toolkit_entries \
         WHERE entry = 'result' AND state = 'succeeded'",
    );
    let n_results: Vec<usize> = results.split('|').map(|n| n.parse().unwrap()).collect();
    assert_eq!(n_results[0], n_results[1]);
    // The others were skipped by a decision.
    assert!(n_results[0] + unknown.len() >= n_runs() * N_STEPS, "{n_results:?} {}", unknown.len());
    let n_repeated: usize = repeatable.values().map(|n| n - 1).sum();
    assert!(n_kills > 2, "{n_kills}");
    println!("{n_kills} kills, {} decisions, {n_repeated} repetitions of repeatable steps", unknown.len());
}

on_each_place! {
    a_run_ends_although_its_worker_is_killed_and_never_comes_back,
    workers_that_start_together_create_the_tables_once,
    an_effect_is_not_repeated_and_a_person_decides,
    without_the_guard_an_effect_is_repeated,
    a_value_that_the_tool_could_not_return_is_no_result,
    a_worker_that_is_told_to_end_finishes_its_steps_first,
    a_tool_that_ends_its_worker_is_stopped,
    all_runs_end_whatever_is_killed,
}
