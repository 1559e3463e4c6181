//! The process of a worker: its start, and the reasons for which it ends.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{self, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;
use toolkit_runtime::LineReader;

use crate::failure::FailureKind;
use crate::limits::{Enforced, Limits, Profile};
use crate::sandbox::process::container::{CommandLine, Container};
use crate::sandbox::{SandboxError, review};
use crate::wire::{self, GREETING_BYTES, Hello, ToHost, ToWorker, WireError};
use crate::worker;

/// A worker. Dropping it kills its process.
pub(super) struct WorkerProcess {
    /// `None` after the drop.
    child: Option<Child>,
    input: ChildStdin,
    output: LineReader<ChildStdout>,
    /// Read when the process has ended. A worker that fills it before stops by itself.
    errors: ChildStderr,
    pub(super) enforced: Enforced,
    /// True after the program is done, and the worker exits by itself.
    pub(super) is_done: bool,
    cleanup: Option<Command>,
}

/// The time that a process has to exit after it closed its output.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
/// The time that the client of a container has to exit after its worker.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(5);
/// The bytes of errors that are read.
const MAX_ERRORS: u64 = 64 << 10;

impl WorkerProcess {
    pub(super) fn spawn(command: &CommandLine) -> Result<Self, SandboxError> {
        let spawned = command.worker_command().spawn();
        let mut child = spawned.map_err(|error| {
            let program = command.program.to_string_lossy();
            SandboxError::unavailable(format!("{program} cannot be started: {error}")).with_source(error)
        })?;
        let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(SandboxError::unavailable("the streams of the worker are missing"));
        };
        Ok(Self {
            child: Some(child),
            input,
            output: LineReader::new(output),
            errors,
            enforced: Enforced::default(),
            is_done: false,
            cleanup: command.cleanup_command(),
        })
    }

    pub(super) async fn send(&mut self, line: &[u8]) -> io::Result<()> {
        self.input.write_all(line).await
    }

    /// Reads a line of at most `max` bytes; `None` at the end of the output.
    pub(super) async fn receive(&mut self, max: usize) -> Result<Option<Vec<u8>>, WireError> {
        match self.output.next(max).await.map_err(WireError::Io)? {
            Some(line) if line.ends_with(b"\n") => Ok(Some(line.to_vec())),
            Some(line) if line.len() == max => Err(WireError::TooLong(max)),
            // What was written before the end is no complete message.
            _ => Ok(None),
        }
    }

    /// Returns true if the worker has written more than the last line.
    pub(super) fn has_more(&self) -> bool {
        self.output.has_more()
    }

    /// Returns true if the process has not exited.
    pub(super) fn is_alive(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// Returns how the process has ended, after it closed its output.
    pub(super) async fn end(&mut self) -> End {
        let status = match &mut self.child {
            Some(child) => timeout(EXIT_TIMEOUT, child.wait()).await.ok().and_then(Result::ok),
            None => None,
        };
        End { status, last_error: self.last_error(status).await }
    }

    /// Returns the last line that the process wrote to its errors.
    async fn last_error(&mut self, status: Option<ExitStatus>) -> String {
        if status.is_none_or(|status| status.success()) {
            return String::new();
        }
        let mut text = Vec::new();
        // Children of the process may keep the stream open.
        let _ = timeout(EXIT_TIMEOUT, (&mut self.errors).take(MAX_ERRORS).read_to_end(&mut text)).await;
        let text = String::from_utf8_lossy(&text);
        let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        last.escape_debug().take(500).collect()
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let cleanup = self.cleanup.take();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            // Tokio collects the status of the process when it collects that of another one.
            kill(&mut child);
            // Its own process remains until the host ends, like any that is not awaited.
            let _ = cleanup.map(|cleanup| cleanup.into_std().spawn());
            return;
        };
        let exits = self.is_done && cleanup.is_some();
        if !exits {
            kill(&mut child);
        }
        runtime.spawn(async move {
            if exits && timeout(CLIENT_TIMEOUT, child.wait()).await.is_ok() {
                return;
            }
            kill(&mut child);
            let _ = child.wait().await;
            if let Some(mut cleanup) = cleanup {
                let _ = cleanup.status().await;
            }
        });
    }
}

/// Kills the process and its children. Its id is not used again before its status is collected.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};

        if let Some(group) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
    let _ = child.start_kill();
}

/// The end of a worker.
pub(super) struct End {
    /// `None` if the process did not exit.
    pub(super) status: Option<ExitStatus>,
    /// The last line of its errors.
    pub(super) last_error: String,
}

