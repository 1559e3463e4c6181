//! Progress of a chain, in steps.

use std::sync::{Arc, Mutex, PoisonError};

use toolkit::call::{Context, Progress};
use toolkit::internals::shielded;

/// Reports the progress of a chain to the listener of its context.
///
/// The unit is one step. A tool's own progress counts as a fraction of its step, so that the total never decreases, as
/// it would if each tool reported in its own units.
pub(super) struct Meter<'a> {
    context: &'a Context,
    done: Arc<Mutex<Vec<f64>>>,
}

impl<'a> Meter<'a> {
    pub(super) fn start(context: &'a Context, n_steps: usize) -> Self {
        let meter = Self { context, done: Arc::new(Mutex::new(vec![0.0; n_steps])) };
        if n_steps > 0 {
            meter.report(0.0, n_steps as f64, "started");
        }
        meter
    }

    /// Returns the context for one step.
    pub(super) fn context_of(&self, idx: usize) -> Context {
        let (chain, done) = (self.context.clone(), Arc::clone(&self.done));
        self.context.clone().on_progress(move |report: Progress| {
            let share = report.total.filter(|total| *total > 0.0).map_or(0.0, |total| report.done / total);
            let (sum, n_steps) = advance(&done, idx, if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) });
            chain.progress(sum, n_steps, &report.message);
        })
    }

    /// Reports that a step has ended.
    pub(super) fn finish(&self, idx: usize, succeeded: bool) {
        let (sum, n_steps) = advance(&self.done, idx, 1.0);
        self.report(sum, n_steps, if succeeded { "step_completed" } else { "step_error" });
    }

    /// Catches a panic of the listener, because no tool runs here that the error could be attributed to.
    fn report(&self, done: f64, n_steps: f64, message: &str) {
        shielded("a progress listener", || self.context.progress(done, n_steps, message));
    }
}

/// Raises the progress of one step and returns the total progress and the number of steps.
fn advance(done: &Mutex<Vec<f64>>, idx: usize, share: f64) -> (f64, f64) {
    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
    done[idx] = done[idx].max(share);
    (done.iter().sum(), done.len() as f64)
}
