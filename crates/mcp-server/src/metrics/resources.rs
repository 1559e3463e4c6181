//! Metrics of requests for resources and prompts.

use std::sync::Arc;
use std::time::Instant;

use toolkit::call::ErrorKind;

use super::{CallMetrics, head};

/// A method whose requests are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ResourceMetric {
    List,
    Templates,
    Read,
    Subscribe,
    Prompt,
    Complete,
    Skills,
    Skill,
}

const METHODS: [&str; 8] = [
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "prompts/get",
    "completion/complete",
    "skills/list",
    "skills/get",
];

/// The metrics of requests for resources and prompts, by method.
#[derive(Debug, Default)]
pub(crate) struct ResourceMetrics([Arc<CallMetrics>; METHODS.len()]);

/// Records the metrics of a request. One that is dropped before its end counts as cancelled.
pub(crate) struct ResourceTimer {
    metrics: Arc<CallMetrics>,
    started: Instant,
    has_ended: bool,
}

impl ResourceMetrics {
    pub(crate) fn start(&self, method: ResourceMetric) -> ResourceTimer {
        ResourceTimer { metrics: Arc::clone(&self.0[method as usize]), started: Instant::now(), has_ended: false }
    }

    pub(super) fn render(&self, text: &mut String) {
        let name = "toolkit_mcp_resource_requests_total";
        head(text, name, "counter", "Number of completed requests for resources and prompts, by method and outcome.");
        for (method, metrics) in std::iter::zip(METHODS, &self.0) {
            metrics.render_outcomes(text, name, &format!("method=\"{method}\""));
        }
        let name = "toolkit_mcp_resource_request_seconds";
        head(text, name, "histogram", "Duration of requests for resources and prompts in seconds.");
        for (method, metrics) in std::iter::zip(METHODS, &self.0) {
            metrics.render_seconds(text, name, &format!("method=\"{method}\""));
        }
    }
}

impl ResourceTimer {
    pub(crate) fn end(mut self, failure: Option<ErrorKind>) {
        self.has_ended = true;
        self.metrics.record(failure, self.started.elapsed());
    }
}

impl Drop for ResourceTimer {
    fn drop(&mut self) {
        if !self.has_ended {
            self.metrics.record(Some(ErrorKind::Cancelled), self.started.elapsed());
        }
    }
}
