//! How far a chain has come, in steps.

use std::sync::{Arc, Mutex, PoisonError};

use crate::call::{Context, Progress, unwind};

/// Reports the progress of a chain to the listener of its context.
///
/// One unit is a step. What a tool reports of its own work moves the chain within that unit, so that the whole never
/// goes back, as it would if each tool counted in units of its own.
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

    /// The context for one step.
    pub(super) fn context_of(&self, idx: usize) -> Context {
        let (chain, done) = (self.context.clone(), Arc::clone(&self.done));
        self.context.clone().on_progress(move |report: Progress| {
            let share = report.total.filter(|total| *total > 0.0).map_or(0.0, |total| report.done / total);
            let (sum, n_steps) = advance(&done, idx, if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) });
            chain.progress(sum, n_steps, &report.message);
        })
    }

    /// Says that a step has come to its end.
    pub(super) fn finish(&self, idx: usize, succeeded: bool) {
        let (sum, n_steps) = advance(&self.done, idx, 1.0);
        self.report(sum, n_steps, if succeeded { "step_completed" } else { "step_error" });
    }

    /// Reports to a listener that may panic: here no tool runs whose error that could be.
    fn report(&self, done: f64, n_steps: f64, message: &str) {
        unwind::shielded("a progress listener", || self.context.progress(done, n_steps, message));
    }
}

/// Moves one step on, never back; says how much is done, of how much.
fn advance(done: &Mutex<Vec<f64>>, idx: usize, share: f64) -> (f64, f64) {
    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
    done[idx] = done[idx].max(share);
    (done.iter().sum(), done.len() as f64)
}
