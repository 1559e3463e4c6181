//! The session that shows that a worker lives, and the recovery of the runs of dead ones.
//!
//! A worker holds an advisory lock of Postgres on its id, which ends with its session. Another worker that gets this lock
//! knows that the holder is dead, or has lost its connection, and lets the engine queue its runs again.
//!
//! The session of a worker whose packets vanish stays open, for hours by default. Its sessions have the worker's id as their
//! name, and the time of the last query shows others that the worker is silent: they end the sessions, which releases the lock
//! and the rows of open transactions. A worker that comes back finds its session ended, and its runs assigned to others.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use dbos::sysdb::postgres::{PostgresSystemDatabase, Settings};
use dbos::sysdb::{self, BackendErrorKind, INTERNAL_QUEUE, SystemDatabase};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgPool, Postgres};
use toolkit::call::BoxFuture;

use crate::error::DurableError;
use crate::postgres::names::WORKFLOW;
use crate::postgres::session::{self, Address};
use crate::record::{AttemptPlace, EntryKind};
use crate::store::{self, LOOK_TIMEOUT, QueueStatus, StoreAnswer};

/// The interval at which the session is checked, and dead workers are looked for.
const INTERVAL: Duration = Duration::from_millis(500);

/// The time that the server has to answer on the session.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The minimum time without queries after which a worker with open sessions counts as dead: several intervals.
const MIN_SILENCE: Duration = Duration::from_secs(3);

/// Lets Postgres end the session soon if the machine of the worker is gone, even if no other worker looks. It has no effect on
/// local sockets and on systems without these options.
const KEEPALIVES: &str = "SELECT set_config('tcp_keepalives_idle', '5', false), \
     set_config('tcp_keepalives_interval', '2', false), set_config('tcp_keepalives_count', '3', false), \
     set_config('tcp_user_timeout', '10000', false)";

/// The last query of each worker with open sessions, unless it belongs to another role, whose activity is hidden.
const BEATS: &str = "SELECT application_name, max(state_change)::text FROM pg_stat_activity \
     WHERE application_name = ANY($1) GROUP BY application_name";

/// Ends the sessions of a worker that has made no further query.
const END_SESSIONS: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = $1 \
     AND $2 = (SELECT max(state_change)::text FROM pg_stat_activity WHERE application_name = $1)";

/// The runs of an application that have not ended, or were given up, with the time in milliseconds since the oldest changed.
const QUEUE_COUNTS: &str = "SELECT status, count(*), \
     greatest((extract(epoch FROM now()) * 1000)::bigint - min(updated_at), 0) FROM dbos.workflow_status \
     WHERE name = $1 AND (application_name = $2 OR application_name IS NULL) \
     AND status IN ('ENQUEUED', 'DELAYED', 'PENDING', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED') GROUP BY status";

/// The workers to which the runs of a version are assigned.
const OWNERS: &str = "SELECT DISTINCT executor_id FROM dbos.workflow_status WHERE status = 'PENDING' AND name = $1 \
     AND application_version = $2 AND (application_name = $3 OR application_name IS NULL) AND executor_id <> $4";

/// The runs of a worker. The engine sets the time when it takes a run from the queue.
const OWNED: &str = "SELECT workflow_uuid, coalesce(started_at_epoch_ms, 0) FROM dbos.workflow_status \
     WHERE status = 'PENDING' AND name = $1 AND executor_id = $2";

/// Queues a run of a worker again.
const REQUEUE: &str = "UPDATE dbos.workflow_status SET status = 'ENQUEUED', started_at_epoch_ms = NULL, \
     updated_at = (extract(epoch FROM now()) * 1000)::bigint \
     WHERE workflow_uuid = $1 AND status = 'PENDING' AND executor_id = $2";

/// An entry of a run of a worker.
const ENTRY: &str = "SELECT entry.output FROM dbos.workflow_status AS run \
     LEFT JOIN dbos.operation_outputs AS entry ON entry.workflow_uuid = run.workflow_uuid AND entry.function_id = $3 \
     WHERE run.workflow_uuid = $1 AND run.status = 'PENDING' AND run.executor_id = $2";

/// The time until a query is made again after the connection was lost.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// The last sign of life of each other worker.
type Beats = HashMap<String, Beat>;

struct Beat {
    /// The time of its last query, unless it has no sessions, or hidden ones.
    last: Option<String>,
    /// The time at which this worker saw it first.
    since: Instant,
}

/// The lease of a worker.
pub(super) struct Lease {
    pool: PgPool,
    database: PostgresSystemDatabase,
    session: tokio::sync::Mutex<Option<PoolConnection<Postgres>>>,
    executor: String,
    version: String,
    application: String,
    /// The time at which the server last confirmed the session.
    confirmed: Mutex<Option<Instant>>,
}

