//! Sandboxes, in which programs run.
//!
//! | module | part |
//! |---|---|
//! | `inline` | an engine on a thread |
//! | `process` | an engine in a worker, which is `start`ed by a `command_line` (local, or of a `container`) or taken from the `pool`; `session` is the exchange with one `child`, `exit` reads its status |
//! | `remote` | a sandbox on another machine |
//! | `exchange`, `check` | the order of messages, and the bounds of what they contain |

mod check;
mod exchange;
mod inline;
mod process;
#[cfg(feature = "remote")]
mod remote;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use toolkit::call::BoxFuture;

pub use self::inline::Inline;
pub use self::process::{CommandLine, Container, Process};
#[cfg(feature = "remote")]
pub use self::remote::{Remote, UrlError};
use super::engine::{Answer, Step};
use super::failure::FailureKind;
pub use super::guarantee::{Enforced, Guarantee};
use super::limits::Limits;
use super::profile::Profile;
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

/// A description of a sandbox for operators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SandboxInfo {
    /// The kind, such as `process`, `inline` or `docker`.
    pub kind: String,
    /// The level of testing.
    pub readiness: Readiness,
    /// Details, such as the version of the kernel interface, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, String>,
}

/// The level of testing of a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Readiness {
    /// Tested against hostile programs.
    Prod,
    /// Tested for what works, or not on each platform.
    Beta,
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

/// The guarantees that [`Profile::Hardened`] requires of a worker. The host enforces time, calls and steps of chains.
const HARDENED: [Guarantee; 8] = [
    Guarantee::Steps,
    Guarantee::Memory,
    Guarantee::Cpu,
    Guarantee::Processes,
    Guarantee::Disk,
    Guarantee::Files,
    Guarantee::Network,
    Guarantee::Environment,
];

/// Returns what is enforced, or an error if the profile requires more. `missing` has the mechanisms that are missing.
fn review(profile: Profile, enforced: Enforced, missing: Vec<String>) -> Result<Enforced, SandboxError> {
    if profile < Profile::Hardened {
        return Ok(enforced);
    }
    let mut lacking = missing;
    let absent = HARDENED.into_iter().filter(|&guarantee| !enforced.contains(guarantee));
    lacking.extend(absent.map(|guarantee| format!("{guarantee:?}").to_lowercase()));
    if lacking.is_empty() {
        return Ok(enforced);
    }
    let lacking = lacking.join("; ");
    Err(SandboxError::Unavailable(format!("the profile `hardened` requires what is not enforced: {lacking}")))
}
