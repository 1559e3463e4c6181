//! The interface of the stores: statements in transactions, and the signs of the workers.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use toolkit::call::BoxFuture;

use crate::error::DurableError;
use crate::sql::{Row, Statement};

/// The answer of a store.
pub(crate) type StoreAnswer<'a, T> = BoxFuture<'a, Result<T, DurableError>>;

/// The interval at which a worker looks for runs to start, and a client for their end.
pub(crate) const POLL: Duration = Duration::from_millis(100);

/// The time without a sign after which a client takes a worker for a dead one.
pub(crate) const MAX_SIGN_AGE: Duration = Duration::from_secs(5);

/// A SQLite file or a Postgres database.
pub(crate) trait Store: Send + Sync {
    /// Returns the clauses in which the two differ.
    fn clauses(&self) -> RowLocks;

    /// Runs statements in one transaction, and returns the rows of each: all of it is on the disk then, or, after an error,
    /// none of it.
    fn run(&self, statements: Vec<Statement>) -> StoreAnswer<'_, Vec<Vec<Row>>>;

    /// Gives a sign of a worker of this process. Returns false unless the worker is registered.
    ///
    /// # Errors
    ///
    /// Returns [`DurableError::Missing`] if the record itself is gone, so that the worker must end.
    fn beat<'a>(&'a self, worker: &'a str) -> StoreAnswer<'a, bool>;

    /// Returns the last signs of all registered workers.
    fn signs(&self) -> StoreAnswer<'_, HashMap<String, Sign>>;

    /// Ends the signs of the worker of this process, which is no longer registered.
    fn leave(&self) -> BoxFuture<'_, ()>;
}

/// The clauses that lock the rows of a `SELECT` in a statement that writes, where transactions run beside each other.
#[derive(Clone, Copy)]
pub(crate) struct RowLocks {
    /// Locks rows that will be changed, and leaves out those that others will change.
    pub(crate) skip: &'static str,
    /// Prevents others from changing rows until the statement has ended.
    pub(crate) share: &'static str,
}

/// The last sign of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// Its process has ended.
    Ended,
    /// It gave a sign, which differs from all earlier ones.
    Beat { beat: i64, age: Duration },
}

toolkit::named! {
    /// The part of a run's life that a store records.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Phase {
        Queued = "queued",
        Started = "started",
        Finished = "finished",
        Failed = "failed",
        Rejected = "rejected",
        Cancelled = "cancelled",
        Parked = "parked",
    }
}

impl Phase {
    /// Returns true if no worker continues the run.
    pub(crate) fn has_ended(self) -> bool {
        !matches!(self, Self::Queued | Self::Started)
    }
}

/// Returns the time in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    Timestamp::now().as_millisecond()
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
    /// The number of runs of which a step has failed.
    pub n_failed: u64,
    /// The number of runs that were given up.
    pub n_parked: u64,
    /// The number of living workers of the application with the version of this one.
    pub n_workers: u64,
}
