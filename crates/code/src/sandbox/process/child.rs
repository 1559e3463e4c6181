//! The process of a worker.

use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{self, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;
use toolkit_runtime::LineReader;

use super::super::super::guarantee::Enforced;
use super::super::super::wire::WireError;
use super::super::SandboxError;
use super::command_line::CommandLine;
use super::exit::End;

/// A worker. Dropping it kills its process.
pub(super) struct Worker {
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

impl Worker {
    pub(super) fn spawn(command: &CommandLine) -> Result<Self, SandboxError> {
        let spawned = command.worker_command().spawn();
        let mut child = spawned.map_err(|error| {
            let program = command.program().to_string_lossy();
            SandboxError::Unavailable(format!("{program} cannot be started: {error}"))
        })?;
        let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(SandboxError::Unavailable("the streams of the worker are missing".to_owned()));
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
        match self.output.next(max).await.map_err(|error| WireError::Invalid(error.to_string()))? {
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

impl Drop for Worker {
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
