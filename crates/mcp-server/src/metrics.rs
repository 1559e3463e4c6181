//! Metrics in the Prometheus text format (0.0.4), which `GET /metrics` returns: counts and histograms that calls and requests
//! add to.

mod backends;
mod resources;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use toolkit::call::ErrorKind;
use toolkit_runtime::Mutex;

use self::backends::render;
pub(super) use self::resources::{ResourceMetric, ResourceMetrics};
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

#[cfg(feature = "openapi")]
impl RejectReason {
    /// Returns the name of the reason in metrics and in responses.
    pub(super) fn name(self) -> &'static str {
        REJECT_REASONS[self as usize]
    }
}

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
        let mut tools = self.tools.lock();
        Arc::clone(tools.entry(id.to_owned()).or_default())
    }

    /// Returns the metrics of calls of unknown tools. Clients choose these names, so they do not become labels.
    pub(super) fn unknown_tool(&self) -> Arc<CallMetrics> {
        self.tool(UNKNOWN)
    }

    /// Removes the metrics of tools that are no longer served once there are many, since a backend may list other
    /// tools every minute.
    pub(super) fn forget_all_but<'s>(&self, served: impl Iterator<Item = &'s str>) {
        let mut tools = self.tools.lock();
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
        let tools = self.tools.lock();
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
