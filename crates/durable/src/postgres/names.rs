//! The names of the workflow, of its queue and of its entries in the tables of the engine.

use crate::record::AttemptPlace;

/// The name of the workflow that runs a chain.
pub(super) const WORKFLOW: &str = "toolkit.chain";

/// The name of the queue of runs.
pub(super) const QUEUE: &str = "toolkit.runs";

impl AttemptPlace {
    pub(super) fn guard_name(self) -> String {
        format!("step {} attempt {}", self.step, self.attempt + 1)
    }

    pub(super) fn result_name(self) -> String {
        format!("step {} result {}", self.step, self.attempt + 1)
    }

    /// Returns the topic of the decision after this attempt.
    pub(super) fn topic(self) -> String {
        format!("step {} decision {}", self.step, self.attempt + 1)
    }
}