impl Lease {
    pub(super) async fn acquire(address: &Address, executor: &str, version: &str) -> Result<Self, DurableError> {
        address.migrate().await?;
        let pool = address.worker_pool(3, executor).await?;
        let settings = Settings { application_name: Some(&address.application), ..Settings::default() };
        let database = PostgresSystemDatabase::from_pool(pool.clone(), &settings);
        let (executor, version) = (executor.to_owned(), version.to_owned());
        let application = address.application.clone();
        let (session, confirmed) = (tokio::sync::Mutex::default(), Mutex::default());
        let lease = Self { pool, database, session, executor, version, application, confirmed };
        lease.hold().await.map_err(DurableError::engine)?;
        Ok(lease)
    }

    /// Opens the session and takes the locks.
    async fn hold(&self) -> Result<(), sqlx::Error> {
        let mut session = self.pool.acquire().await?;
        // If this future is dropped while it waits for a lock, the session must not return to the pool with it.
        session.close_on_drop();
        sqlx::query(KEEPALIVES).execute(&mut *session).await?;
        session::hold(&mut session, &self.executor).await?;
        session::share(&mut session, &self.presence()).await?;
        *self.session.lock().await = Some(session);
        self.confirm();
        Ok(())
    }

    /// The name of the lock that all workers with the same tools share.
    fn presence(&self) -> String {
        session::presence(&self.application, &self.version)
    }

