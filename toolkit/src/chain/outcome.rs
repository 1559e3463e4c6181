//! What a chain gives back.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::call::{RunResult, ToolError};

/// What became of a chain that ran: every step that was started, and why it stopped, if it did.
#[derive(Debug)]
pub struct ChainOutcome {
    pub(super) steps: Vec<StepResult>,
    /// The step that failed first, by its place in `steps`.
    pub(super) failed: Option<usize>,
    /// Set if it was cancelled while no step ran.
    pub(super) cancelled: Option<ToolError>,
}

impl ChainOutcome {
    /// The steps that were started, in the order of the chain. In a sequential chain one that failed is the last.
    #[must_use]
    pub fn steps(&self) -> &[StepResult] {
        &self.steps
    }

    /// The result of the last step, if all succeeded.
    #[must_use]
    pub fn result(&self) -> Option<&RunResult> {
        if self.error().is_some() {
            return None;
        }
        self.steps.last()?.result.as_ref().ok()
    }

    /// Why it stopped: the error of the step that failed first, or its cancellation between two steps.
    #[must_use]
    pub fn error(&self) -> Option<&ToolError> {
        match self.failed {
            Some(failed) => self.steps[failed].result.as_ref().err(),
            None => self.cancelled.as_ref(),
        }
    }

    /// The result of the last step; `None` if there are no steps.
    ///
    /// # Errors
    ///
    /// As [`ChainOutcome::error`] has it.
    pub fn into_result(mut self) -> Result<Option<RunResult>, ToolError> {
        if let Some(error) = self.cancelled {
            return Err(error);
        }
        let last = match self.failed {
            Some(failed) => Some(self.steps.swap_remove(failed)),
            None => self.steps.pop(),
        };
        last.map(|step| step.result).transpose()
    }

    /// The steps that were started.
    #[must_use]
    pub fn into_steps(self) -> Vec<StepResult> {
        self.steps
    }
}

/// One step that was started.
#[non_exhaustive]
pub struct StepResult {
    /// Its place in the chain.
    pub index: usize,
    /// Its name, where it has one.
    pub id: Option<String>,
    /// Its tool, by the name that the chain uses.
    pub tool: String,
    /// The arguments that the tool was called with, those from earlier steps among them.
    pub args: Map<String, Value>,
    /// What became of it.
    pub result: Result<RunResult, ToolError>,
    /// How long the call took.
    pub duration: Duration,
}

impl StepResult {
    /// The structured result, or `null` where there is none.
    #[must_use]
    pub fn value(&self) -> Value {
        self.result.as_ref().map_or(Value::Null, RunResult::value)
    }
}

// Arguments may hold secrets, and what prints them usually logs.
impl fmt::Debug for StepResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepResult")
            .field("index", &self.index)
            .field("id", &self.id)
            .field("tool", &self.tool)
            .field("args", &self.args.keys().collect::<Vec<_>>())
            .field("result", &self.result)
            .field("duration", &self.duration)
            .finish()
    }
}
