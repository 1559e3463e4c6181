//! Workers, which run the steps.
//!
//! | module | part |
//! |---|---|
//! | `queue` | takes runs from the queue, and records their outcomes |
//! | `upkeep` | signs that the worker lives; the runs of dead ones |
//! | `run` | a chain, and the way of each step through its entries |
//! | `attempt` | one call of a tool, with the answers to its questions |
//! | `child` | runs that a step starts and waits for |
//! | `execution` | what an execution of a run has recorded, and records |
//! | `shared` | the settings, the runs and the steps of this worker |

mod attempt;
mod child;
mod execution;
mod queue;
mod run;
mod shared;
mod upkeep;

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use toolkit::{Context, Dispatcher};
use toolkit_runtime::{Mutex, ShutdownSignals};

pub use self::child::run_child;
use self::shared::{ContextOf, Settings, WorkerState};
use crate::connect::Connect;
use crate::contract::Contracts;
use crate::error::{DurableError, RunId};
use crate::store::QueueStatus;

/// A process that runs the steps of durable runs.
///
/// Any number of workers share the runs, each of which is continued by those whose tools have the contracts with which it was
/// started. If a worker dies, another one continues its runs.
///
/// # Shutdown
///
/// At SIGTERM a worker starts no further step. When its running steps have ended, at the latest after
/// [`shutdown_timeout`](Self::shutdown_timeout), it releases its runs to other workers.
///
/// # A file
///
/// A worker creates the file with its tables, and beside it the folder `FILE-workers` for the locks that show that workers
/// live. Only its user can read and write them.
///
/// # Postgres
///
/// With the feature `postgres`. A worker creates the database and its tables, whose names begin with `toolkit_`, unless they
/// exist. It holds at most [four connections](Connect::max_connections), through which nothing belongs to a session: a pooler
/// such as PgBouncer may stand between.
///
/// # Examples
///
/// Tools that need credentials get them from the worker, since they are not recorded:
///
/// ```no_run
/// use std::time::Duration;
/// use toolkit::call::Credentials;
/// use toolkit::{Catalog, Context, Dispatcher};
/// use toolkit_durable::{Connect, Worker};
///
/// # async fn work() -> Result<(), Box<dyn std::error::Error>> {
/// let worker = Worker::new(Connect::new("runs.db")?, Dispatcher::new(Catalog::linked()?)?)
///     .context(|_run| {
///         Context::new().nested_with(|_tool, context| {
///             let key = std::env::var("PAYMENTS_KEY").unwrap_or_default();
///             Ok(context.with_credentials(Credentials::new().with_secret("PAYMENTS_KEY", key)))
///         })
///     })
///     .decision_timeout(Duration::from_secs(7 * 24 * 60 * 60));
/// worker.run_until_signal().await?;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct Worker {
    connect: Connect,
    dispatcher: Dispatcher,
    settings: Settings,
    context: Arc<ContextOf>,
    monitor: Monitor,
}

impl Worker {
    /// Creates a worker for the tools of a dispatcher.
    pub fn new(connect: Connect, dispatcher: Dispatcher) -> Self {
        let settings = Settings::default();
        Self { connect, dispatcher, settings, context: Arc::new(|_| Context::new()), monitor: Monitor::default() }
    }

    /// Sets the function that creates the context of the calls of a run, with the credentials that its tools require.
    /// Default: an empty context.
    pub fn context(self, context: impl Fn(&RunId) -> Context + Send + Sync + 'static) -> Self {
        Self { context: Arc::new(context), ..self }
    }

    /// Sets the maximum number of runs at once of which no step waits for a decision or a time. Others stay in the queue, for
    /// other workers. Default: 100.
    pub fn max_runs(mut self, n: usize) -> Self {
        self.settings.max_runs = n.max(1);
        self
    }

    /// Sets the maximum number of calls of a step whose tool is read-only or idempotent and fails with an error that
    /// [may pass](toolkit::ToolError::is_retryable): after a second, and then after four times as long each time. Default: 4.
    ///
    /// A tool that has certainly not started, such as one that is overloaded, is called again until it does.
    pub fn max_attempts(mut self, n: u32) -> Self {
        self.settings.max_attempts = n.max(1);
        self
    }

