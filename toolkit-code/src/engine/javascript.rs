//! JavaScript, run by QuickJS.

mod errors;
mod fuel;
mod hints;
mod host;
mod machine;
mod names;
mod output;
mod place;
mod prelude;
mod random;
mod request;
mod source;
mod value;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use self::machine::Machine;
use super::{Answer, Done, Engine, State, Step, Usage};
use crate::failure::{Failure, FailureKind};
use crate::limits::Limits;
use crate::program::Program;

/// An engine for JavaScript.
pub struct JavaScript {
    limits: Limits,
    stop: Arc<AtomicBool>,
    machine: Option<Machine>,
}

impl JavaScript {
    /// Creates an engine. The program ends soon after `stop` is set, from another thread.
    #[must_use]
    pub fn new(limits: Limits, stop: Arc<AtomicBool>) -> Self {
        Self { limits, stop, machine: None }
    }
}

impl Engine for JavaScript {
    fn start(&mut self, program: &Program) -> Step {
        match Machine::new(self.limits, Arc::clone(&self.stop), program) {
            Ok(machine) => self.machine.insert(machine).start(),
            Err(failure) => ended(failure),
        }
    }

    fn resume(&mut self, answers: Vec<Answer>) -> Step {
        match &mut self.machine {
            Some(machine) => machine.resume(answers),
            None => ended(Failure::new(FailureKind::Exception, "the program has not been started")),
        }
    }
}

fn ended(failure: Failure) -> Step {
    Step {
        printed: Vec::new(),
        state: State::Done(Done { outcome: Err(failure), shown: Vec::new() }),
        usage: Usage::default(),
    }
}
