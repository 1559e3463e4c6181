//! A program in a worker.

use std::time::{Duration, Instant};

use serde::Serialize;
use toolkit::call::BoxFuture;

use super::super::super::engine::{Answer, State, Step};
use super::super::super::failure::FailureKind;
use super::super::super::guarantee::Enforced;
use super::super::super::limits::Limits;
use super::super::super::program::Program;
use super::super::super::wire::{self, ToHost, WireError};
use super::super::{SandboxError, Session};
use super::check::Check;
use super::child::Worker;

/// A session with a worker.
pub(super) struct ProcessSession {
    worker: Worker,
    limits: Limits,
    check: Check,
    turn: Turn,
    /// The time that the program has run.
    running: Duration,
}

/// The side that sends the next message.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Start,
    Resume,
    /// The worker, or neither after the end of the program or of the session.
    Worker,
}

/// The messages after the first, without owning their contents.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Message<'a> {
    Start(&'a Program),
    Resume(&'a [Answer]),
}

impl ProcessSession {
    pub(super) fn new(worker: Worker, limits: Limits) -> Self {
        Self { worker, limits, check: Check::new(limits), turn: Turn::Start, running: Duration::ZERO }
    }

    async fn exchange(&mut self, turn: Turn, message: Message<'_>) -> Result<Step, SandboxError> {
        if self.turn != turn {
            return Err(SandboxError::Unavailable("the session has ended".to_owned()));
        }
        let max = wire::max_line(&self.limits);
        let line = wire::encode(&message, max).map_err(|error| match error {
            WireError::TooLong(max) => {
                let reason = format!("the program or the answers to its calls exceed {max} bytes of JSON");
                SandboxError::Ended(FailureKind::Size, reason)
            }
            error => protocol(&error),
        })?;
        // It stays so if this future is dropped.
        self.turn = Turn::Worker;
        if self.worker.output.has_more() {
            return Err(protocol(&WireError::Invalid("a message out of turn".to_owned())));
        }
        let begin = Instant::now();
        let received = match self.worker.send(&line).await {
            Ok(()) => self.worker.output.receive(max).await.map_err(|error| protocol(&error))?,
            Err(_) => None,
        };
        self.running += begin.elapsed();
        let Some(line) = received else {
            return Err(self.worker.end().await.error(&self.limits, self.running));
        };
        let step = match wire::decode(&line).map_err(|error| protocol(&error))? {
            ToHost::Step(step) => *step,
            ToHost::Error(reason) => return Err(protocol(&WireError::Invalid(reason))),
            ToHost::Ready(_) => return Err(protocol(&WireError::Invalid("expected `step`".to_owned()))),
        };
        self.check.step(&step)?;
        match step.state {
            State::Waiting(_) => self.turn = Turn::Resume,
            State::Done(_) => self.worker.is_done = true,
        }
        Ok(step)
    }
}

fn protocol(error: &WireError) -> SandboxError {
    SandboxError::Protocol(error.to_string())
}

impl Session for ProcessSession {
    fn enforced(&self) -> &Enforced {
        &self.worker.enforced
    }

    fn start<'a>(&'a mut self, program: &'a Program) -> BoxFuture<'a, Result<Step, SandboxError>> {
        Box::pin(self.exchange(Turn::Start, Message::Start(program)))
    }

    fn resume(&mut self, answers: Vec<Answer>) -> BoxFuture<'_, Result<Step, SandboxError>> {
        Box::pin(async move {
            self.check.answered(&answers);
            self.exchange(Turn::Resume, Message::Resume(&answers)).await
        })
    }
}
