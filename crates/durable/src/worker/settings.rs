//! The settings of a worker.

use std::time::Duration;

use toolkit::Context;

use crate::run_id::RunId;

/// Creates the context of the calls of a run.
pub(super) type ContextOf = dyn Fn(&RunId) -> Context + Send + Sync;

/// The settings of a worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// The time that a step waits for a decision.
    pub(super) decision_timeout: Duration,
    /// The time after which the runs of a dead worker are continued.
    pub(super) takeover_after: Duration,
    /// The time that running steps have when the worker ends.
    pub(super) shutdown_timeout: Duration,
    /// True unless a test shows what the guard prevents.
    pub(super) is_guarded: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            decision_timeout: Duration::from_secs(365 * 24 * 60 * 60),
            takeover_after: Duration::from_secs(5),
            shutdown_timeout: Duration::from_secs(30),
            is_guarded: true,
        }
    }
}