    fn confirm(&self) {
        *self.confirmed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Checks the session, and opens another one if it is lost.
    async fn renew(&self) -> Result<(), sqlx::Error> {
        let mut session = self.session.lock().await;
        if let Some(held) = session.as_mut() {
            let answer = tokio::time::timeout(ANSWER_TIMEOUT, sqlx::query("SELECT 1").execute(&mut **held)).await;
            match answer {
                Ok(Ok(_)) => {
                    self.confirm();
                    return Ok(());
                }
                // Not returned to the pool, so that it ends.
                _ => drop(session.take().map(PoolConnection::detach)),
            }
        }
        drop(session);
        tokio::time::timeout(LOOK_TIMEOUT, self.hold()).await.unwrap_or(Err(sqlx::Error::PoolTimedOut))
    }

    /// Returns true if the guard of an attempt was recorded by this execution of the run, or `None` unless the run belongs to
    /// this worker. The engine takes an entry that two executions record in the same millisecond for that of both.
    pub(super) async fn is_guard(
        &self,
        run: &str,
        place: AttemptPlace,
        execution: &str,
    ) -> Result<Option<bool>, sysdb::Error> {
        let output = self.entry(run, place.number(EntryKind::Guard)).await?;
        let is_own = |json: String| serde_json::from_str::<String>(&json).is_ok_and(|recorded| recorded == execution);
        Ok(output.map(|output| output.is_some_and(is_own)))
    }

    /// Returns the output of an entry, or `None` unless the run belongs to this worker. Waits while the database is gone, as the
    /// engine does.
    async fn entry(&self, run: &str, number: i32) -> Result<Option<Option<String>>, sysdb::Error> {
        loop {
            let query = sqlx::query_scalar(ENTRY).bind(run).bind(&self.executor).bind(number);
            match query.fetch_optional(&self.pool).await.map_err(sysdb::Error::from) {
                Err(sysdb::Error::Backend(error)) if error.kind != BackendErrorKind::Permanent => {
                    tracing::warn!(%error, run, "cannot look for the owner of a run; it is tried again");
                    tokio::time::sleep(RETRY_INTERVAL).await;
                }
                found => return found,
            }
        }
    }

    /// Returns true if the run belongs to this worker.
    pub(super) async fn owns(&self, run: &str) -> Result<bool, sysdb::Error> {
        Ok(self.entry(run, 0).await?.is_some())
    }

    /// Returns the number of times that the run was continued by a worker.
    pub(super) async fn n_continued(&self, run: &str) -> Result<i64, sysdb::Error> {
        let record = self.database.get_workflow(run).await?;
        Ok(record.map_or(0, |record| record.recovery_attempts))
    }

    /// Queues the runs of dead workers again. A worker counts as dead if its lock is free, or its sessions are silent, in each
    /// look for some time.
    async fn recover(&self, beats: &mut Beats, after: Duration) -> Result<(), DurableError> {
        // Before the queries, so that the time does not include a pause of the server.
        let now = Instant::now();
        let owners: Vec<String> = sqlx::query_scalar(OWNERS)
            .bind(WORKFLOW)
            .bind(&self.version)
            .bind(&self.application)
            .bind(&self.executor)
            .fetch_all(&self.pool)
            .await
            .map_err(DurableError::engine)?;
        beats.retain(|executor, _| owners.contains(executor));
        let last: Vec<(String, Option<String>)> =
            sqlx::query_as(BEATS).bind(&owners).fetch_all(&self.pool).await.map_err(DurableError::engine)?;
        let mut last: HashMap<String, Option<String>> = last.into_iter().collect();
        for executor in owners {
            let last = last.remove(&executor).flatten();
            let beat = beats.entry(executor.clone()).or_insert_with(|| Beat { last: last.clone(), since: now });
            if last.is_some() && last != beat.last {
                *beat = Beat { last: last.clone(), since: now };
            }
            let silence = now.duration_since(beat.since);
            match last {
                Some(last) if silence >= after.max(MIN_SILENCE) => {
                    if let Err(error) = self.end_silent(&executor, &last).await {
                        tracing::warn!(%error, executor, "cannot take over the runs of a silent worker");
                        // Tried again after the same time.
                        beats.remove(&executor);
                    }
                }
                Some(_) => {}
                None => {
                    if !self.end_absent(&executor, silence >= after).await? {
                        beats.remove(&executor);
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends the sessions of a silent worker and queues its runs again, unless it has come back.
    async fn end_silent(&self, executor: &str, last: &str) -> Result<(), DurableError> {
        let mut look = self.pool.begin().await.map_err(DurableError::engine)?;
        let n_ended: i64 = sqlx::query_scalar(END_SESSIONS)
            .bind(executor)
            .bind(last)
            .fetch_one(&mut *look)
            .await
            .map_err(DurableError::engine)?;
        if n_ended > 0 {
            tracing::info!(executor, "ended the sessions of a silent worker");
            session::hold_after(&mut look, executor).await.map_err(DurableError::engine)?;
            self.reenqueue(executor).await?;
        }
        Ok(())
    }

    /// Queues the runs of a worker without visible sessions again if `is_due`. Returns false if it lives.
    async fn end_absent(&self, executor: &str, is_due: bool) -> Result<bool, DurableError> {
        let mut look = self.pool.begin().await.map_err(DurableError::engine)?;
        let is_free = session::try_hold(&mut look, executor).await.map_err(DurableError::engine)?;
        if is_free && is_due {
            self.reenqueue(executor).await?;
        }
        Ok(is_free)
    }

    /// Queues the runs of a dead worker again, while its lock is held, so that it cannot come back.
    async fn reenqueue(&self, executor: &str) -> Result<(), DurableError> {
        let recovered = self.database.reenqueue_for_recovery(&[executor], &self.version, INTERNAL_QUEUE).await;
        let recovered = recovered.map_err(DurableError::engine)?;
        if !recovered.is_empty() {
            tracing::info!(executor, n_runs = recovered.len(), "recovered the runs of a dead worker");
        }
        Ok(())
    }
}

impl store::Lease for Lease {
    fn age(&self) -> Option<Duration> {
        self.confirmed.lock().unwrap_or_else(PoisonError::into_inner).map(|at| at.elapsed())
    }

    fn queue(&self) -> StoreAnswer<'_, QueueStatus> {
        Box::pin(async {
            let counts: Vec<(String, i64, i64)> = sqlx::query_as(QUEUE_COUNTS)
                .bind(WORKFLOW)
                .bind(&self.application)
                .fetch_all(&self.pool)
                .await
                .map_err(DurableError::engine)?;
            let n_workers = session::count_shared(&self.pool, &self.presence()).await.map_err(DurableError::engine)?;
            let mut queue = QueueStatus { n_workers: n_workers.unsigned_abs(), ..QueueStatus::default() };
            for (status, n, oldest_ms) in counts {
                match status.as_str() {
                    "PENDING" => queue.n_started += n.unsigned_abs(),
                    "MAX_RECOVERY_ATTEMPTS_EXCEEDED" => queue.n_parked += n.unsigned_abs(),
                    _ => {
                        queue.n_queued += n.unsigned_abs();
                        queue.oldest_queued = queue.oldest_queued.max(Duration::from_millis(oldest_ms.unsigned_abs()));
                    }
                }
            }
            Ok(queue)
        })
    }

    fn keep(&self, takeover_after: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut beats = Beats::new();
            let mut last_look = Instant::now();
            loop {
                tokio::time::sleep(INTERVAL).await;
                if let Err(error) = self.renew().await {
                    tracing::warn!(%error, "the session of this worker is lost");
                    beats.clear();
                    continue;
                }
                // The server or this process was suspended, so that the beats of others are late, too.
                if last_look.elapsed() > (takeover_after / 2).max(3 * INTERVAL) {
                    beats.clear();
                }
                last_look = Instant::now();
                match tokio::time::timeout(LOOK_TIMEOUT, self.recover(&mut beats, takeover_after)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => tracing::warn!(%error, "cannot look for dead workers"),
                    Err(_) => tracing::warn!("cannot look for dead workers: the database does not answer"),
                }
            }
        })
    }

    fn owned(&self) -> StoreAnswer<'_, HashMap<String, i64>> {
        Box::pin(async {
            let query = sqlx::query_as(OWNED).bind(WORKFLOW).bind(&self.executor);
            let owned: Vec<(String, i64)> = query.fetch_all(&self.pool).await.map_err(DurableError::engine)?;
            Ok(owned.into_iter().collect())
        })
    }

    fn requeue<'a>(&'a self, run: &'a str) -> StoreAnswer<'a, ()> {
        Box::pin(async move {
            let query = sqlx::query(REQUEUE).bind(run).bind(&self.executor);
            query.execute(&self.pool).await.map(drop).map_err(DurableError::engine)
        })
    }

    fn release(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let released = self.database.reenqueue_for_recovery(&[&self.executor], &self.version, INTERNAL_QUEUE).await;
            if let Err(error) = released {
                tracing::warn!(%error, "other workers have to recover the runs of this one");
            }
        })
    }
}
