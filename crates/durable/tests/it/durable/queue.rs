//! Long queues: a run that waits for its start belongs to its worker, and a backlog spreads over all workers.

use std::collections::BTreeSet;

use super::*;

/// Lets each start of a run take some time on the server.
fn start_slowly(place: &Place, ms: u32) {
    let seconds = f64::from(ms) / 1_000.0;
    place.execute(&format!(
        "CREATE FUNCTION slow_start() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         IF OLD.phase = 'queued' AND NEW.phase = 'started' THEN PERFORM pg_sleep({seconds}); END IF; RETURN NEW; END $$; \
         CREATE TRIGGER slow_start BEFORE UPDATE ON toolkit_runs FOR EACH ROW EXECUTE FUNCTION slow_start()"
    ));
}

/// Starts runs of one step while no worker takes them.
async fn queue(client: &Client, kind: &str, n_runs: usize, ms: u64) {
    for nth in 0..n_runs {
        client.start(&adding(&format!("diary:{kind}"), 1, ms), id(&format!("{kind}-{nth}"))).await.unwrap();
    }
}

fn count(place: &Place, condition: &str) -> usize {
    let count = format!("SELECT cast(count(*) AS TEXT) FROM toolkit_runs WHERE {condition}");
    place.query(&count).parse().unwrap()
}

/// Creates the tables.
async fn without_workers(place: &Place) -> Client {
    let mut worker = Process::start(place, "");
    let client = client(place).await;
    worker.signal("TERM");
    until(async || worker.has_ended()).await;
    client
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres server"]
async fn runs_that_wait_for_their_start_longer_than_a_dead_worker_is_given_are_not_queued_again() {
    let place = Place::postgres();
    let client = without_workers(&place).await;
    for kind in ["once", "repeatable"] {
        queue(&client, kind, 100, 1_500).await;
    }
    start_slowly(&place, 100);
    // The last runs start after ten times as long.
    let _workers = [(); 2].map(|()| Process::start(&place, "takeover_ms=500"));
    until(async || count(&place, "phase = 'finished'") == 200).await;
    assert_eq!(count(&place, "n_executions = 1"), 200);
    for kind in ["once", "repeatable"] {
        assert_eq!(starts(&place, kind), (0..100).map(|nth| (format!("{kind}-{nth}/0"), 1)).collect());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres server"]
async fn a_worker_that_is_suspended_before_it_has_started_its_runs_leaves_them_to_their_next_worker() {
    const N_RUNS: usize = 20;
    let place = Place::postgres();
    let client = without_workers(&place).await;
    for kind in ["once", "repeatable"] {
        queue(&client, kind, N_RUNS, 1_500).await;
    }
    start_slowly(&place, 100);
    let first = Process::start(&place, "");
    until(async || lines(&place).len() > 5).await;
    first.signal("STOP");
    tokio::time::sleep(Duration::from_millis(200)).await;
    // A worker records that a step begins before it calls the tool.
    let recorded = place.query("SELECT string_agg(DISTINCT run, ' ') FROM toolkit_entries");
    let begun: BTreeSet<String> = recorded.split(' ').map(|run| format!("{run}/0")).collect();
    assert!(begun.len() < 2 * N_RUNS, "the worker has started all runs");

    let _second = Process::start(&place, "");
    until(async || count(&place, "phase = 'started' AND n_executions = 2") > 0).await;
    first.signal("CONT");

    for kind in ["once", "repeatable"] {
        for nth in 0..N_RUNS {
            let name = format!("{kind}-{nth}");
            if !begun.contains(&format!("{name}/0")) {
                assert_eq!(soon(client.run(id(&name)).wait()).await.unwrap().result().unwrap().value(), 1);
            }
        }
        let again: Vec<_> =
            starts(&place, kind).into_iter().filter(|(key, n)| *n > 1 && !begun.contains(key)).collect();
        assert_eq!(again, []);
    }
    // Nobody has to decide about a step that its worker had not begun.
    let waiting = client.list(&RunFilter::new().state(RunState::Waiting)).await.unwrap();
    let surprising: Vec<_> = waiting.iter().filter(|run| !begun.contains(&format!("{}/0", run.id))).collect();
    assert!(surprising.is_empty(), "{surprising:?}");
}

async fn a_backlog_spreads_over_the_workers_that_are_started_for_it(place: &Place) {
    const N_RUNS: usize = 400;
    let client = without_workers(place).await;
    queue(&client, "repeatable", N_RUNS, 100).await;
    let _first = Process::start(place, "max_runs=10");
    until(async || count(place, "phase = 'finished'") > 20).await;
    assert!(count(place, "phase = 'started'") <= 10);
    let _further = [(); 3].map(|()| Process::start(place, "max_runs=10"));

    until(async || count(place, "phase = 'finished'") == N_RUNS).await;

    let mut of_worker: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    lines(place)
        .into_iter()
        .filter(|line| line.event == "end")
        .for_each(|line| *of_worker.entry(line.pid).or_default() += 1);
    assert_eq!(of_worker.len(), 4, "{of_worker:?}");
    assert!(of_worker.values().all(|n| *n >= 20), "{of_worker:?}");
    assert!(starts(place, "repeatable").values().all(|n| *n == 1));
}

async fn a_run_that_waits_for_a_person_takes_no_room_of_a_worker(place: &Place) {
    let _worker = Process::start(place, "approve max_runs=1");
    let client = client(place).await;
    for nth in 0..3 {
        let asks = client.start(&adding("diary:approved", 1, 1), id(&format!("asks-{nth}"))).await.unwrap();
        waiting(&asks).await;
    }
    let run = client.start(&adding("diary:repeatable", 1, 1), id("order")).await.unwrap();
    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 1);
}

on_each_place! {
    a_backlog_spreads_over_the_workers_that_are_started_for_it,
    a_run_that_waits_for_a_person_takes_no_room_of_a_worker,
}
