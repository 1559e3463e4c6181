//! Databases that reject a user, and tables of other versions.

use std::time::Instant;

use test_support::postgres::Pooler;
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

#[test]
fn a_place_is_a_url_of_postgres_or_the_path_of_a_database() {
    for place in [
        "postgres://orders@db.example.org/runs",
        "postgresql://orders@db.example.org/runs",
        "runs.db",
        "a/runs.sqlite",
        "/runs.sqlite3",
        "sqlite:runs",
        "sqlite:a://b",
    ] {
        assert!(Connect::new(place).is_ok(), "{place}");
    }
    for place in
        ["", "runs", "runs.txt", "db", "sqlite:", "mysql://a/runs", "mysql://a/runs.db", "postgres://[::1/runs"]
    {
        assert!(matches!(Connect::new(place), Err(DurableError::Url)), "{place}");
    }
}

#[tokio::test]
async fn the_name_of_an_application_has_3_to_256_letters_digits_hyphens_and_underscores() {
    let place = Place::file();
    let connected = async |name: &str| Client::connect(&Connect::file(place.path()).application(name)).await.map(drop);
    for name in ["abc", "a-1", "___", &"a".repeat(256)] {
        // The name is valid, but there is no file yet.
        assert!(matches!(connected(name).await, Err(DurableError::Missing { .. })), "{name}");
    }
    for name in ["", "ab", "abC", "a b", "ab.", "äbc", &"a".repeat(257)] {
        assert!(matches!(connected(name).await, Err(DurableError::Application(got)) if got == name), "{name}");
    }
    assert_eq!(Connect::file("runs.db").application_name(), "toolkit");
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
        "CREATE ROLE nobody LOGIN; CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
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
async fn tables_of_another_version_and_missing_ones_are_named() {
    let place = Place::postgres();
    let connect = Connect::new(&place.url()).unwrap().application("fixture");
    let begun = Instant::now();
    let missing = soon(Client::connect(&connect)).await.unwrap_err().to_string();
    assert!(missing.contains("does not exist"), "{missing}");
    let _worker = Process::start(&place, "");
    drop(client(&place).await);
    place.execute("UPDATE toolkit_store SET version = 1");
    let expected = "the tables of the runs have version 1, and this program knows version 3: use the program that has \
                    written them, or another database";
    assert_eq!(soon(Client::connect(&connect)).await.unwrap_err().to_string(), expected);
    assert_eq!(worker_fails(connect).await, expected);
    place.execute("DROP TABLE toolkit_store");
    let connect = Connect::new(&place.url()).unwrap().application("fixture");
    let missing = soon(Client::connect(&connect)).await.unwrap_err().to_string();
    assert!(missing.contains("it has no tables of runs yet: a worker creates them when it starts"), "{missing}");
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
#[ignore = "needs a Postgres server"]
async fn a_server_that_is_gone_is_an_error_within_seconds_that_names_the_cause() {
    let place = Place::postgres();
    let _worker = Process::start(&place, "");
    let client = client(&place).await;
    let connect = Connect::new("postgres://postgres@127.0.0.1:1/runs").unwrap();
    drop(place);
    for error in [Client::connect(&connect).await.map(drop), client.list(&RunFilter::new()).await.map(drop)] {
        let begun = Instant::now();
        let error = error.unwrap_err().to_string();
        // An open connection may have read why its server ended.
        let names_cause =
            ["Connection refused", "unexpected postmaster exit"].iter().any(|cause| error.contains(cause));
        assert!(names_cause && begun.elapsed() < Duration::from_secs(15), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres server"]
async fn a_pooler_works_or_is_refused_with_the_cure() {
    let place = Place::postgres();
    let mut first = Process::start(&place, "");
    drop(client(&place).await);
    first.kill();
    for mode in ["session", "transaction"] {
        let lines = format!("pool_mode = {mode}\ndefault_pool_size = 20\nmax_prepared_statements = 200");
        let lines = if Pooler::keeps_statements() { &*lines } else { lines.rsplit_once('\n').unwrap().0 };
        let Some(pooler) = Pooler::start(place.server(), lines) else {
            println!("SKIPPED: pgbouncer is not installed");
            return;
        };
        let connect = Connect::new(&pooler.url()).unwrap().application("fixture");
        let connected = Client::connect(&connect).await;
        if mode == "transaction" && !Pooler::keeps_statements() {
            let error = connected.unwrap_err().to_string();
            assert!(error.contains("set `max_prepared_statements` of PgBouncer 1.21 or later"), "{error}");
            continue;
        }
        let _second = Process::start_at(&pooler.url(), &place, &[], "");
        let run = connected.unwrap().start(&adding("diary:repeatable", 3, 1), id(mode)).await.unwrap();
        assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 3);
    }
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
                CREATE TRIGGER full_disk BEFORE INSERT ON toolkit_entries FOR EACH ROW EXECUTE FUNCTION full_disk()";
    let _ = place.server().query(full);
    tokio::time::sleep(Duration::from_secs(4)).await;
    let _ = place.server().query("DROP TRIGGER full_disk ON toolkit_entries");

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
