//! What has happened, as Prometheus reads it (text format 0.0.4).

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use toolkit::call::ErrorKind;

/// Upper bounds of the buckets, in seconds.
const BUCKETS: [f64; 10] = [0.0001, 0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0, 300.0];

/// Why a request got no further.
#[derive(Clone, Copy, Debug)]
pub(super) enum Refused {
    Origin,
    Unauthorized,
    Rate,
    TooLarge,
    TooSlow,
    Malformed,
    Overloaded,
}

const REFUSED: [&str; 7] = ["origin", "unauthorized", "rate", "too_large", "too_slow", "malformed", "overloaded"];

/// How a call ended.
const OUTCOMES: [&str; 5] = ["ok", "refused", "failed", "timed_out", "cancelled"];

/// How many tools are remembered that may not be served any more.
const MAX_REMEMBERED: usize = 4096;

/// The label of calls of no tool.
const UNKNOWN: &str = "unknown";

/// What has happened since the server was made.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    tools: Mutex<BTreeMap<String, Arc<CallMetrics>>>,
    refused: [AtomicU64; REFUSED.len()],
    pub(super) connections: Gauge,
    pub(super) running: Gauge,
}

/// What has happened to one tool.
#[derive(Debug, Default)]
pub(super) struct CallMetrics {
    outcomes: [AtomicU64; OUTCOMES.len()],
    buckets: [AtomicU64; BUCKETS.len()],
    micros: AtomicU64,
}

/// A number that goes up and down.
#[derive(Debug, Default)]
pub(super) struct Gauge(Arc<AtomicU64>);

/// Counts as one for as long as it is held.
#[derive(Debug)]
pub(super) struct Held(Arc<AtomicU64>);

impl Gauge {
    pub(super) fn hold(&self) -> Held {
        self.0.fetch_add(1, Relaxed);
        Held(Arc::clone(&self.0))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Metrics {
    /// Those of a tool, which outlive the catalogue that it stood in.
    pub(super) fn of_tool(&self, id: &str) -> Arc<CallMetrics> {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(tools.entry(id.to_owned()).or_default())
    }

    /// Those of calls of tools that there are none of. What clients call them is their word, and gets no label.
    pub(super) fn of_unknown(&self) -> Arc<CallMetrics> {
        self.of_tool(UNKNOWN)
    }

    /// Forgets the tools that are not served any more, once there are many: a server behind this one may list others
    /// every minute.
    pub(super) fn forget_all_but<'s>(&self, served: impl Iterator<Item = &'s str>) {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        if tools.len() > MAX_REMEMBERED {
            let served: HashSet<&str> = served.chain([UNKNOWN]).collect();
            tools.retain(|id, _| served.contains(&**id));
        }
    }

    pub(super) fn refuse(&self, why: Refused) {
        self.refused[why as usize].fetch_add(1, Relaxed);
    }

    /// The text that Prometheus reads.
    pub(super) fn render(&self) -> String {
        let mut text = String::new();
        gauge(&mut text, "toolkit_mcp_connections", "Connections that are open.", &self.connections);
        gauge(&mut text, "toolkit_mcp_calls_running", "Calls that run.", &self.running);
        head(&mut text, "toolkit_mcp_refused_total", "counter", "Requests that got no further, by reason.");
        for (reason, n) in std::iter::zip(REFUSED, &self.refused) {
            let _ = writeln!(text, "toolkit_mcp_refused_total{{reason=\"{reason}\"}} {}", n.load(Relaxed));
        }
        let tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        head(&mut text, "toolkit_mcp_calls_total", "counter", "Calls that have ended, by tool and outcome.");
        for (id, tool) in &*tools {
            let id = label(id);
            for (outcome, n) in std::iter::zip(OUTCOMES, &tool.outcomes) {
                let n = n.load(Relaxed);
                if n > 0 {
                    let _ = writeln!(text, "toolkit_mcp_calls_total{{tool=\"{id}\",outcome=\"{outcome}\"}} {n}");
                }
            }
        }
        head(&mut text, "toolkit_mcp_call_seconds", "histogram", "How long calls took.");
        for (id, tool) in &*tools {
            tool.render_into(&mut text, &label(id));
        }
        text
    }
}

impl CallMetrics {
    /// Counts a call that was refused before it began.
    pub(super) fn refuse(&self) {
        self.count(1, Duration::ZERO);
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

    fn render_into(&self, text: &mut String, id: &str) {
        let n_calls: u64 = self.outcomes.iter().map(|n| n.load(Relaxed)).sum();
        if n_calls == 0 {
            return;
        }
        let mut below = 0;
        for (bound, n) in std::iter::zip(BUCKETS, &self.buckets) {
            below += n.load(Relaxed);
            let _ = writeln!(text, "toolkit_mcp_call_seconds_bucket{{tool=\"{id}\",le=\"{bound}\"}} {below}");
        }
        let _ = writeln!(text, "toolkit_mcp_call_seconds_bucket{{tool=\"{id}\",le=\"+Inf\"}} {n_calls}");
        let seconds = Duration::from_micros(self.micros.load(Relaxed)).as_secs_f64();
        let _ = writeln!(text, "toolkit_mcp_call_seconds_sum{{tool=\"{id}\"}} {seconds}");
        let _ = writeln!(text, "toolkit_mcp_call_seconds_count{{tool=\"{id}\"}} {n_calls}");
    }
}

/// The value of a label.
fn label(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn gauge(text: &mut String, name: &str, help: &str, gauge: &Gauge) {
    head(text, name, "gauge", help);
    let _ = writeln!(text, "{name} {}", gauge.0.load(Relaxed));
}