    /// Sets the time that a step waits for a decision, such as an approval. A call that is not approved in time is denied,
    /// and a step whose outcome is unknown fails. The time of a step that waits already does not change. Default: a year.
    pub fn decision_timeout(mut self, timeout: Duration) -> Self {
        self.settings.decision_timeout = timeout;
        self
    }

    /// Sets the time for which a worker must be gone or silent before this one continues its runs. A worker that hangs, or
    /// whose packets vanish, is silent; it has at least 3 seconds. A worker of a file whose process has ended is replaced at
    /// once. Default: 5 seconds.
    pub fn takeover_after(mut self, after: Duration) -> Self {
        self.settings.takeover_after = after;
        self
    }

    /// Sets the time that running steps have when the worker ends. Their calls are then dropped. Default: 30 seconds.
    pub fn shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.settings.shutdown_timeout = timeout;
        self
    }

    /// Disables the guard of effects, to test what it prevents.
    #[doc(hidden)]
    pub fn without_guard(mut self) -> Self {
        self.settings.is_guarded = false;
        self
    }

    /// Returns the monitor of the worker, which shows its runs and its queue while it runs.
    #[must_use]
    pub fn monitor(&self) -> Monitor {
        self.monitor.clone()
    }

    /// Returns the number of tools.
    #[must_use]
    pub fn n_tools(&self) -> usize {
        self.dispatcher.catalog().len()
    }

    /// Returns the version of the tools: a digest of their contracts. Workers of the version that was started last take new
    /// runs. Texts for models, such as descriptions, are not part of a contract.
    #[must_use]
    pub fn version(&self) -> String {
        Contracts::new(self.dispatcher.catalog()).version()
    }

    /// Runs steps until SIGTERM or Ctrl-C.
    ///
    /// # Errors
    ///
    /// As for [`Worker::run`].
    pub async fn run_until_signal(self) -> Result<(), DurableError> {
        let mut signals = ShutdownSignals::listen();
        self.run(signals.next()).await
    }

    /// Runs steps until `shutdown` completes. Then no further step starts, the running ones may
    /// [end](Self::shutdown_timeout), and other workers continue the runs.
    ///
    /// # Errors
    ///
    /// Returns an error if the file or database cannot be opened at first, or if the file is removed or replaced.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), DurableError> {
        let Self { connect, dispatcher, settings, context, monitor } = self;
        let store = connect.open(true).await?;
        let shared = Arc::new(WorkerState::new(dispatcher, context, settings, store, connect.application_name()));
        let upkeep = upkeep::register(&shared).await?;
        monitor.watch(&shared);
        tracing::info!(worker = shared.name.id, "running durable steps");
        let ended = {
            // The executions of runs end with these, and the store gets back the connections that they use.
            let (mut upkeep, mut runs) = (pin!(upkeep), pin!(queue::take_runs(&shared)));
            let ended = tokio::select! {
                () = shutdown => Ok(()),
                error = &mut upkeep => Err(error),
                () = &mut runs => Ok(()),
            };
            if ended.is_ok() {
                tokio::select! {
                    _ = tokio::time::timeout(settings.shutdown_timeout, shared.steps.drain()) => {}
                    _ = &mut upkeep => {}
                    () = &mut runs => {}
                }
            }
            ended
        };
        upkeep::release(&shared).await;
        ended
    }
}

toolkit::debug_fields!(Worker { connect, settings });

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
pub struct Monitor(Arc<Mutex<Weak<WorkerState>>>);

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
    fn watch(&self, shared: &Arc<WorkerState>) {
        *self.0.lock() = Arc::downgrade(shared);
    }

    fn shared(&self) -> Option<Arc<WorkerState>> {
        self.0.lock().upgrade()
    }

    /// Returns the state of the worker, or `None` unless it runs.
    #[must_use]
    pub fn status(&self) -> Option<WorkerStatus> {
        let shared = self.shared()?;
        let lease_age = shared.lease_age()?;
        Some(WorkerStatus { n_runs: shared.n_runs(), n_steps: shared.steps.n_running(), lease_age })
    }

    /// Asks the database for the queue of the worker's application. Returns `None` unless the worker runs.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn queue(&self) -> Result<Option<QueueStatus>, DurableError> {
        match self.shared() {
            Some(shared) => queue::status(&shared).await.map(Some),
            None => Ok(None),
        }
    }
}

toolkit::debug_fields!(it, Monitor { status: it.status() });
