//! Long queues in Postgres, on a server that is slow to start runs: a run that waits for its start belongs to its worker.

use std::collections::BTreeSet;

use super::*;

/// Lets each start of a run that a worker has taken from the queue take some time.
fn start_slowly(place: &Place, ms: u32) {
    let seconds = f64::from(ms) / 1_000.0;
    let trigger = format!(
        "CREATE FUNCTION slow_start() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         IF OLD.status = 'PENDING' AND NEW.status = 'PENDING' THEN PERFORM pg_sleep({seconds}); END IF; RETURN NEW; END $$; \
         CREATE TRIGGER slow_start BEFORE UPDATE ON dbos.workflow_status FOR EACH ROW EXECUTE FUNCTION slow_start()"
    );
    let _ = place.server().query(&trigger);
}

/// Starts a run, and copies it while no worker takes it.
async fn queue(place: &Place, client: &Client, kind: &str, n_runs: usize) {
    let first = format!("{kind}-0");
    client.start(&adding(&format!("diary:{kind}"), 1, 1_500), id(&first)).await.unwrap();
    let copies = format!(
        "INSERT INTO dbos.workflow_status SELECT (jsonb_populate_record(run, jsonb_build_object( \
         'workflow_uuid', '{kind}-' || nth, 'created_at', run.created_at + nth))).* \
         FROM dbos.workflow_status AS run, generate_series(1, {n_runs} - 1) AS nth WHERE run.workflow_uuid = '{first}'"
    );
    let _ = place.server().query(&copies);
}

fn count(place: &Place, condition: &str) -> usize {
    place.server().query(&format!("SELECT count(*) FROM dbos.workflow_status WHERE {condition}")).parse().unwrap()
}

/// Creates the tables.
async fn without_workers(place: &Place) -> Client {
    let mut worker = Process::start(place, "");
    let client = client(place).await;
    worker.kill();
    client
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres server"]
async fn runs_that_wait_for_their_start_longer_than_a_dead_worker_is_given_are_not_queued_again() {
    let place = Place::postgres();
    let client = without_workers(&place).await;
    for kind in ["once", "repeatable"] {
        queue(&place, &client, kind, 100).await;
    }
    start_slowly(&place, 25);
    // The last runs start after ten times as long.
    let _workers = [(); 2].map(|()| Process::start(&place, "takeover_ms=500"));
    until(async || count(&place, "status = 'SUCCESS'") == 200).await;
    assert_eq!(count(&place, "recovery_attempts = 1"), 200);
    for kind in ["once", "repeatable"] {
        assert_eq!(starts(&place, kind), (0..100).map(|nth| (format!("{kind}-{nth}/0"), 1)).collect());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres server"]
async fn a_worker_that_is_suspended_before_it_has_started_its_runs_leaves_them_to_their_next_worker() {
    const N_RUNS: usize = 40;
    let place = Place::postgres();
    let client = without_workers(&place).await;
    for kind in ["once", "repeatable"] {
        queue(&place, &client, kind, N_RUNS).await;
    }
    start_slowly(&place, 100);
    let first = Process::start(&place, "");
    until(async || lines(&place).len() > 5).await;
    first.signal("STOP");
    tokio::time::sleep(Duration::from_millis(200)).await;
    // A worker records that a step begins before it calls the tool.
    let recorded = place.server().query("SELECT DISTINCT workflow_uuid FROM dbos.operation_outputs");
    let begun: BTreeSet<String> = recorded.lines().map(|run| format!("{run}/0")).collect();
    assert!(begun.len() < N_RUNS, "the worker has started all runs");
    let former = place.server().query("SELECT DISTINCT executor_id FROM dbos.workflow_status WHERE status = 'PENDING'");

    let _second = Process::start(&place, "");
    let continued = format!("status = 'PENDING' AND executor_id <> '{former}' AND started_at_epoch_ms IS NOT NULL");
    until(async || count(&place, &continued) > N_RUNS).await;
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
