//! Monitors, which show what a worker does and how long its queue is.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use crate::error::DurableError;
use crate::store::QueueStatus;
use crate::worker::shared::Shared;

/// The state of a [`Worker`](crate::Worker) while it runs, such as for metrics.
///
/// # Examples
///
/// ```no_run
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_durable::{Connect, Worker};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let worker = Worker::new(Connect::new("postgres://localhost/runs")?, Dispatcher::new(Catalog::linked()?)?);
/// let monitor = worker.monitor();
/// tokio::spawn(worker.run_until_signal());
/// if let Some(status) = monitor.status() {
///     println!("{} runs, {} steps", status.n_runs, status.n_steps);
/// }
/// if let Some(queue) = monitor.queue().await? {
///     println!("{} runs wait for a worker", queue.n_queued);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Monitor(Arc<Mutex<Weak<Shared>>>);

/// The state of a worker; see [`Monitor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerStatus {
    /// The number of runs of this worker, including those that wait.
    pub n_runs: usize,
    /// The number of steps that run.
    pub n_steps: usize,
    /// The time since the database last confirmed that the worker lives. It is below a second, unless the connection is lost.
    pub lease_age: Duration,
}

impl Monitor {
    /// Watches a worker that starts.
    pub(super) fn watch(&self, shared: &Arc<Shared>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(shared);
    }

    fn shared(&self) -> Option<Arc<Shared>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).upgrade()
    }

    /// Returns the state of the worker, or `None` unless it runs.
    #[must_use]
    pub fn status(&self) -> Option<WorkerStatus> {
        let shared = self.shared()?;
        let lease_age = shared.lease.age()?;
        Some(WorkerStatus { n_runs: shared.running().len(), n_steps: shared.steps.n_running(), lease_age })
    }

    /// Asks the database for the queue of the worker's application. Returns `None` unless the worker runs.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn queue(&self) -> Result<Option<QueueStatus>, DurableError> {
        match self.shared() {
            Some(shared) => shared.lease.queue().await.map(Some),
            None => Ok(None),
        }
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor").field("status", &self.status()).finish_non_exhaustive()
    }
}
