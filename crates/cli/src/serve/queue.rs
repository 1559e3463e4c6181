//! The metrics of a worker of durable chains: its runs, its lease, and the queue of its application.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::timeout;
use toolkit_durable::{Monitor, QueueStatus};

use super::health::{Metrics, head};

/// The time that the database has to answer a request for metrics.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// The monitor of the worker of this process, once it exists.
#[derive(Clone, Default)]
pub(super) struct Queue(Arc<OnceLock<(Handle, Monitor)>>);

impl Queue {
    /// Watches a worker, which connects to its database on this runtime.
    pub(super) fn watch(&self, runtime: &Handle, monitor: Monitor) {
        let _ = self.0.set((runtime.clone(), monitor));
    }

    /// Returns the metrics.
    pub(super) fn metrics(&self) -> Metrics {
        let queue = self.clone();
        Box::new(move || {
            let queue = queue.clone();
            Box::pin(async move { queue.render().await })
        })
    }

    async fn render(&self) -> String {
        let Some((runtime, monitor)) = self.0.get() else { return String::new() };
        let mut text = String::new();
        let mut gauge = |name: &str, help: &str, value: f64| {
            head(&mut text, name, "gauge", help);
            let _ = writeln!(text, "{name} {value}");
        };
        if let Some(status) = monitor.status() {
            let help = "Number of runs of this worker, including those that wait.";
            gauge("toolkit_durable_worker_runs", help, count(status.n_runs));
            gauge("toolkit_durable_worker_steps", "Number of steps that run on this worker.", count(status.n_steps));
            let help = "Time since the database last confirmed that this worker lives.";
            gauge("toolkit_durable_lease_age_seconds", help, status.lease_age.as_secs_f64());
        }
        let asked = monitor.clone();
        let queue = runtime.spawn(async move { timeout(ANSWER_TIMEOUT, asked.queue()).await });
        let queue = queue.await.ok().and_then(Result::ok).and_then(Result::ok).flatten();
        let help = "1 if the database answered this request; otherwise the metrics of the queue are absent.";
        gauge("toolkit_durable_database_up", help, f64::from(u8::from(queue.is_some())));
        if let Some(QueueStatus { n_queued, oldest_queued, n_started, n_failed, n_parked, n_workers, .. }) = queue {
            let help = "Time for which the first queued run of the application has been waiting for a worker.";
            gauge("toolkit_durable_oldest_queued_seconds", help, oldest_queued.as_secs_f64());
            let help = "Number of living workers of the application with the tools of this one.";
            gauge("toolkit_durable_workers", help, count(n_workers));
            let name = "toolkit_durable_runs";
            head(&mut text, name, "gauge", "Number of runs of the application by state.");
            let runs = [("queued", n_queued), ("started", n_started), ("failed", n_failed), ("parked", n_parked)];
            for (state, n) in runs {
                let _ = writeln!(text, "{name}{{state=\"{state}\"}} {n}");
            }
        }
        text
    }
}

/// Adds the metrics of a worker to those of the server beside it.
#[cfg(feature = "http")]
pub(super) fn beside(
    runtime: &Handle,
    worker: Option<&toolkit_durable::Worker>,
    configure: crate::error::Configure<toolkit_mcp_server::Http>,
) -> crate::error::Configure<toolkit_mcp_server::Http> {
    let Some(worker) = worker else { return configure };
    let queue = Queue::default();
    queue.watch(runtime, worker.monitor());
    Box::new(move |http| Ok(configure(http)?.metrics(queue.metrics())))
}

/// Converts a count, which is exact below 2^32.
fn count(n: impl TryInto<u32>) -> f64 {
    f64::from(n.try_into().unwrap_or(u32::MAX))
}
