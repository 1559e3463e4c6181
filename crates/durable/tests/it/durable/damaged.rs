//! Files that cannot be written, that are damaged, or that have other tables.

use std::error::Error;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Instant;

use toolkit_durable::Worker;

use super::*;

/// Runs a process that must fail soon, by a command such as one that limits it. Returns its errors.
fn fails(place: &Place, by: &[&str], options: &str) -> String {
    let program = test_support::program("fixture_durable");
    let url = place.url();
    let words = [by, &[program.to_str().unwrap(), &url]].concat();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args(options.split_whitespace()).env("FIXTURE_DIARY", place.diary());
    let begun = Instant::now();
    let output = command.output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && begun.elapsed() < Duration::from_secs(10), "{:?} {errors}", begun.elapsed());
    errors
}

/// Creates a file with a run that has ended.
async fn written(place: &Place) -> Client {
    let mut worker = Process::start(place, "");
    let client = client(place).await;
    let run = client.start(&adding("diary:repeatable", 2, 1), id("old")).await.unwrap();
    soon(run.wait()).await.unwrap();
    worker.signal("TERM");
    until(async || worker.has_ended()).await;
    client
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_owner_can_read_the_files() {
    let place = Place::file();
    let _worker = Process::start(&place, "");
    let client = client(&place).await;
    soon(client.start(&adding("diary:repeatable", 1, 1), id("order")).await.unwrap().wait()).await.unwrap();
    let mode = |path: &str| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let path = place.url();
    for file in [path.clone(), format!("{path}-wal"), format!("{path}-shm")] {
        assert_eq!(mode(&file), 0o600, "{file}");
    }
    assert_eq!(mode(&format!("{path}-workers")), 0o700);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_of_other_versions_and_other_programs_are_named() {
    let place = Place::file();
    assert!(fails(&place, &[], "runs=1").contains("does not exist: a worker creates it when it starts"));
    drop(written(&place).await);
    for (sql, expected) in [
        ("PRAGMA user_version = 1", "have version 1, and this program knows version 3"),
        ("PRAGMA user_version = 0", "have version 0, and this program knows version 3"),
        ("PRAGMA application_id = 7", "is the SQLite database of another program"),
    ] {
        place.execute(sql);
        for options in ["", "runs=1"] {
            let errors = fails(&place, &[], options);
            assert!(errors.contains(expected), "{errors}");
        }
    }
    // Nothing was changed.
    place.execute("PRAGMA application_id = 1953198702; PRAGMA user_version = 3");
    let client = client(&place).await;
    assert_eq!(client.run(id("old")).status().await.unwrap().state, RunState::Finished);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_file_is_named_with_the_cure() {
    for damage in [|bytes: &mut Vec<u8>| bytes[..100].fill(b'x'), |bytes: &mut Vec<u8>| bytes.truncate(4096)] {
        let place = Place::file();
        drop(written(&place).await);
        until(async || !place.path().with_extension("db-wal").exists()).await;
        let mut bytes = fs::read(place.path()).unwrap();
        damage(&mut bytes);
        fs::write(place.path(), bytes).unwrap();
        let _ = fs::remove_file(place.path().with_extension("db-shm"));
        for options in ["", "runs=1"] {
            let errors = fails(&place, &[], options);
            assert!(errors.contains("is damaged, or not a SQLite database"), "{errors}");
            assert!(errors.contains("restore a copy of it, or move it away"), "{errors}");
        }
    }
}

#[tokio::test]
async fn a_client_waits_for_the_tables_of_a_worker_that_has_just_created_the_file() {
    let place = Place::file();
    fs::write(place.path(), "").unwrap();
    let connect = Connect::new(&place.url()).unwrap().application("fixture");
    let connected = tokio::spawn({
        let connect = connect.clone();
        async move { Client::connect(&connect).await.map(drop) }
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    let dispatcher = toolkit::Dispatcher::new(toolkit::Catalog::new([]).unwrap()).unwrap();
    soon(Worker::new(connect, dispatcher).run(std::future::ready(()))).await.unwrap();
    soon(connected).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_distinguishes_a_missing_file_from_a_damaged_one() {
    let place = Place::file();
    let connect = Connect::file(place.path());
    let error = Client::connect(&connect).await.err().unwrap();
    assert!(matches!(&error, DurableError::Missing { path, .. } if *path == place.path()), "{error:?}");
    fs::write(place.path(), "not a database".repeat(100)).unwrap();
    let error = Client::connect(&connect).await.err().unwrap();
    assert!(matches!(error, DurableError::Damaged { .. }), "{error:?}");
    assert!(error.source().is_some_and(|source| source.is::<rusqlite::Error>()), "{error:?}");
    let error = Client::connect(&connect.application("My App")).await.err().unwrap();
    assert!(matches!(&error, DurableError::Application(name) if name == "My App"), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_file_is_complete_when_its_last_worker_has_ended() {
    let place = Place::file();
    let mut worker = Process::start(&place, "");
    drop(client(&place).await);
    worker.signal("TERM");
    until(async || worker.has_ended()).await;
    let copy = place.path().with_file_name("copy.db");
    fs::copy(place.path(), &copy).unwrap();
    soon(Client::connect(&Connect::file(copy))).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_removed_or_replaced_ends_its_worker() {
    for (is_replaced, expected) in [(false, "was removed: "), (true, "was replaced by another file: ")] {
        let place = Place::file();
        let dispatcher = Dispatcher::new(Catalog::new([]).unwrap()).unwrap();
        let worker = Worker::new(Connect::file(place.path()), dispatcher);
        let monitor = worker.monitor();
        let worker = tokio::spawn(worker.run(std::future::pending()));
        until(async || monitor.status().is_some()).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        let age = monitor.status().unwrap().lease_age;
        assert!(age < Duration::from_secs(1), "{age:?}");
        let former = place.path().with_file_name("former.db");
        fs::rename(place.path(), &former).unwrap();
        if is_replaced {
            fs::copy(&former, place.path()).unwrap();
        }
        let error = soon(worker).await.unwrap().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_cannot_be_written_is_named() {
    // Root may write everywhere, unless it gives up this capability.
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout.trim_ascii() == b"0";
    let by: &[&str] = match is_root {
        true => &["setpriv", "--bounding-set=-dac_override,-dac_read_search"],
        false => &[],
    };
    let place = Place::file();
    let folder = place.path().parent().unwrap().to_owned();
    let set_mode = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
    set_mode(0o555);
    let words = [by, &["test", "-w", folder.to_str().unwrap()]].concat();
    if Command::new(words[0]).args(&words[1..]).status().is_ok_and(|status| status.code() == Some(1)) {
        set_mode(0o755);
    } else {
        println!("SKIPPED: this user may write everywhere");
        return;
    }
    set_mode(0o555);
    let errors = fails(&place, by, "");
    assert!(errors.contains("cannot create ") && errors.contains("Permission denied"), "{errors}");
    set_mode(0o755);
    drop(written(&place).await);
    until(async || !place.path().with_extension("db-wal").exists()).await;
    set_mode(0o555);
    for options in ["", "runs=1"] {
        let errors = fails(&place, by, options);
        assert!(errors.contains("needs write access to the file and to its folder"), "{errors}");
    }
    set_mode(0o755);
}

/// Runs a command that ignores the signal of the limit for the size of files, with a limit of `$LIMIT` blocks.
const LIMITED: [&str; 4] = ["sh", "-c", "trap '' XFSZ; ulimit -f ${LIMIT:-unlimited}; exec \"$@\"", "sh"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_an_error_within_seconds() {
    let place = Place::file();
    let limit = |blocks| ["env", blocks].into_iter().chain(LIMITED).collect::<Vec<_>>();
    let errors = fails(&place, &limit("LIMIT=4"), "");
    assert!(errors.contains("its disk may be full"), "{errors}");
    drop(written(&place).await);
    let errors = fails(&place, &limit("LIMIT=4"), "runs=1");
    assert!(errors.contains("its disk may be full"), "{errors}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_the_disk_cannot_store_is_stored_when_it_can() {
    let place = Place::file();
    let worker = Process::start_at(&place.url(), &place, &LIMITED, "");
    let client = client(&place).await;
    let run = client.start(&adding("diary:once", 3, 500), id("order")).await.unwrap();
    started(&place, "order/1").await;
    let size = fs::metadata(place.path().with_extension("db-wal")).unwrap().len();
    worker.limit_files(&size.to_string());
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(starts(&place, "once").len(), 2, "no effect begins that cannot be recorded");
    worker.limit_files("unlimited");

    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 3);
    assert!(starts(&place, "once").values().all(|n| *n == 1), "{:?}", starts(&place, "once"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_another_process_locks_is_an_error_within_seconds() {
    let place = Place::file();
    let client = written(&place).await;
    let other = rusqlite::Connection::open(place.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begun = Instant::now();
    let error = client.start(&adding("diary:once", 1, 1), id("new")).await.unwrap_err();
    assert!(matches!(error, DurableError::Locked { .. }) && begun.elapsed() < Duration::from_secs(8), "{error:?}");
    assert!(error.to_string().starts_with("another process has locked "), "{error}");
    let source = error.source().and_then(|source| source.downcast_ref::<rusqlite::Error>()).unwrap();
    assert_eq!(source.sqlite_error_code(), Some(rusqlite::ErrorCode::DatabaseBusy));
    other.execute_batch("ROLLBACK").unwrap();
    client.start(&adding("diary:once", 1, 1), id("new")).await.unwrap();
}
