//! Listeners to the progress of calls.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::ProgressNotificationParam;
use toolkit::Context;

/// The difference in progress between two descriptions of the status of a task, which have no progress. The protocol
/// requires that progress increases.
const STATUS_STEP: f64 = 1.0 / 1024.0;

/// The last report.
struct Last {
    progress: f64,
    total: Option<f64>,
    /// The last description of the status of a task.
    status: String,
}

/// A listener to the progress of a call.
pub(super) struct Listener {
    context: Context,
    last: Mutex<Last>,
}

impl Listener {
    pub(super) fn new(context: &Context) -> Arc<Self> {
        Arc::new(Self {
            context: context.clone(),
            last: Mutex::new(Last { progress: f64::NEG_INFINITY, total: None, status: String::new() }),
        })
    }

    /// Passes on a report if it exceeds the last one. A resumed stream repeats reports.
    pub(super) fn report(&self, report: ProgressNotificationParam) {
        let mut last = self.last();
        if report.progress > last.progress {
            (last.progress, last.total) = (report.progress, report.total);
            self.context.progress(report.progress, report.total, report.message.as_deref().unwrap_or_default());
        }
    }

    /// Passes on the description of the status of a task if it differs from the last one, with the last progress.
    pub(super) fn report_status(&self, status: &str) {
        let mut last = self.last();
        if status != last.status {
            last.progress = if last.progress.is_finite() { last.progress + STATUS_STEP } else { 0.0 };
            status.clone_into(&mut last.status);
            self.context.progress(last.progress, last.total, status);
        }
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
