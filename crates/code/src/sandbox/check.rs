//! Checks of the messages of a worker.

use super::super::engine::{Answer, Call, State, Step};
use super::super::failure::FailureKind;
use super::super::limits::Limits;
use super::SandboxError;

/// The checks of a session. A worker is trusted as little as its program.
pub(super) struct Check {
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
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, last_call: 0, n_unanswered: 0, printed_bytes: 0 }
    }

    /// Records answers of the host.
    pub(super) fn answered(&mut self, answers: &[Answer]) {
        self.n_unanswered = self.n_unanswered.saturating_sub(answers.len());
    }

    /// Checks a step.
    pub(super) fn step(&mut self, step: &Step) -> Result<(), SandboxError> {
        let printed = step.printed.iter().map(|printed| printed.text.len() as u64).sum();
        self.printed_bytes = self.printed_bytes.saturating_add(printed);
        if self.printed_bytes > self.limits.output_bytes.saturating_add(NOTE_BYTES) {
            return Err(SandboxError::Protocol("it printed more than its limit".to_owned()));
        }
        match &step.state {
            State::Waiting(calls) => self.calls(calls),
            State::Done(done) => {
                if let Ok(value) = &done.outcome {
                    within(value.get().len(), self.limits.value_bytes, "the value")?;
                }
                if done.shown.iter().any(|shown| shown.call == 0 || shown.call > self.last_call) {
                    return Err(SandboxError::Protocol("it shows the result of an unknown call".to_owned()));
                }
                Ok(())
            }
        }
    }

    fn calls(&mut self, calls: &[Call]) -> Result<(), SandboxError> {
        for call in calls {
            if Some(call.id) != self.last_call.checked_add(1) {
                let reason = format!("call {} follows call {}", call.id, self.last_call);
                return Err(SandboxError::Protocol(reason));
            }
            self.last_call = call.id;
            within(call.request.size(), self.limits.message_bytes, "the arguments of a call")?;
        }
        self.n_unanswered += calls.len();
        if self.n_unanswered == 0 {
            return Err(SandboxError::Protocol("it waits for nothing".to_owned()));
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
