//! JavaScript, run by QuickJS.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{Answer, Engine, Step};
use crate::limits::Limits;
use crate::program::Program;

/// An engine for JavaScript.
pub struct JavaScript {
    limits: Limits,
    stop: Arc<AtomicBool>,
}

impl JavaScript {
    /// Creates an engine. The program ends soon after `stop` is set, from another thread.
    #[must_use]
    pub fn new(limits: Limits, stop: Arc<AtomicBool>) -> Self {
        Self { limits, stop }
    }
}

impl Engine for JavaScript {
    fn start(&mut self, program: &Program) -> Step {
        let _ = (&self.limits, &self.stop, program);
        todo!()
    }

    fn resume(&mut self, answers: Vec<Answer>) -> Step {
        let _ = answers;
        todo!()
    }
}
