//! Metrics in the Prometheus text format (0.0.4), which `GET /metrics` returns: counts and histograms that calls and requests
//! add to.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use toolkit::backend::BackendState;
use toolkit::call::ErrorKind;

use super::status::ServedBackend;

/// The upper bounds of the histogram buckets, in seconds.
const BUCKETS: [f64; 10] = [0.0001, 0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0, 300.0];

/// The reason why a request was rejected.
#[derive(Clone, Copy, Debug)]
pub(super) enum RejectReason {
    Origin,
    Unauthorized,
    Rate,
    TooLarge,
    TooSlow,
    Malformed,
    Overloaded,
}

const REJECT_REASONS: [&str; 7] =
    ["origin", "unauthorized", "rate", "too_large", "too_slow", "malformed", "overloaded"];

/// The outcomes of a call.
const OUTCOMES: [&str; 5] = ["ok", "rejected", "failed", "timed_out", "cancelled"];

/// The number of tools from which on the metrics of tools that are not served are removed.
const MAX_REMEMBERED: usize = 4096;

/// The label for calls of unknown tools.
const UNKNOWN: &str = "unknown";

/// The metrics of a server since its creation.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    tools: Mutex<BTreeMap<String, Arc<CallMetrics>>>,
    rejected: [AtomicU64; REJECT_REASONS.len()],
    pub(super) resources: ResourceMetrics,
    pub(super) connections: Gauge,
    pub(super) running: Gauge,
    /// The number of lines that the log of the process has dropped, if it counts them.
    pub(super) dropped_log_lines: OnceLock<&'static AtomicU64>,
}

/// The metrics of the calls of one tool.
#[derive(Debug, Default)]
pub(super) struct CallMetrics {
    outcomes: [AtomicU64; OUTCOMES.len()],
    buckets: [AtomicU64; BUCKETS.len()],
    micros: AtomicU64,
    coerced: AtomicU64,
}

/// A value that goes up and down.
#[derive(Debug, Default)]
pub(super) struct Gauge(Arc<AtomicU64>);

/// A guard that adds one to a gauge until it is dropped.
#[derive(Debug)]
pub(super) struct GaugeGuard(Arc<AtomicU64>);

impl Gauge {
    pub(super) fn value(&self) -> u64 {
        self.0.load(Relaxed)
    }

    pub(super) fn increment(&self) -> GaugeGuard {
        self.0.fetch_add(1, Relaxed);
        GaugeGuard(Arc::clone(&self.0))
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Metrics {
    /// Returns the metrics of a tool, which outlive its catalog.
    pub(super) fn tool(&self, id: &str) -> Arc<CallMetrics> {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(tools.entry(id.to_owned()).or_default())
    }

    /// Returns the metrics of calls of unknown tools. Clients choose these names, so they do not become labels.
    pub(super) fn unknown_tool(&self) -> Arc<CallMetrics> {
        self.tool(UNKNOWN)
    }

    /// Removes the metrics of tools that are no longer served once there are many, since a backend may list other
    /// tools every minute.
    pub(super) fn forget_all_but<'s>(&self, served: impl Iterator<Item = &'s str>) {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        if tools.len() > MAX_REMEMBERED {
            let served: HashSet<&str> = served.chain([UNKNOWN]).collect();
            tools.retain(|id, _| served.contains(&**id));
        }
    }

    pub(super) fn reject(&self, why: RejectReason) {
        self.rejected[why as usize].fetch_add(1, Relaxed);
    }

    /// Renders all metrics as text.
    pub(super) fn render(&self, n_tasks: usize, backends: &[ServedBackend]) -> String {
        let mut text = String::new();
        gauge(&mut text, "toolkit_mcp_connections", "Number of open connections.", self.connections.value());
        gauge(&mut text, "toolkit_mcp_calls_running", "Number of running calls.", self.running.value());
        gauge(&mut text, "toolkit_mcp_tasks", "Number of tasks, including ended ones.", n_tasks);
        if let Some(n) = self.dropped_log_lines.get() {
            let name = "toolkit_mcp_log_lines_dropped_total";
            head(
                &mut text,
                name,
                "counter",
                "Number of lines of the log that were dropped, since stderr was not read.",
            );
            let _ = writeln!(text, "{name} {}", n.load(Relaxed));
        }
        head(&mut text, "toolkit_mcp_rejected_total", "counter", "Number of rejected requests, by reason.");
        for (reason, n) in std::iter::zip(REJECT_REASONS, &self.rejected) {
            let _ = writeln!(text, "toolkit_mcp_rejected_total{{reason=\"{reason}\"}} {}", n.load(Relaxed));
        }
        let tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        head(&mut text, "toolkit_mcp_calls_total", "counter", "Number of completed calls, by tool and outcome.");
        for (id, tool) in &*tools {
            tool.render_outcomes(&mut text, "toolkit_mcp_calls_total", &format!("tool=\"{}\"", label(id)));
        }
        head(&mut text, "toolkit_mcp_call_seconds", "histogram", "Duration of calls in seconds.");
        for (id, tool) in &*tools {
            tool.render_seconds(&mut text, "toolkit_mcp_call_seconds", &format!("tool=\"{}\"", label(id)));
        }
        let name = "toolkit_mcp_calls_coerced_total";
        head(&mut text, name, "counter", "Number of successful calls whose arguments were coerced, by tool.");
        for (id, tool) in &*tools {
            let n = tool.coerced.load(Relaxed);
            if n > 0 {
                let _ = writeln!(text, "{name}{{tool=\"{}\"}} {n}", label(id));
            }
        }
        drop(tools);
        self.resources.render(&mut text);
        render(&mut text, backends);
        text
    }
}

impl CallMetrics {
    /// Counts a call that was rejected before it started.
    pub(super) fn reject(&self) {
        self.count(1, Duration::ZERO);
    }

