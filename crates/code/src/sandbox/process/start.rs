//! The start of a worker.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::super::super::limits::Limits;
use super::super::super::profile::Profile;
use super::super::super::wire::{self, GREETING_BYTES, Hello, ToHost, ToWorker, WireError};
use super::super::super::worker;
use super::super::{SandboxError, review};
use super::child::Worker;
use super::command_line::CommandLine;
use super::container::Container;

/// The command that starts workers.
#[derive(Debug)]
pub(super) enum Launch {
    ThisProgram,
    Command(String, Box<CommandLine>),
    Container(Box<Container>),
}

/// Starts workers.
#[derive(Clone, Debug)]
pub(super) struct Starter {
    pub(super) launch: Arc<Launch>,
    pub(super) profile: Profile,
    pub(super) timeout: Duration,
}

impl Starter {
    /// Starts a worker and waits until it is ready for a program with these limits.
    pub(super) async fn start(&self, limits: &Limits) -> Result<Worker, SandboxError> {
        let started = tokio::time::timeout(self.timeout, async {
            let mut worker = Worker::spawn(&self.command_line(limits)?)?;
            let ready = greet(&mut worker, limits).await?;
            // A container has its own kernel interface, which may lack a mechanism and guarantee the same by another one.
            let missing = if matches!(*self.launch, Launch::Container(_)) { Vec::new() } else { ready.missing };
            worker.enforced = review(self.profile, ready.enforced, missing)?;
            Ok(worker)
        });
        started.await.unwrap_or_else(|_| Err(SandboxError::Unavailable(format!("no worker in {:?}", self.timeout))))
    }

    fn command_line(&self, limits: &Limits) -> Result<CommandLine, SandboxError> {
        match &*self.launch {
            Launch::Command(_, command) => Ok((**command).clone()),
            Launch::Container(container) => Ok(container.command_line(&container_name(), limits, self.profile)),
            // Without the call, the child would run the host a second time.
            Launch::ThisProgram if !worker::is_host() => Err(SandboxError::Unavailable(
                "this program cannot be started as a worker: call `toolkit_code::worker::init();` first in its `main`"
                    .to_owned(),
            )),
            Launch::ThisProgram => {
                let program = this_program().map_err(|error| SandboxError::Unavailable(error.to_string()))?;
                Ok(CommandLine::new(program).args([worker::ARGUMENT]))
            }
        }
    }
}

/// Returns a name that no other container of this host has.
fn container_name() -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let n = LAST.fetch_add(1, Ordering::Relaxed);
    format!("toolkit-code-{:x}-{:x}-{n:x}", std::process::id(), fastrand::u32(..))
}

/// Returns the path of this program. On Linux it leads to the same file even if that was replaced.
fn this_program() -> std::io::Result<PathBuf> {
    let link = Path::new("/proc/self/exe");
    if cfg!(target_os = "linux") && link.exists() { Ok(link.to_owned()) } else { std::env::current_exe() }
}

/// Sends the first message and receives that of the worker. No program has run, so each error is one of the sandbox.
async fn greet(worker: &mut Worker, limits: &Limits) -> Result<wire::Ready, SandboxError> {
    let hello = wire::encode(&ToWorker::Hello(Hello::new(*limits)), GREETING_BYTES);
    let hello = hello.map_err(|error| unavailable(&error))?;
    // A worker that ends at once may close its input before; its output contains the reason.
    let _ = worker.send(&hello).await;
    let line = match worker.receive(GREETING_BYTES).await {
        Ok(Some(line)) => line,
        Ok(None) => {
            let end = worker.end().await;
            return Err(SandboxError::Unavailable(format!("the worker ended before it was ready: {end}")));
        }
        Err(error) => return Err(unavailable(&error)),
    };
    let read = wire::check_version(&line).and_then(|()| wire::decode(&line));
    match read {
        Ok(ToHost::Ready(ready)) => Ok(ready),
        Ok(ToHost::Error(reason)) => Err(SandboxError::Unavailable(reason)),
        Ok(ToHost::Step(_)) => Err(unavailable(&WireError::Invalid("expected `ready`".to_owned()))),
        Err(error) => {
            let text: String = String::from_utf8_lossy(&line).trim_end().chars().take(200).collect();
            let reason = format!("it is not a worker: {error}, in {text:?}");
            Err(SandboxError::Unavailable(reason))
        }
    }
}

fn unavailable(error: &WireError) -> SandboxError {
    SandboxError::Unavailable(error.to_string())
}