impl End {
    /// Returns the error of a program that ran for so long when its worker ended without a message.
    pub(super) fn error(&self, limits: &Limits, running: Duration) -> SandboxError {
        let time = || (FailureKind::Time, format!("the program used its processor time of {:?}", limits.run_time));
        let memory = || (FailureKind::Memory, format!("the program used its memory of {} bytes", limits.memory_bytes));
        let (kind, reason) = match self.cause() {
            Some(Cause::Forbidden) => {
                (FailureKind::Violation, "the program attempted something that its sandbox forbids".to_owned())
            }
            Some(Cause::Time) => time(),
            Some(Cause::Memory) => memory(),
            // By the kernel: at the higher limit of its time, or when the machine or its group ran out of memory.
            Some(Cause::Killed) if running >= limits.run_time => time(),
            Some(Cause::Killed) => memory(),
            Some(Cause::Crash) => (FailureKind::Violation, "the program made its engine crash".to_owned()),
            None => return SandboxError::protocol(format!("the worker ended: {self}")),
        };
        tracing::debug!(end = %self, "a worker was ended");
        SandboxError::Ended(kind, reason)
    }

    #[cfg(unix)]
    fn cause(&self) -> Option<Cause> {
        use std::os::unix::process::ExitStatusExt;

        use rustix::process::Signal;

        let status = self.status?;
        // Clients of containers exit with 128 and the number of the signal that ended the worker.
        let signal = status.signal().or_else(|| status.code().filter(|code| *code > 128).map(|code| code - 128))?;
        let causes = [
            (Signal::SYS, Cause::Forbidden),
            (Signal::XCPU, Cause::Time),
            (Signal::ABORT, Cause::Memory),
            (Signal::KILL, Cause::Killed),
            (Signal::SEGV, Cause::Crash),
            (Signal::BUS, Cause::Crash),
            (Signal::ILL, Cause::Crash),
            (Signal::FPE, Cause::Crash),
            (Signal::TRAP, Cause::Crash),
        ];
        causes.into_iter().find(|(cause, _)| cause.as_raw() == signal).map(|(_, cause)| cause)
    }

    #[cfg(not(unix))]
    fn cause(&self) -> Option<Cause> {
        None
    }
}

/// The meaning of a signal that ends a worker.
#[cfg_attr(not(unix), expect(dead_code))]
enum Cause {
    Forbidden,
    Time,
    /// The allocator aborts when it gets no memory.
    Memory,
    Killed,
    Crash,
}

/// Writes the status and the last line of the errors.
impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => write!(f, "{status}")?,
            None => f.write_str("it closed its output and did not exit")?,
        }
        if self.last_error.is_empty() { Ok(()) } else { write!(f, ": {}", self.last_error) }
    }
}

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
    pub(super) async fn start(&self, limits: &Limits) -> Result<WorkerProcess, SandboxError> {
        let started = tokio::time::timeout(self.timeout, async {
            let mut worker = WorkerProcess::spawn(&self.command_line(limits)?)?;
            let ready = greet(&mut worker, limits).await?;
            // A container has its own kernel interface, which may lack a mechanism and guarantee the same by another one.
            let missing = if matches!(*self.launch, Launch::Container(_)) { Vec::new() } else { ready.missing };
            worker.enforced = review(self.profile, ready.enforced, missing)?;
            Ok(worker)
        });
        started.await.unwrap_or_else(|_| Err(SandboxError::unavailable(format!("no worker in {:?}", self.timeout))))
    }

    fn command_line(&self, limits: &Limits) -> Result<CommandLine, SandboxError> {
        match &*self.launch {
            Launch::Command(_, command) => Ok((**command).clone()),
            Launch::Container(container) => Ok(container.command_line(&container_name(), limits, self.profile)),
            // Without the call, the child would run the host a second time.
            Launch::ThisProgram if !worker::is_host() => Err(SandboxError::unavailable(
                "this program cannot be started as a worker: call `toolkit_code::worker::init();` first in its `main`",
            )),
            Launch::ThisProgram => {
                let program = this_program();
                let program =
                    program.map_err(|error| SandboxError::unavailable(error.to_string()).with_source(error))?;
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
async fn greet(worker: &mut WorkerProcess, limits: &Limits) -> Result<wire::Ready, SandboxError> {
    let hello = wire::encode(&ToWorker::Hello(Hello::new(*limits)), GREETING_BYTES);
    let hello = hello.map_err(unavailable)?;
    // A worker that ends at once may close its input before; its output contains the reason.
    let _ = worker.send(&hello).await;
    let line = match worker.receive(GREETING_BYTES).await {
        Ok(Some(line)) => line,
        Ok(None) => {
            let end = worker.end().await;
            return Err(SandboxError::unavailable(format!("the worker ended before it was ready: {end}")));
        }
        Err(error) => return Err(unavailable(error)),
    };
    let read = wire::check_version(&line).and_then(|()| wire::decode(&line));
    match read {
        Ok(ToHost::Ready(ready)) => Ok(ready),
        Ok(ToHost::Error(reason)) => Err(SandboxError::unavailable(reason)),
        Ok(ToHost::Step(_)) => Err(unavailable(WireError::Invalid("expected `ready`".to_owned()))),
        Err(error) => {
            let text: String = String::from_utf8_lossy(&line).trim_end().chars().take(200).collect();
            let reason = format!("it is not a worker: {error}, in {text:?}");
            Err(SandboxError::unavailable(reason).with_source(error))
        }
    }
}

fn unavailable(error: WireError) -> SandboxError {
    SandboxError::unavailable(error.to_string()).with_source(error)
}
