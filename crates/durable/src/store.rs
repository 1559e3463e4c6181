//! The interface of the stores: what clients, workers and executions need of Postgres or of a file.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use toolkit::ToolError;
use toolkit::call::BoxFuture;
use toolkit_backends::chain::ChainOutcome;

use crate::error::{DurableError, RunId};
use crate::record::{Attempt, AttemptPlace, Decision, RunInput};

/// The answer of a store.
pub(crate) type StoreAnswer<'a, T> = BoxFuture<'a, Result<T, DurableError>>;

/// The interval at which a worker looks for runs to start, and a client for their end.
pub(crate) const POLL: Duration = Duration::from_millis(100);

/// The time that a look at the other workers, or at the runs of this one, may take: their connection may be lost, too.
pub(crate) const LOOK_TIMEOUT: Duration = Duration::from_secs(30);

/// The part of a run's life that a store records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Queued,
    Started,
    Finished,
    Rejected,
    Cancelled,
    Parked,
}

impl Phase {
    pub(crate) const ALL: [Self; 6] =
        [Self::Queued, Self::Started, Self::Finished, Self::Rejected, Self::Cancelled, Self::Parked];

    /// Returns true if no worker continues the run.
    pub(crate) fn has_ended(self) -> bool {
        !matches!(self, Self::Queued | Self::Started)
    }
}

/// A recorded run.
pub(crate) struct RunRecord {
    pub(crate) id: RunId,
    pub(crate) application: Option<String>,
    pub(crate) phase: Phase,
    /// The version of the tools, once a worker has started it.
    pub(crate) version: Option<String>,
    /// The worker that runs it, or ran it last.
    pub(crate) worker: Option<String>,
    /// The JSON of an [`RunInput`], if it was asked for.
    pub(crate) input: Option<String>,
    pub(crate) started: Timestamp,
    pub(crate) changed: Timestamp,
}

/// A part of the list of runs, the last started one first.
pub(crate) struct RunsPage<'a> {
    /// The application of the runs; all applications if it is absent.
    pub(crate) application: Option<&'a str>,
    pub(crate) phases: Vec<Phase>,
    /// The time that must have passed since the end of a run.
    pub(crate) ended_for: Option<Duration>,
    pub(crate) limit: usize,
    pub(crate) offset: usize,
}

/// The runs, for clients.
pub(crate) trait Runs: Send + Sync {
    /// Queues a run, unless there is one with this id.
    fn start<'a>(&'a self, id: &'a RunId, input: &'a RunInput) -> StoreAnswer<'a, ()>;

    /// Reads a run.
    fn find<'a>(&'a self, id: &'a RunId, with_input: bool) -> StoreAnswer<'a, Option<RunRecord>>;

    /// Reads the numbers and outputs of the entries of a run; see [`AttemptPlace::number`].
    fn entries<'a>(&'a self, id: &'a RunId) -> StoreAnswer<'a, Vec<(i32, Option<String>)>>;

    /// Waits for the outcome of a run that exists.
    fn outcome<'a>(&'a self, id: &'a RunId) -> StoreAnswer<'a, ChainOutcome>;

    /// Cancels a run that has not ended.
    fn cancel<'a>(&'a self, id: &'a RunId) -> StoreAnswer<'a, ()>;

    /// Queues a run that was given up or cancelled.
    fn resume<'a>(&'a self, id: &'a RunId) -> StoreAnswer<'a, ()>;

    /// Records the decision about an attempt, unless there is one.
    fn decide<'a>(&'a self, id: &'a RunId, place: AttemptPlace, decision: &'a Decision) -> StoreAnswer<'a, ()>;

    fn list<'a>(&'a self, page: RunsPage<'a>) -> StoreAnswer<'a, Vec<RunRecord>>;

    /// Deletes those of the runs that have ended, and returns their number.
    fn delete<'a>(&'a self, ids: &'a [&'a str]) -> StoreAnswer<'a, u64>;

    /// Returns the version of the workers of an application that were deployed last.
    fn last_version<'a>(&'a self, application: &'a str) -> StoreAnswer<'a, Option<String>>;

    /// Returns true if a worker of an application with this version lives.
    fn has_worker<'a>(&'a self, application: &'a str, version: &'a str) -> StoreAnswer<'a, bool>;
}

