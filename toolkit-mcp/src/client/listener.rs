//! Listeners to the progress of calls.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::ProgressNotificationParam;
use toolkit::Context;

/// A listener to the progress of a call.
pub(super) struct Listener {
    context: Context,
    last: Mutex<f64>,
}

impl Listener {
    pub(super) fn new(context: &Context) -> Arc<Self> {
        Arc::new(Self { context: context.clone(), last: Mutex::new(f64::NEG_INFINITY) })
    }

    /// Passes on a report if it exceeds the last one. A resumed stream repeats reports.
    pub(super) fn report(&self, report: ProgressNotificationParam) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if report.progress > *last {
            *last = report.progress;
            self.context.progress(report.progress, report.total, report.message.as_deref().unwrap_or_default());
        }
    }
}
