//! Workers, which run the steps.
//!
//! | module | part |
//! |---|---|
//! | `run` | a chain, and the way of each step through its entries |
//! | `attempt` | one call of a tool, with the answers to its questions |
//! | `shared` | the settings, the runs and the steps of this worker; ends runs that were cancelled or taken over |

mod attempt;
mod run;
mod shared;

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use toolkit::{Catalog, Context, Dispatcher, Tool};
use toolkit_runtime::ShutdownSignals;

use self::shared::{ContextOf, Settings, WorkerState};
use crate::connect::{Address, Connect};
use crate::error::{DurableError, RunId};
use crate::file;
#[cfg(feature = "postgres")]
use crate::postgres;
use crate::store::{Engine, QueueStatus};

/// A process that runs the steps of durable runs.
///
/// Any number of workers with the same tools share the runs. If one dies, another one continues its runs.
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
/// With the feature `postgres`. The engine keeps its tables in the schema `dbos` of the database, and creates both if they do not exist, with a trigger that
/// keeps the worker of a started run. A worker needs the privileges for that, or an owner of the tables has started one of the
/// same release before. It needs 14 connections:
/// [`Connect::max_connections`], and four for itself. Workers with the same role end the sessions of one that is silent; others
/// need `pg_read_all_stats` and `pg_signal_backend`.
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

    /// Returns the version of the tools: a digest of their definitions. A run is continued by workers with the version that
    /// has started it.
    #[must_use]
    pub fn version(&self) -> String {
        version(self.dispatcher.catalog())
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
    /// Returns an error if the file or database cannot be opened at first.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), DurableError> {
        let version = version(self.dispatcher.catalog());
        let executor = format!("{version}/{}", uuid::Uuid::new_v4().simple());
        match self.connect.address()? {
            #[cfg(feature = "postgres")]
            Address::Postgres(address) => {
                let engine = postgres::Engine::open(&address, &executor, &version).await?;
                self.run_with(engine, &executor, shutdown).await
            }
            Address::File(address) => {
                let engine = file::Engine::open(&address, &executor, &version).await?;
                self.run_with(engine, &executor, shutdown).await
            }
        }
    }

    async fn run_with(
        self,
        mut engine: impl Engine,
        executor: &str,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), DurableError> {
        let Self { dispatcher, settings, context, monitor, .. } = self;
        let shared = Arc::new(WorkerState::new(dispatcher, context, settings, engine.lease()));
        monitor.watch(&shared);
        let runs = Arc::clone(&shared);
        engine.launch(move |execution, input| run::run(Arc::clone(&runs), execution, input)).await?;
        tracing::info!(executor, "running durable steps");
        let mut upkeep =
            pin!(async { tokio::join!(shared.lease.keep(settings.takeover_after), shared::watch_owned(&shared)) });
        tokio::select! {
            () = shutdown => {}
            _ = &mut upkeep => {}
        }
        tokio::select! {
            _ = tokio::time::timeout(settings.shutdown_timeout, shared.steps.drain()) => {}
            _ = &mut upkeep => {}
        }
        engine.shutdown().await;
        shared.lease.release().await;
        Ok(())
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("connect", &self.connect)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// The version of the record that this crate writes. A run is continued only by workers with the same one.
const FORMAT: u32 = 2;

/// The length of a digest in bytes.
const DIGEST_LEN: usize = 8;

/// Returns the version of the tools: the format of the record and the digest of all definitions.
pub(crate) fn version(catalog: &Catalog) -> String {
    // The order of properties is not part of a contract.
    let canonical = |tool: &Tool| {
        let mut definition = tool.to_json();
        definition.sort_all_objects();
        definition.to_string()
    };
    let mut lines: Vec<String> = catalog.iter().map(canonical).collect();
    lines.sort_unstable();
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line);
        hash.update(b"\n");
    }
    format!("{FORMAT}-{}", HEXLOWER.encode(&hash.finalize()[..DIGEST_LEN]))
}

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
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(shared);
    }

    fn shared(&self) -> Option<Arc<WorkerState>> {
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
