//! Sandboxes of programs: what they take from a program, how they end it, and what they accept from a worker.

#![cfg(target_os = "linux")]

mod containers;
mod dropped;
mod ends;
mod host;
mod hostile;
mod inline;
mod isolation;
mod pool;
mod profiles;
mod real;
mod remote;
mod remote_http;
mod wire;
mod workers;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use toolkit_code::engine::{Done, State, Step};
use toolkit_code::sandbox::{CommandLine, Process, Sandbox, SandboxError, Session};
use toolkit_code::{Limits, Program};

/// Returns the path of the worker whose programs are native.
fn worker() -> String {
    test_support::program("fixture_worker").to_str().unwrap().to_owned()
}

/// The process of a worker, found by an argument that no other one has.
struct Tagged {
    sandbox: Process,
    tag: String,
}

/// Creates a sandbox for native programs, whose processes can be found.
fn tagged() -> Tagged {
    static LAST: AtomicU32 = AtomicU32::new(0);
    let tag = format!("--tag={}-{}", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed));
    let command = CommandLine::new(worker()).args(["native", &tag]);
    Tagged { sandbox: Process::command("native", command), tag }
}

impl Tagged {
    /// Returns the folders of the processes in `/proc`, also those of zombies.
    fn processes(&self) -> Vec<PathBuf> {
        let all = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
        let is_tagged = |path: &PathBuf| {
            let arguments = std::fs::read_to_string(path.join("cmdline")).unwrap_or_default();
            arguments.split('\0').any(|argument| argument == self.tag)
        };
        all.filter(is_tagged).collect()
    }
}

/// Creates a sandbox for native programs.
fn native() -> Process {
    Process::command("native", CommandLine::new(worker()).args(["native"]))
}

/// Opens a session and starts the program.
async fn start(sandbox: &Process, limits: &Limits, code: &str) -> Result<Step, SandboxError> {
    let mut session = in_the_end(sandbox.open(limits)).await?;
    in_the_end(session.start(&Program::javascript(code))).await
}

/// Returns the value of a program as JSON.
fn value(step: &Step) -> &str {
    match &step.state {
        State::Done(Done { outcome: Ok(value), .. }) => value.get(),
        other => panic!("{other:?}"),
    }
}

/// Awaits a future with a timeout.
async fn in_the_end<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), work).await.expect("it hangs")
}

/// Waits until a condition holds.
async fn until(mut holds: impl FnMut() -> bool) {
    in_the_end(async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}

/// Opens a session that is expected to open.
async fn opened(sandbox: &Process) -> Box<dyn Session> {
    in_the_end(sandbox.open(&Limits::default())).await.unwrap()
}
