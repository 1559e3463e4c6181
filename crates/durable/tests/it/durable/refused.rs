//! Databases that reject a user, and tables of other versions.

use std::time::Instant;

use toolkit_durable::Worker;

use super::*;

fn as_user(place: &Place, user: &str) -> Connect {
    let url = place.url().replace("postgres@", &format!("{user}:hunter2@"));
    Connect::new(&url).unwrap().application("fixture")
}

/// Returns the error of a worker that must end soon.
async fn worker_fails(connect: Connect) -> String {
    let begun = Instant::now();
    let dispatcher = Dispatcher::new(Catalog::new([]).unwrap()).unwrap();
    let error = soon(Worker::new(connect, dispatcher).run_until_signal()).await.unwrap_err().to_string();
    assert!(begun.elapsed() < Duration::from_secs(60), "{error}");
    error
}

#[tokio::test]
#[ignore = "needs a Postgres server"]
async fn a_user_without_privileges_gets_the_reason_and_changes_nothing() {
    let place = Place::postgres();
    let _worker = Process::start(&place, "");
    let client = client(&place).await;
    let run = client.start(&adding("diary:repeatable", 1, 1), id("order")).await.unwrap();
    soon(run.wait()).await.unwrap();
    let _ = place.server().query(
        "CREATE ROLE nobody LOGIN; CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA dbos TO reader; \
                          GRANT SELECT ON ALL TABLES IN SCHEMA dbos TO reader",
    );

    let unknown = worker_fails(as_user(&place, "absent")).await;
    assert!(unknown.contains("role \"absent\" does not exist"), "{unknown}");
    let denied = worker_fails(as_user(&place, "nobody")).await;
    assert!(denied.contains("permission denied"), "{denied}");
    let reader = Client::connect(&as_user(&place, "reader")).await.unwrap();
    assert_eq!(reader.run(id("order")).status().await.unwrap().state, RunState::Finished);
    let started = soon(reader.start(&adding("diary:repeatable", 1, 1), id("other"))).await.unwrap_err().to_string();
    assert!(started.contains("permission denied"), "{started}");
    let deleted = soon(reader.delete(&[id("order")])).await.unwrap_err().to_string();
    assert!(deleted.contains("permission denied"), "{deleted}");
    for error in [unknown, denied, started, deleted] {
        assert!(!error.contains("hunter2"), "{error}");
    }
    assert_eq!(client.list(&RunFilter::new()).await.unwrap().len(), 1);
}

#[tokio::test]
#[ignore = "needs a Postgres server"]
async fn older_tables_are_updated_by_a_worker_and_name_the_cure_to_a_client() {
    let place = Place::postgres();
    let mut first = Process::start(&place, "");
    let client = client(&place).await;
    let run = client.start(&adding("diary:repeatable", 3, 700), id("order")).await.unwrap();
    started(&place, "order/1").await;
    first.kill();
    // The last migration of the engine did not exist yet.
    let _ = place.server().query(
        "ALTER TABLE dbos.queues DROP COLUMN partition_concurrency, \
                          DROP COLUMN partition_worker_concurrency, DROP COLUMN partition_rate_limit_max, \
                          DROP COLUMN partition_rate_limit_period_sec; UPDATE dbos.dbos_migrations SET version = 107",
    );
    let connect = Connect::new(&place.url()).unwrap().application("fixture");
    let error = soon(Client::connect(&connect)).await.unwrap_err().to_string();
    assert!(error.contains("107") && error.contains("108"), "{error}");

    let _second = Process::start(&place, "");

    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 3);
    assert_eq!(place.server().query("SELECT version FROM dbos.dbos_migrations"), "108");
    assert_eq!(starts(&place, "repeatable")["order/0"], 1);
}

/// The disk of the server is full: no further row can be written.
#[tokio::test]
#[ignore = "needs a Postgres server"]
async fn a_result_that_the_database_cannot_store_is_stored_when_it_can() {
    let place = Place::postgres();
    let _worker = Process::start(&place, "");
    let client = client(&place).await;
    let run = client.start(&adding("diary:once", 3, 500), id("order")).await.unwrap();
    started(&place, "order/1").await;
    let full = "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION \
                'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$; \
                CREATE TRIGGER full_disk BEFORE INSERT ON dbos.operation_outputs FOR EACH ROW EXECUTE FUNCTION full_disk()";
    let _ = place.server().query(full);
    tokio::time::sleep(Duration::from_secs(4)).await;
    let _ = place.server().query("DROP TRIGGER full_disk ON dbos.operation_outputs");

    // The tool has no hint: its effect must not happen twice, so that a person may have to decide.
    let mut decided = false;
    until(async || {
        let status = run.status().await.unwrap();
        let waits = status.steps.iter().find(|step| matches!(step.state, StepState::Waiting { .. }));
        if let (Some(step), false) = (waits, decided) {
            let value = json!(step.index + 1);
            decided = run.decide(step.index, &Decision::Skip(value)).await.is_ok();
        }
        status.state == RunState::Finished
    })
    .await;
    assert_eq!(run.wait().await.unwrap().result().unwrap().value(), 3);
    assert!(starts(&place, "once").values().all(|n| *n == 1), "{:?}", starts(&place, "once"));
}
