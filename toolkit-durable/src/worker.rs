//! Workers, which run the steps.

mod asking;
mod attempt;
mod lane;
mod lease;
mod owned;
mod run;
mod shared;
mod steps;

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use dbos::{DBOS, QueueConflict, QueueOptions};
use toolkit::{Context, Dispatcher};
use toolkit_http::ShutdownSignals;

use self::lease::Lease;
use self::shared::Shared;
use crate::connect::{Connect, POLL};
use crate::error::DurableError;
use crate::record::{Input, RunId};
use crate::version::version;

/// The name of the workflow that runs a chain.
pub(crate) const WORKFLOW: &str = "toolkit.chain";

/// The name of the queue of runs.
pub(crate) const QUEUE: &str = "toolkit.runs";

/// A process that runs the steps of durable runs.
#[must_use]
pub struct Worker {
    connect: Connect,
    dispatcher: Dispatcher,
    limits: Limits,
    context: Arc<ContextOf>,
}

pub(crate) type ContextOf = dyn Fn(&RunId) -> Context + Send + Sync;

/// The settings of a worker.
#[derive(Clone, Copy, Debug)]
struct Limits {
    decision_timeout: Duration,
    takeover_after: Duration,
    shutdown_timeout: Duration,
    is_guarded: bool,
}

/// The time that a step waits for a decision.
const DECISION_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The time after which the runs of a dead worker are continued.
const TAKEOVER_AFTER: Duration = Duration::from_secs(5);

/// The time that running steps have when the worker ends.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(30);

impl Worker {
    /// Creates a worker for the tools of a dispatcher.
    pub fn new(connect: Connect, dispatcher: Dispatcher) -> Self {
        let limits = Limits {
            decision_timeout: DECISION_TIMEOUT,
            takeover_after: TAKEOVER_AFTER,
            shutdown_timeout: SHUTDOWN_TIMEOUT,
            is_guarded: true,
        };
        Self { connect, dispatcher, limits, context: Arc::new(|_| Context::new()) }
    }

    /// Sets the function that creates the context of the calls of a run, with the credentials that its tools require.
    /// Default: an empty context.
    pub fn context(self, context: impl Fn(&RunId) -> Context + Send + Sync + 'static) -> Self {
        Self { context: Arc::new(context), ..self }
    }

    /// Sets the time that a step waits for a decision, such as an approval. A call that is not approved in time is denied,
    /// and a step whose outcome is unknown fails. The time of a step that waits already does not change. Default: a year.
    pub fn decision_timeout(mut self, timeout: Duration) -> Self {
        self.limits.decision_timeout = timeout;
        self
    }

    /// Sets the time for which a worker must be gone before this one continues its runs. Default: 5 seconds.
    pub fn takeover_after(mut self, after: Duration) -> Self {
        self.limits.takeover_after = after;
        self
    }

    /// Sets the time that running steps have when the worker ends. Their calls are then dropped. Default: 30 seconds.
    pub fn shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.limits.shutdown_timeout = timeout;
        self
    }

    /// Disables the guard of effects, to test what it prevents.
    #[doc(hidden)]
    pub fn without_guard(mut self) -> Self {
        self.limits.is_guarded = false;
        self
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
    /// Returns an error if the database cannot be reached at first.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), DurableError> {
        let Self { connect, dispatcher, limits, context } = self;
        let version = version(dispatcher.catalog());
        let executor = format!("{version}/{}", uuid::Uuid::new_v4().simple());
        // Before the engine starts, so that no run of this worker is taken for that of a dead one.
        let lease = Arc::new(Lease::acquire(&connect, &executor, &version).await?);
        let shared = Arc::new(Shared::new(dispatcher, context, limits, lease));
        let dbos = DBOS::new(connect.executor(&executor, &version));
        let workflow = Arc::clone(&shared);
        dbos.register_workflow(WORKFLOW, move |input: Input| run::run(Arc::clone(&workflow), input))
            .map_err(DurableError::engine)?;
        dbos.launch().await.map_err(DurableError::engine)?;
        let options = QueueOptions { polling_interval: POLL, ..QueueOptions::default() };
        dbos.register_queue(QUEUE, options, QueueConflict::AlwaysUpdate).await.map_err(DurableError::engine)?;
        tracing::info!(executor, version, "running durable steps");

        let mut upkeep = pin!(async { tokio::join!(shared.lease.keep(limits.takeover_after), owned::watch(&shared)) });
        tokio::select! {
            () = shutdown => {}
            _ = &mut upkeep => {}
        }
        tokio::select! {
            _ = tokio::time::timeout(limits.shutdown_timeout, shared.steps.drain()) => {}
            _ = &mut upkeep => {}
        }
        dbos.shutdown().await;
        shared.lease.release().await;
        Ok(())
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("connect", &self.connect).field("limits", &self.limits).finish_non_exhaustive()
    }
}
