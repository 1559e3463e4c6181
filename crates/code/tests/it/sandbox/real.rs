//! Sandboxes of other projects, with a worker in them. `tests/sandboxes/run` installs them and runs these tests.

use std::process::Command;
use std::time::Duration;

use serde_json::value::to_raw_value;
use toolkit_code::engine::{Answer, State};
use toolkit_code::sandbox::{CommandLine, Container, Guarantee, Process, Sandbox};
use toolkit_code::{Limits, Profile, Program};

use super::{in_the_end, until, value, worker};

/// Runs a program that calls a tool, in the strictest profile.
async fn call(sandbox: Process) {
    let sandbox = sandbox.profile(Profile::Hardened);
    let mut session = in_the_end(sandbox.open(&Limits::default())).await.unwrap();
    assert!(session.enforced().contains(Guarantee::Network));
    let mut program = Program::javascript("return (await tools.math.add({a: 1, b: 2})) + 1");
    program.functions.insert("math.add".to_owned(), "math:add".to_owned());
    let waiting = in_the_end(session.start(&program)).await.unwrap();
    let State::Waiting(calls) = &waiting.state else { panic!("{waiting:?}") };
    let answer = Answer { id: calls[0].id, at: 0, outcome: Ok(to_raw_value(&3).unwrap()), content: None };
    let done = in_the_end(session.resume(vec![answer])).await.unwrap();
    assert_eq!(value(&done), "4");
    test_support::ran(1);
}

/// Drops a session whose program runs without end.
async fn drop_while_running(sandbox: &Process) {
    let limits = Limits::default().steps(u64::MAX);
    let mut session = in_the_end(sandbox.open(&limits)).await.unwrap();
    let program = Program::javascript("for (;;) {}");
    let started = tokio::time::timeout(Duration::from_millis(200), session.start(&program)).await;
    assert!(started.is_err(), "{started:?}");
}

fn bubblewrap() -> Process {
    Process::command("bubblewrap", CommandLine::bubblewrap(worker()))
}

/// The image, which contains the fixture as `/worker`.
fn podman() -> Process {
    let image = std::env::var("TOOLKIT_SANDBOX_IMAGE").expect("`tests/sandboxes/run` sets it");
    Process::container(Container::podman(image).runtime("runc").program("/worker"))
}

fn containers() -> String {
    let listed =
        Command::new("podman").args(["--runtime=runc", "ps", "--all", "--format={{.Names}}"]).output().unwrap();
    String::from_utf8(listed.stdout).unwrap()
}

#[tokio::test]
#[ignore = "needs bubblewrap"]
async fn bubblewrap_runs_a_program() {
    call(bubblewrap()).await;
}

#[tokio::test]
#[ignore = "needs bubblewrap"]
async fn dropping_a_session_ends_bubblewrap() {
    drop_while_running(&bubblewrap()).await;
    let is_running = || {
        let arguments = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("cmdline"));
        let mut all = std::fs::read_dir("/proc").unwrap().filter_map(|entry| arguments(entry.ok()?).ok());
        all.any(|arguments| arguments.starts_with("/worker\0"))
    };
    until(|| !is_running()).await;
}

#[tokio::test]
#[ignore = "needs podman and an image"]
async fn a_container_of_podman_runs_a_program_and_is_removed() {
    call(podman()).await;
    until(|| containers().is_empty()).await;
}

#[tokio::test]
#[ignore = "needs podman and an image"]
async fn dropping_a_session_removes_its_container() {
    drop_while_running(&podman()).await;
    until(|| containers().is_empty()).await;
}
