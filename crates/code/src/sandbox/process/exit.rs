//! The reasons for which workers end.

use std::fmt;
use std::process::ExitStatus;
use std::time::Duration;

use super::super::super::failure::FailureKind;
use super::super::super::limits::Limits;
use super::super::SandboxError;

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
            None => return SandboxError::Protocol(format!("the worker ended: {self}")),
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