    /// Counts a call whose arguments did not match the schema before they were coerced.
    pub(super) fn record_coercion(&self) {
        self.coerced.fetch_add(1, Relaxed);
    }

    pub(super) fn record(&self, failure: Option<ErrorKind>, took: Duration) {
        let nth = match failure {
            None => 0,
            Some(ErrorKind::TimedOut) => 3,
            Some(ErrorKind::Cancelled) => 4,
            Some(ErrorKind::Failed | ErrorKind::Internal | ErrorKind::Panicked | ErrorKind::InvalidOutput) => 2,
            Some(_) => 1,
        };
        self.count(nth, took);
    }

    fn count(&self, nth: usize, took: Duration) {
        self.outcomes[nth].fetch_add(1, Relaxed);
        let seconds = took.as_secs_f64();
        if let Some(nth) = BUCKETS.iter().position(|bound| seconds <= *bound) {
            self.buckets[nth].fetch_add(1, Relaxed);
        }
        self.micros.fetch_add(took.as_micros().try_into().unwrap_or(u64::MAX), Relaxed);
    }

    /// Renders a counter of the outcomes. `labels` precede the outcome.
    fn render_outcomes(&self, text: &mut String, name: &str, labels: &str) {
        for (outcome, n) in std::iter::zip(OUTCOMES, &self.outcomes) {
            let n = n.load(Relaxed);
            if n > 0 {
                let _ = writeln!(text, "{name}{{{labels},outcome=\"{outcome}\"}} {n}");
            }
        }
    }

    /// Renders a histogram of the durations.
    fn render_seconds(&self, text: &mut String, name: &str, labels: &str) {
        let n_calls: u64 = self.outcomes.iter().map(|n| n.load(Relaxed)).sum();
        if n_calls == 0 {
            return;
        }
        let mut below = 0;
        for (bound, n) in std::iter::zip(BUCKETS, &self.buckets) {
            below += n.load(Relaxed);
            let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{bound}\"}} {below}");
        }
        let _ = writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {n_calls}");
        let seconds = Duration::from_micros(self.micros.load(Relaxed)).as_secs_f64();
        let _ = writeln!(text, "{name}_sum{{{labels}}} {seconds}");
        let _ = writeln!(text, "{name}_count{{{labels}}} {n_calls}");
    }
}

