//! The messages of a session, apart from how they travel.

use serde::Serialize;

use super::super::engine::{Answer, State, Step};
use super::super::failure::FailureKind;
use super::super::limits::Limits;
use super::super::program::Program;
use super::super::wire::{self, ToHost, WireError};
use super::SandboxError;
use super::check::Check;

/// The state of a session as the host sees it.
pub(super) struct Exchange {
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
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, check: Check::new(limits), turn: Turn::Start }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the length of a line, at most.
    pub(super) fn max_line(&self) -> usize {
        wire::max_line(&self.limits)
    }

    /// Returns true if the program is done.
    pub(super) fn is_done(&self) -> bool {
        self.turn == Turn::Done
    }

    /// Writes the message that starts a program.
    pub(super) fn start(&mut self, program: &Program) -> Result<Vec<u8>, SandboxError> {
        self.write(Turn::Start, &Message::Start(program))
    }

    /// Writes the message that answers calls.
    pub(super) fn resume(&mut self, answers: &[Answer]) -> Result<Vec<u8>, SandboxError> {
        self.check.answered(answers);
        self.write(Turn::Resume, &Message::Resume(answers))
    }

    fn write(&mut self, turn: Turn, message: &Message<'_>) -> Result<Vec<u8>, SandboxError> {
        if self.turn != turn {
            return Err(SandboxError::Unavailable("the session has ended".to_owned()));
        }
        let line = wire::encode(message, self.max_line()).map_err(|error| match error {
            WireError::TooLong(max) => {
                let reason = format!("the program or the answers to its calls exceed {max} bytes of JSON");
                SandboxError::Ended(FailureKind::Size, reason)
            }
            error => protocol(&error),
        })?;
        // It stays so if the answer never comes.
        self.turn = Turn::Worker;
        Ok(line)
    }

    /// Reads the answer to a message.
    pub(super) fn read(&mut self, line: &[u8]) -> Result<Step, SandboxError> {
        let step = match wire::decode(line).map_err(|error| protocol(&error))? {
            ToHost::Step(step) => *step,
            ToHost::Error(reason) => return Err(protocol(&WireError::Invalid(reason))),
            ToHost::Ready(_) => return Err(protocol(&WireError::Invalid("expected `step`".to_owned()))),
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
pub(super) fn protocol(error: &WireError) -> SandboxError {
    SandboxError::Protocol(error.to_string())
}
