//! Sandboxes, in which programs run.
//!
//! | module | part |
//! |---|---|
//! | `inline` | an engine on a thread |
//! | `process` | an engine in a worker: the pool of workers and the session of a program; `child` is one worker from its start to its end, `container` has the command lines of workers |
//! | `remote` | a sandbox on another machine |
//! | this one | the interface, the order of messages, and the bounds of what they contain |

mod inline;
mod process;
#[cfg(feature = "remote")]
mod remote;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolkit::call::BoxFuture;

pub use self::inline::Inline;
pub use self::process::{CommandLine, Container, Process};
#[cfg(feature = "remote")]
pub use self::remote::Remote;
use crate::engine::{Answer, Call, State, Step};
use crate::failure::FailureKind;
pub use crate::failure::SandboxError;
pub use crate::limits::{Enforced, Guarantee};
use crate::limits::{Limits, Profile};
use crate::program::Program;
use crate::wire::{self, ToHost, WireError};

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

/// A sandbox for one program, which [`CodeMode`](crate::CodeMode) starts. Dropping it ends the program.
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
    Err(SandboxError::unavailable(format!("the profile `hardened` requires what is not enforced: {lacking}")))
}

/// The checks of a session. A worker is trusted as little as its program.
struct Check {
    limits: Limits,
    /// The id of the last call.
    last_call: u32,
    n_unanswered: usize,
    printed_bytes: u64,
}

/// The number of calls that wait for an answer at the same time, beside those that [`Limits::calls`] permits.
const MAX_UNANSWERED: usize = 1_000;
/// The text that an engine may print beyond the limit, as a note that it was exceeded.
const NOTE_BYTES: u64 = 1_000;

impl Check {
    fn new(limits: Limits) -> Self {
        Self { limits, last_call: 0, n_unanswered: 0, printed_bytes: 0 }
    }

    /// Records answers of the host.
    fn answered(&mut self, answers: &[Answer]) {
        self.n_unanswered = self.n_unanswered.saturating_sub(answers.len());
    }

    /// Checks a step.
    fn step(&mut self, step: &Step) -> Result<(), SandboxError> {
        let printed = step.printed.iter().map(|printed| printed.text.len() as u64).sum();
        self.printed_bytes = self.printed_bytes.saturating_add(printed);
        if self.printed_bytes > self.limits.output_bytes.saturating_add(NOTE_BYTES) {
            return Err(SandboxError::protocol("it printed more than its limit"));
        }
        match &step.state {
            State::Waiting(calls) => self.calls(calls),
            State::Done(done) => {
                if let Ok(value) = &done.outcome {
                    within(value.get().len(), self.limits.value_bytes, "the value")?;
                }
                if done.shown.iter().any(|shown| shown.call == 0 || shown.call > self.last_call) {
                    return Err(SandboxError::protocol("it shows the result of an unknown call"));
                }
                Ok(())
            }
        }
    }

    fn calls(&mut self, calls: &[Call]) -> Result<(), SandboxError> {
        for call in calls {
            if Some(call.id) != self.last_call.checked_add(1) {
                let reason = format!("call {} follows call {}", call.id, self.last_call);
                return Err(SandboxError::protocol(reason));
            }
            self.last_call = call.id;
            within(call.request.size(), self.limits.message_bytes, "the arguments of a call")?;
        }
        self.n_unanswered += calls.len();
        if self.n_unanswered == 0 {
            return Err(SandboxError::protocol("it waits for nothing"));
        }
        let max = MAX_UNANSWERED.saturating_add(self.limits.calls as usize);
        if self.n_unanswered > max {
            let reason = format!("the program waits for the answers to more than {max} calls");
            return Err(SandboxError::Ended(FailureKind::Calls, reason));
        }
        Ok(())
    }
}

fn within(len: usize, max: u64, what: &str) -> Result<(), SandboxError> {
    if len as u64 <= max {
        return Ok(());
    }
    Err(SandboxError::Ended(FailureKind::Size, format!("{what} exceeds {max} bytes of JSON")))
}

/// The state of a session as the host sees it.
struct Exchange {
    limits: Limits,
    check: Check,
    turn: Turn,
}

/// The side that sends the next message.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Start,
    Resume,
    /// The worker, or neither after the end of the session.
    Worker,
    /// Neither, after the end of the program.
    Done,
}

/// The messages after the first, without owning their contents.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Message<'a> {
    Start(&'a Program),
    Resume(&'a [Answer]),
}

impl Exchange {
    fn new(limits: Limits) -> Self {
        Self { limits, check: Check::new(limits), turn: Turn::Start }
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the length of a line, at most.
    fn max_line(&self) -> usize {
        wire::max_line(&self.limits)
    }

    /// Returns true if the program is done.
    fn is_done(&self) -> bool {
        self.turn == Turn::Done
    }

    /// Writes the message that starts a program.
    fn start(&mut self, program: &Program) -> Result<Vec<u8>, SandboxError> {
        self.write(Turn::Start, &Message::Start(program))
    }

    /// Writes the message that answers calls.
    fn resume(&mut self, answers: &[Answer]) -> Result<Vec<u8>, SandboxError> {
        self.check.answered(answers);
        self.write(Turn::Resume, &Message::Resume(answers))
    }

    fn write(&mut self, turn: Turn, message: &Message<'_>) -> Result<Vec<u8>, SandboxError> {
        if self.turn != turn {
            return Err(SandboxError::unavailable("the session has ended"));
        }
        let line = wire::encode(message, self.max_line()).map_err(|error| match error {
            WireError::TooLong(max) => {
                let reason = format!("the program or the answers to its calls exceed {max} bytes of JSON");
                SandboxError::Ended(FailureKind::Size, reason)
            }
            error => protocol(error),
        })?;
        // It stays so if the answer never comes.
        self.turn = Turn::Worker;
        Ok(line)
    }

    /// Reads the answer to a message.
    fn read(&mut self, line: &[u8]) -> Result<Step, SandboxError> {
        let step = match wire::decode(line).map_err(protocol)? {
            ToHost::Step(step) => *step,
            ToHost::Error(reason) => return Err(protocol(WireError::Invalid(reason))),
            ToHost::Ready(_) => return Err(protocol(WireError::Invalid("expected `step`".to_owned()))),
        };
        self.check.step(&step)?;
        self.turn = match step.state {
            State::Waiting(_) => Turn::Resume,
            State::Done(_) => Turn::Done,
        };
        Ok(step)
    }
}

/// Returns the error of a message that breaks the protocol.
fn protocol(error: WireError) -> SandboxError {
    SandboxError::protocol(error.to_string()).with_source(error)
}