/// Escapes the value of a label.
fn label(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn gauge(text: &mut String, name: &str, help: &str, value: impl std::fmt::Display) {
    head(text, name, "gauge", help);
    let _ = writeln!(text, "{name} {value}");
}

// Metrics of the backends of a proxy.

/// A metric with one value for each backend: its name without prefix, its type, its description and its value.
type Metric = (&'static str, &'static str, &'static str, fn(&ServedBackend) -> u64);

const METRICS: [Metric; 6] = [
    ("up", "gauge", "1 if the backend is ready.", |backend| u64::from(backend.state == BackendState::Ready)),
    ("tools", "gauge", "Number of served tools.", |backend| backend.n_tools as u64),
    ("tools_left_out", "gauge", "Number of tools that are not served, and of other diagnostics.", |backend| {
        backend.n_left_out as u64
    }),
    (
        "restarts_total",
        "counter",
        "Number of connections after the first one; for a process, of attempts to start it.",
        |backend| backend.n_restarts,
    ),
    ("calls_running", "gauge", "Number of running calls.", |backend| backend.calls.n_running),
    ("tasks_running", "gauge", "Number of running calls that the backend runs as tasks.", |backend| backend.n_tasks),
];

/// Renders the metrics of all backends. The labels are names of backends, which the host chooses, and kinds of errors.
fn render(text: &mut String, backends: &[ServedBackend]) {
    if backends.is_empty() {
        return;
    }
    for (name, kind, help, value) in METRICS {
        head(text, &format!("toolkit_mcp_backend_{name}"), kind, help);
        for backend in backends {
            let _ =
                writeln!(text, "toolkit_mcp_backend_{name}{{backend=\"{}\"}} {}", label(&backend.name), value(backend));
        }
    }
    head(text, "toolkit_mcp_backend_calls_total", "counter", "Number of completed calls, by backend and outcome.");
    for backend in backends {
        let name = label(&backend.name);
        let n_errors: u64 = backend.calls.errors.iter().map(|(_, n)| n).sum();
        let outcomes = backend.calls.errors.iter().map(|(kind, n)| (kind.name(), *n));
        for (outcome, n) in outcomes.chain([("ok", backend.calls.n_ended.saturating_sub(n_errors))]) {
            let _ = writeln!(text, "toolkit_mcp_backend_calls_total{{backend=\"{name}\",outcome=\"{outcome}\"}} {n}");
        }
    }
    head(text, "toolkit_mcp_backend_call_seconds", "histogram", "Duration of calls of a backend in seconds.");
    for backend in backends {
        let (name, calls) = (label(&backend.name), &backend.calls);
        let metric = "toolkit_mcp_backend_call_seconds";
        for (bound, n) in &calls.histogram {
            let bound = bound.as_secs_f64();
            let _ = writeln!(text, "{metric}_bucket{{backend=\"{name}\",le=\"{bound}\"}} {n}");
        }
        let _ = writeln!(text, "{metric}_bucket{{backend=\"{name}\",le=\"+Inf\"}} {}", calls.n_ended);
        let _ = writeln!(text, "{metric}_sum{{backend=\"{name}\"}} {}", calls.duration.as_secs_f64());
        let _ = writeln!(text, "{metric}_count{{backend=\"{name}\"}} {}", calls.n_ended);
    }
}

// Metrics of requests for resources and prompts.

/// A method whose requests are counted.
#[derive(Clone, Copy, Debug)]
pub(super) enum ResourceMetric {
    List,
    Templates,
    Read,
    Subscribe,
    Prompt,
    Complete,
}

const METHODS: [&str; 6] = [
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "prompts/get",
    "completion/complete",
];

/// The metrics of requests for resources and prompts, by method.
#[derive(Debug, Default)]
pub(super) struct ResourceMetrics([Arc<CallMetrics>; METHODS.len()]);

/// Records the metrics of a request. One that is dropped before its end counts as cancelled.
pub(super) struct ResourceTimer {
    metrics: Arc<CallMetrics>,
    started: Instant,
    has_ended: bool,
}

impl ResourceMetrics {
    pub(super) fn start(&self, method: ResourceMetric) -> ResourceTimer {
        ResourceTimer { metrics: Arc::clone(&self.0[method as usize]), started: Instant::now(), has_ended: false }
    }

    fn render(&self, text: &mut String) {
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
    pub(super) fn end(mut self, failure: Option<ErrorKind>) {
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
