//! The measurement of a call.

use std::sync::Arc;

use tokio::time::Instant;
use toolkit::call::ErrorKind;
use toolkit_mcp::Code;

use crate::metrics::{CallMetrics, GaugeGuard};
use crate::observe::Observed;
use crate::reply::Reply;
use crate::served::ServedTool;
use crate::state::ServerState;

/// Records the metrics of a call. A call that is dropped before its end counts as cancelled.
pub(super) struct Watch {
    metrics: Arc<CallMetrics>,
    pub(super) started: Instant,
    has_ended: bool,
    running: Option<GaugeGuard>,
    observed: Option<Observed>,
}

impl Watch {
    pub(super) fn new(entry: &ServedTool, shared: &ServerState, observed: Option<Observed>) -> Self {
        Self {
            metrics: Arc::clone(&entry.metrics),
            started: Instant::now(),
            has_ended: false,
            running: Some(shared.metrics.running.increment()),
            observed,
        }
    }

    pub(super) fn ended(&mut self, reply: &Reply) {
        self.end(reply.failure, reply.code);
    }

    fn end(&mut self, failure: Option<ErrorKind>, code: Option<Code>) {
        self.has_ended = true;
        self.running = None;
        self.metrics.record(failure, self.started.elapsed());
        if let Some(observed) = self.observed.take() {
            observed.end(failure, code);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.has_ended {
            self.end(Some(ErrorKind::Cancelled), None);
        }
    }
}
