//! The session that shows that a worker lives, and the recovery of the runs of dead ones.
//!
//! A worker holds an advisory lock of Postgres on its id, which ends with its session. Another worker that gets this lock
//! knows that the holder is dead, or has lost its connection, and lets the engine queue its runs again.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use dbos::sysdb::postgres::{PostgresSystemDatabase, Settings};
use dbos::sysdb::types::{WorkflowFilter, WorkflowRecord, WorkflowStatus};
use dbos::sysdb::{self, INTERNAL_QUEUE, SystemDatabase};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgPool, Postgres};

use crate::connect::Connect;
use crate::error::DurableError;
use crate::layout::{Entry, Place, WORKFLOW};
use crate::lock;

/// The interval at which the session is checked, and dead workers are looked for.
const INTERVAL: Duration = Duration::from_millis(500);

/// The time that the server has to answer on the session.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The lease of a worker.
pub(super) struct Lease {
    pool: PgPool,
    database: PostgresSystemDatabase,
    session: tokio::sync::Mutex<Option<PoolConnection<Postgres>>>,
    pub(super) executor: String,
    version: String,
}

impl Lease {
    pub(super) async fn acquire(connect: &Connect, executor: &str, version: &str) -> Result<Self, DurableError> {
        connect.migrate().await?;
        let pool = connect.pool(3).await?;
        let settings = Settings { application_name: Some(connect.application_name()), ..Settings::default() };
        let database = PostgresSystemDatabase::from_pool(pool.clone(), &settings);
        let (executor, version) = (executor.to_owned(), version.to_owned());
        let lease = Self { pool, database, session: tokio::sync::Mutex::default(), executor, version };
        lease.hold().await.map_err(DurableError::engine)?;
        Ok(lease)
    }

    /// Opens the session and takes the locks.
    async fn hold(&self) -> Result<(), sqlx::Error> {
        let mut session = self.pool.acquire().await?;
        lock::hold(&mut session, &self.executor).await?;
        lock::share(&mut session, &self.version).await?;
        *self.session.lock().await = Some(session);
        Ok(())
    }

    /// Keeps the session, and recovers the runs of workers that have been dead for some time.
    pub(super) async fn keep(&self, takeover_after: Duration) {
        let mut dead: HashMap<String, Instant> = HashMap::new();
        let mut last_look = Instant::now();
        loop {
            tokio::time::sleep(INTERVAL).await;
            if let Err(error) = self.renew().await {
                tracing::warn!(%error, "the session of this worker is lost");
                dead.clear();
                continue;
            }
            if last_look.elapsed() < takeover_after / 2 {
                continue;
            }
            last_look = Instant::now();
            if let Err(error) = self.recover(&mut dead, takeover_after).await {
                tracing::warn!(%error, "cannot look for dead workers");
            }
        }
    }

    /// Checks the session, and opens another one if it is lost.
    async fn renew(&self) -> Result<(), sqlx::Error> {
        let mut session = self.session.lock().await;
        if let Some(held) = session.as_mut() {
            let answer = tokio::time::timeout(ANSWER_TIMEOUT, sqlx::query("SELECT 1").execute(&mut **held)).await;
            match answer {
                Ok(Ok(_)) => return Ok(()),
                // Not returned to the pool, so that it ends.
                _ => drop(session.take().map(PoolConnection::detach)),
            }
        }
        drop(session);
        self.hold().await
    }

    /// Queues the runs of this worker again, which has ended.
    pub(super) async fn release(&self) {
        let released = self.database.reenqueue_for_recovery(&[&self.executor], &self.version, INTERNAL_QUEUE).await;
        if let Err(error) = released {
            tracing::warn!(%error, "other workers have to recover the runs of this one");
        }
    }

    /// Returns true if the guard of an attempt was recorded by this execution of the run. The engine takes an entry that
    /// two executions record in the same millisecond for that of both.
    pub(super) async fn is_guard(&self, run: &str, place: Place, execution: &str) -> Result<bool, sysdb::Error> {
        let guard = self.database.check_step(run, place.number(Entry::Guard), &place.guard_name()).await?;
        let recorded = guard.and_then(|guard| serde_json::from_str::<String>(&guard.output?).ok());
        Ok(recorded.is_some_and(|recorded| recorded == execution))
    }

    /// Returns the number of times that the run was continued by a worker.
    pub(super) async fn n_continued(&self, run: &str) -> Result<i64, sysdb::Error> {
        let record = self.database.get_workflow(run).await?;
        Ok(record.map_or(0, |record| record.recovery_attempts))
    }

    /// Queues the runs of dead workers again. A worker counts as dead if its lock is free in each look for some time.
    async fn recover(&self, dead: &mut HashMap<String, Instant>, after: Duration) -> Result<(), DurableError> {
        let pending = WorkflowFilter { status: vec![WorkflowStatus::Pending], ..self.filter() };
        let owners: HashSet<String> =
            self.list(&pending).await?.into_iter().filter_map(|run| run.executor_id).collect();
        dead.retain(|executor, _| owners.contains(executor));
        for executor in owners.into_iter().filter(|executor| *executor != self.executor) {
            let mut look = self.pool.begin().await.map_err(DurableError::engine)?;
            if !lock::try_hold(&mut look, &executor).await.map_err(DurableError::engine)? {
                dead.remove(&executor);
                continue;
            }
            if dead.entry(executor.clone()).or_insert_with(Instant::now).elapsed() < after {
                continue;
            }
            // While the lock is held, the worker cannot come back.
            let recovered = self.database.reenqueue_for_recovery(&[&executor], &self.version, INTERNAL_QUEUE).await;
            let recovered = recovered.map_err(DurableError::engine)?;
            if !recovered.is_empty() {
                tracing::info!(executor, n_runs = recovered.len(), "recovered the runs of a dead worker");
            }
        }
        Ok(())
    }

    /// Queues a run of this worker again.
    pub(super) async fn requeue(&self, run: &str) -> Result<(), DurableError> {
        self.database.clear_queue_assignment(run).await.map(drop).map_err(DurableError::engine)
    }

    /// Returns the filter of the runs of this version, without their inputs and outputs.
    pub(super) fn filter(&self) -> WorkflowFilter<'_> {
        WorkflowFilter {
            names: vec![WORKFLOW],
            application_versions: vec![&self.version],
            load_input: false,
            load_output: false,
            ..WorkflowFilter::default()
        }
    }

    pub(super) async fn list(&self, filter: &WorkflowFilter<'_>) -> Result<Vec<WorkflowRecord>, DurableError> {
        self.database.list_workflows(filter, None).await.map_err(DurableError::engine)
    }
}
