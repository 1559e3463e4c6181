//! A program of a host, started again as a worker.

use std::error::Error;
use std::process::Command;

use toolkit_code::Limits;
use toolkit_code::sandbox::{CommandLine, Process, Sandbox, SandboxError};

use super::{in_the_end, worker};

fn output(arguments: &[&str]) -> String {
    let output = Command::new(worker()).args(arguments).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_host_is_its_own_worker() {
    assert_eq!(output(&["host", "return 1 + 1"]), "2\n");
}

#[test]
fn a_confined_program_needs_no_file_for_dates() {
    let program = "return [Date.parse('2020-01-01T00:00:00'), new Date('Jan 1 2020').getTime(), \
                   new Date(0).toLocaleString().length > 0, new Date(2020, 0, 1).toString().length > 0]";
    assert_eq!(output(&["host", program]), "[1577836800000,1577836800000,true,true]\n");
}

#[test]
fn a_host_that_forgot_the_call_is_told_what_to_add_and_not_started_again() {
    let expected = "the sandbox is not available: this program cannot be started as a worker: call \
                    `toolkit_code::worker::init();` first in its `main`\n";
    assert_eq!(output(&["forgetful", "return 1"]), expected);
}

#[tokio::test]
async fn a_host_that_starts_threads_before_the_call_is_no_worker() {
    let command = CommandLine::new(worker()).args(["threads"]);
    let error = in_the_end(Process::command("threads", command).open(&Limits::default())).await.err().unwrap();
    let expected = "the process has 2 threads: `toolkit_code::worker::init()` must be called first in `main`";
    assert!(matches!(&error, SandboxError::Unavailable { reason, .. } if reason == expected), "{error:?}");
}

#[tokio::test]
async fn a_command_that_does_not_exist_is_named() {
    let sandbox = Process::command("none", CommandLine::new("/toolkit/none"));
    let error = in_the_end(sandbox.open(&Limits::default())).await.err().unwrap();
    assert!(error.source().is_some_and(|cause| cause.is::<std::io::Error>()), "{error:?}");
    let SandboxError::Unavailable { reason, .. } = error else { panic!("{error:?}") };
    assert!(reason.starts_with("/toolkit/none cannot be started: "), "{reason}");
}
