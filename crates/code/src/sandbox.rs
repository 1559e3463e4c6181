//! Sandboxes, in which programs run.
//!
//! | module | part |
//! |---|---|
//! | `inline` | an engine on a thread |
//! | `process` | an engine in a worker, which is `start`ed by a `command_line` (`local`, or a `container`) or taken from the `pool`; `session` is the exchange with one `child`, `exit` reads its status |
//! | `remote` | a sandbox on another machine |
//! | `exchange`, `check` | the order of messages, and the bounds of what they contain |
//! | `info`, `review` | what a sandbox enforces, compared with a profile |

mod check;
mod exchange;
mod info;
mod inline;
mod process;
#[cfg(feature = "remote")]
mod remote;
mod review;

use std::fmt;

use toolkit::call::BoxFuture;

pub use self::info::{Readiness, SandboxInfo};
pub use self::inline::Inline;
pub use self::process::{CommandLine, Container, Process};
#[cfg(feature = "remote")]
pub use self::remote::{Remote, UrlError};
use super::engine::{Answer, Step};
use super::failure::FailureKind;
pub use super::guarantee::{Enforced, Guarantee};
use super::limits::Limits;
use super::program::Program;

/// A place where programs run, apart from the tools that they call.
pub trait Sandbox: Send + Sync + 'static {
    /// Returns a description for operators.
    fn info(&self) -> SandboxInfo;

    /// Opens a session for one program.
    ///
    /// # Errors
    ///
    /// Returns an error if the sandbox cannot be started.
    fn open<'a>(&'a self, limits: &'a Limits) -> BoxFuture<'a, Result<Box<dyn Session>, SandboxError>>;
}

impl<S: Sandbox + ?Sized> Sandbox for std::sync::Arc<S> {
    fn info(&self) -> SandboxInfo {
        (**self).info()
    }

    fn open<'a>(&'a self, limits: &'a Limits) -> BoxFuture<'a, Result<Box<dyn Session>, SandboxError>> {
        (**self).open(limits)
    }
}

/// A sandbox for one program. Dropping it ends the program.
pub trait Session: Send {
    /// Returns what the sandbox enforces for this program, as it was confirmed when the session was opened.
    fn enforced(&self) -> &Enforced;

    /// Starts the program. It is called once.
    ///
    /// # Errors
    ///
    /// Returns an error if the sandbox has ended.
    fn start<'a>(&'a mut self, program: &'a Program) -> BoxFuture<'a, Result<Step, SandboxError>>;

    /// Answers calls of the program, and waits until it waits again or has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the sandbox has ended.
    fn resume(&mut self, answers: Vec<Answer>) -> BoxFuture<'_, Result<Step, SandboxError>>;
}

/// The error of a [`Sandbox`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SandboxError {
    /// The sandbox cannot be started or reached. The program has not run.
    Unavailable(String),
    /// The sandbox ended the program: it exceeded a limit that the engine could not report, or attempted something
    /// forbidden.
    Ended(FailureKind, String),
    /// The other side sent something that is not the protocol.
    Protocol(String),
}

impl fmt::Display for SandboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(reason) => write!(f, "the sandbox is not available: {reason}"),
            Self::Ended(_, reason) => f.write_str(reason),
            Self::Protocol(reason) => write!(f, "the sandbox sent an invalid message: {reason}"),
        }
    }
}

impl std::error::Error for SandboxError {}
