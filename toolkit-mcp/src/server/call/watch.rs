//! Metrics of a call.

use std::sync::Arc;

use toolkit::call::ErrorKind;

use crate::server::metrics::{CallMetrics, GaugeGuard};
use crate::server::served::ServedTool;
use crate::server::state::Shared;

/// Records the metrics of a call. A call that is dropped before its end counts as cancelled.
pub(super) struct Watch {
    metrics: Arc<CallMetrics>,
    started: std::time::Instant,
    has_ended: bool,
    running: Option<GaugeGuard>,
}

impl Watch {
    pub(super) fn new(entry: &ServedTool, shared: &Shared) -> Self {
        Self {
            metrics: Arc::clone(&entry.metrics),
            started: std::time::Instant::now(),
            has_ended: false,
            running: Some(shared.metrics.running.increment()),
        }
    }

    pub(super) fn ended(&mut self, failure: Option<ErrorKind>) {
        self.has_ended = true;
        self.running = None;
        self.metrics.record(failure, self.started.elapsed());
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.has_ended {
            self.ended(Some(ErrorKind::Cancelled));
        }
    }
}
