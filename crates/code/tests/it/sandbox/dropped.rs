//! Dropping a session ends its program.

use std::time::Duration;

use toolkit_code::sandbox::Sandbox;
use toolkit_code::{Limits, Program};

use super::{in_the_end, opened, start, tagged, until, value};

#[tokio::test]
async fn dropping_a_session_kills_a_program_that_runs() {
    let tagged = tagged();
    let mut session = opened(&tagged.sandbox).await;
    assert_eq!(tagged.processes().len(), 1);
    let started = tokio::time::timeout(Duration::from_millis(50), session.start(&Program::javascript("spin"))).await;
    assert!(started.is_err(), "the program runs without end");
    drop(session);
    until(|| tagged.processes().is_empty()).await;
}

#[tokio::test]
async fn a_program_that_floods_its_errors_ends_with_its_session() {
    let tagged = tagged();
    let mut session = opened(&tagged.sandbox).await;
    let started = tokio::time::timeout(Duration::from_millis(50), session.start(&Program::javascript("flood"))).await;
    assert!(started.is_err(), "the program stops when nothing reads its errors");
    drop(session);
    until(|| tagged.processes().is_empty()).await;
}

#[tokio::test]
async fn a_session_that_is_dropped_while_it_waits_ends() {
    let tagged = tagged();
    let mut session = opened(&tagged.sandbox).await;
    in_the_end(session.start(&Program::javascript("wait"))).await.unwrap();
    drop(session);
    until(|| tagged.processes().is_empty()).await;
    // The sandbox is as good as before.
    let step = start(&tagged.sandbox, &Limits::default(), "large").await.unwrap();
    assert_eq!(value(&step), "1000000");
}

#[test]
fn a_session_may_outlive_its_runtime() {
    let tagged = tagged();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let session = runtime.block_on(tagged.sandbox.open(&Limits::default())).unwrap();
    drop(runtime);
    drop(session);
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    // An ended process has no command line, also while its status is not collected.
    let is_running = || {
        tagged
            .processes()
            .iter()
            .any(|process| std::fs::read_to_string(process.join("cmdline")).is_ok_and(|c| !c.is_empty()))
    };
    while is_running() {
        assert!(std::time::Instant::now() < deadline, "it still runs");
        std::thread::sleep(Duration::from_millis(2));
    }
}