/// The proof that a worker lives.
pub(crate) trait Lease: Send + Sync {
    /// Returns the time since the store last confirmed the lease.
    fn age(&self) -> Option<Duration>;

    /// Returns the queue of the application.
    fn queue(&self) -> StoreAnswer<'_, QueueStatus>;

    /// Keeps the lease, and queues the runs of dead workers again. Does not complete.
    fn keep(&self, takeover_after: Duration) -> BoxFuture<'_, ()>;

    /// Returns the runs that are assigned to this worker, with the times of their assignments: a worker starts its runs in the
    /// order of these times.
    fn owned(&self) -> StoreAnswer<'_, HashMap<String, i64>>;

    /// Queues a run again, unless it belongs to another worker.
    fn requeue<'a>(&'a self, run: &'a str) -> StoreAnswer<'a, ()>;

    /// Queues all runs of this worker again, which has ended.
    fn release(&self) -> BoxFuture<'_, ()>;
}

/// The queue of an application; see [`Monitor`](crate::Monitor).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueStatus {
    /// The number of runs that wait for a worker.
    pub n_queued: u64,
    /// The time for which the first of them has been waiting.
    pub oldest_queued: Duration,
    /// The number of runs that a worker has started and that have not ended, including those that wait for a decision.
    pub n_started: u64,
    /// The number of runs that were given up.
    pub n_parked: u64,
    /// The number of living workers of the application with the version of this one.
    pub n_workers: u64,
}

/// The part of a worker that takes runs.
pub(crate) trait Engine: Send + Sync {
    type Execution: Execution;

    fn lease(&self) -> std::sync::Arc<dyn Lease>;

    /// Takes runs from now on, and runs each with `run`.
    fn launch<R, F>(&mut self, run: R) -> impl Future<Output = Result<(), DurableError>> + Send
    where
        R: Fn(Self::Execution, RunInput) -> F + Send + Sync + 'static,
        F: Future<Output = Result<ChainOutcome, RunEnd<<Self::Execution as Execution>::Error>>> + Send + 'static;

    /// Ends all executions.
    fn shutdown(&mut self) -> impl Future<Output = ()> + Send;
}

/// The end of an execution without an outcome of the chain.
pub(crate) enum RunEnd<E> {
    /// The chain cannot run.
    Rejected(ToolError),
    /// The run was cancelled, or belongs to another worker.
    Lost,
    /// The store failed.
    Failed(E),
}

/// An execution of a run by a worker.
pub(crate) trait Execution: Send + Sync + 'static {
    type Error: Send + 'static;

    /// Returns the id of the run.
    fn run(&self) -> &RunId;

    /// Returns the number of executions of the run, including this one.
    fn n_executions(&self) -> BoxFuture<'_, Result<i64, Self::Error>>;

    /// Checks that the run still belongs to this execution: its worker may have been suspended, and replaced.
    ///
    /// # Errors
    ///
    /// Returns an error if this execution must end.
    fn check_owner(&self) -> BoxFuture<'_, Result<(), Self::Error>>;

    /// Creates the entries of a step. Those of a chain whose steps run one after the other are created in their order when they
    /// start, and those of a parallel chain before the first step starts.
    fn step(&self, step: usize, decision_timeout: Duration) -> Box<dyn StepEntries<Self::Error> + '_>;
}

/// The entries of a step. Each is used at most once for each attempt, in the order of the attempts.
pub(crate) trait StepEntries<E>: Send {
    /// Records that this execution begins a guarded attempt, and checks the owner of the run. Returns false if another
    /// execution has begun the attempt.
    fn guard(&mut self, attempt: usize) -> BoxFuture<'_, Result<bool, E>>;

    /// Returns the recorded result of an attempt, or makes the attempt and records its result.
    fn result(&mut self, attempt: usize, make: BoxFuture<'static, Attempt>) -> BoxFuture<'_, Result<Attempt, E>>;

    /// Waits for the decision after an attempt. Returns `None` if there was none in time.
    fn decision(&mut self, attempt: usize) -> BoxFuture<'_, Result<Option<Decision>, E>>;
}
