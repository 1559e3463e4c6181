//! Workers on a file that are killed at random times, by seeds.

use std::collections::BTreeSet;
use std::time::Instant;

use test_support::sample;

use super::*;

const N_RUNS: usize = 6;
const N_STEPS: usize = 4;
const N_KILLS: usize = 12;

/// Returns a chain whose tools are guarded and repeatable ones by turns, each of which adds one to an earlier result.
fn chain(nth: usize, random: &mut Random) -> Chain {
    let is_parallel = nth % 3 == 2;
    let start = if is_parallel { Chain::parallel() } else { Chain::new() };
    (0..N_STEPS).fold(start, |chain, idx| {
        let tool = if (nth + idx).is_multiple_of(2) { "diary:once" } else { "diary:repeatable" };
        let step = Step::new(tool).named(format!("s{idx}")).arg("ms", 10 + random.below(200));
        chain.then(match idx {
            0 => step.arg("n", 0),
            _ if is_parallel => step.arg("n", idx),
            _ => step.take("n", format!("s{}", idx - 1), ""),
        })
    })
}

/// Runs chains while workers are killed, and checks that no run is lost and no guarded effect happens twice. Returns the number
/// of steps about which a person had to decide.
async fn schedule(seed: u64) -> usize {
    let place = Place::file();
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut workers: Vec<Process> = (0..1 + seed % 3).map(|_| Process::start(&place, "")).collect();
    let client = client(&place).await;
    let mut runs = Vec::new();
    for nth in 0..N_RUNS {
        runs.push(client.start(&chain(nth, &mut random), id(&format!("run-{nth}"))).await.unwrap());
    }
    let (mut n_kills, mut decided) = (0, BTreeSet::new());
    let mut next_kill = Instant::now();
    until(async || {
        if n_kills < N_KILLS && Instant::now() >= next_kill {
            n_kills += 1;
            let worker = random.below(workers.len());
            assert!(!workers[worker].has_ended(), "seed {seed}: a worker has failed");
            workers[worker].kill();
            workers[worker] = Process::start(&place, "");
            next_kill = Instant::now() + Duration::from_millis(50 + random.below(500) as u64);
        }
        let mut n_ended = 0;
        for run in &runs {
            let status = run.status().await.unwrap();
            n_ended += usize::from(status.state.has_ended());
            for step in status.steps {
                if let StepState::Waiting { pause, .. } = step.state {
                    assert!(matches!(pause, Pause::OutcomeUnknown { .. }), "{pause:?}");
                    let _ = run.decide(step.index, &Decision::Skip(json!(step.index + 1))).await;
                    decided.insert(format!("{}/{}", run.id(), step.index));
                }
            }
        }
        n_ended == runs.len()
    })
    .await;

    for run in &runs {
        let outcome = soon(run.wait()).await.unwrap();
        let values: Vec<_> = outcome.steps().iter().map(|step| step.value()).collect();
        assert_eq!(values, (1..=N_STEPS).collect::<Vec<_>>(), "{} of seed {seed}", run.id());
    }
    let (once, repeatable) = (starts(&place, "once"), starts(&place, "repeatable"));
    assert!(once.values().all(|n| *n == 1), "seed {seed}: {once:?}");
    let steps = (0..N_RUNS).flat_map(|run| (0..N_STEPS).map(move |step| format!("run-{run}/{step}")));
    let known = |key: &String| once.contains_key(key) || repeatable.contains_key(key) || decided.contains(key);
    assert!(steps.into_iter().all(|key| known(&key)), "seed {seed}: a step has a result and has never run");
    // The record is whole.
    assert_eq!(place.query("PRAGMA integrity_check"), "ok");
    decided.len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_run_is_lost_and_no_guarded_effect_happens_twice_whenever_workers_are_killed() {
    let mut n_decided = 0;
    for seed in sample(1..=30, 10) {
        n_decided += schedule(seed).await;
    }
    assert!(n_decided > 0, "no kill hit a guarded step");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_runs_of_a_killed_worker_are_taken_over_at_once() {
    let place = Place::file();
    let mut first = Process::start(&place, "takeover_ms=600000");
    let client = client(&place).await;
    let run = client.start(&adding("diary:repeatable", 1, 3_000), id("order")).await.unwrap();
    started(&place, "order/0").await;
    let _second = Process::start(&place, "takeover_ms=600000");
    // Both are ready.
    tokio::time::sleep(Duration::from_secs(1)).await;
    first.kill();

    let killed = Instant::now();
    until(async || starts(&place, "repeatable")["order/0"] == 2).await;
    assert!(killed.elapsed() < Duration::from_secs(2), "{:?}", killed.elapsed());
    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 1);
}
