//! Metrics of the backends of a proxy.

#[cfg(test)]
mod tests;

use std::fmt::Write;

use super::{head, label};
use crate::status::ServedBackend;

/// A metric with one value for each backend: its name without prefix, its type, its description and its value.
type Metric = (&'static str, &'static str, &'static str, fn(&ServedBackend) -> u64);

const METRICS: [Metric; 6] = [
    ("up", "gauge", "1 if the backend is ready.", |backend| u64::from(backend.state.is_ready())),
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
pub(super) fn render(text: &mut String, backends: &[ServedBackend]) {
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
