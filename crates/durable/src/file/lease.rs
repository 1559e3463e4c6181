//! The lock that shows that a worker lives, the recovery of the runs of dead ones, and the end of a worker: its runs go back
//! into the queue, and the write-ahead log into the file.
//!
//! The locks are on files beside the database. A lock ends with its process. A worker that is stopped keeps its lock, and the
//! time of its file no longer changes.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rusqlite::{Connection, params};
use tokio::time::timeout;
use toolkit::call::BoxFuture;

use crate::error::DurableError;
use crate::file::database::Database;
use crate::file::{database, now};
use crate::store::{self, LOOK_TIMEOUT, QueueStatus, StoreAnswer};

/// The interval at which the worker gives a sign, and looks for dead ones.
const INTERVAL: Duration = Duration::from_millis(500);

/// The minimum time without a sign after which a worker whose process lives counts as dead: several intervals.
const MIN_SILENCE: Duration = Duration::from_secs(3);

/// A worker, as the file records it.
#[derive(Clone)]
pub(super) struct FileWorker {
    pub(super) id: String,
    pub(super) application: String,
    pub(super) version: String,
}

/// The lease of a worker.
pub(super) struct Lease {
    database: Database,
    worker: FileWorker,
    presence: Arc<Mutex<Option<Presence>>>,
    /// The time at which the file last confirmed that this worker lives.
    confirmed: Mutex<Option<Instant>>,
}

/// The last sign of each other worker whose process lives, and the time at which this worker saw it first.
type Signs = HashMap<String, (SystemTime, Instant)>;

impl Lease {
    pub(super) async fn acquire(database: Database, worker: FileWorker) -> Result<Self, DurableError> {
        let (presence, confirmed) = (Arc::default(), Mutex::default());
        let lease = Self { database, worker, presence, confirmed };
        lease.renew().await?;
        let FileWorker { application, version, .. } = lease.worker.clone();
        lease
            .database
            .write(move |transaction| {
                let deploy = "INSERT INTO versions (application, version, deployed) VALUES (?1, ?2, ?3) \
                              ON CONFLICT DO UPDATE SET deployed = excluded.deployed";
                transaction.execute(deploy, params![application, version, now()])
            })
            .await?;
        Ok(lease)
    }

    /// Gives a sign. If other workers have taken this one for a dead one, or its lock was removed, takes it again.
    async fn renew(&self) -> Result<(), DurableError> {
        let (presence, worker, database) = (Arc::clone(&self.presence), self.worker.clone(), self.database.clone());
        let renewed = self.database.with(move |connection| {
            if !database.path().exists() {
                return Err(database::missing(
                    database.path(),
                    "was removed: stop this worker, since its runs are lost",
                ));
            }
            let failed = |error: rusqlite::Error| database::failed(database.path(), error);
            let count = "SELECT count(*) FROM workers WHERE id = ?1";
            let n_known: i64 = connection.query_row(count, [&worker.id], |row| row.get(0)).map_err(failed)?;
            let mut presence = presence.lock().unwrap_or_else(PoisonError::into_inner);
            let is_present = presence.as_ref().is_some_and(|presence| presence.exists() && presence.beat().is_ok());
            if !is_present {
                *presence = None;
                let held = Presence::hold(database.path(), &worker.id);
                let unlocked = |error| {
                    let message = format!("cannot lock a file in {}-workers: {error}", database.path().display());
                    DurableError::database(message, error)
                };
                *presence = Some(held.map_err(unlocked)?);
            }
            if n_known == 0 {
                let insert =
                    "INSERT INTO workers (id, application, version) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
                let FileWorker { id, application, version } = worker;
                connection.execute(insert, params![id, application, version]).map_err(failed)?;
            }
            Ok(())
        });
        renewed.await??;
        *self.confirmed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        Ok(())
    }

    /// Queues the runs of dead and silent workers again.
    async fn recover(&self, signs: &mut Signs, after: Duration) -> Result<(), DurableError> {
        let (database, own) = (self.database.clone(), self.worker.id.clone());
        let seen = self.database.with(move |connection| {
            let ids = workers(connection, &own).map_err(|error| database::failed(database.path(), error))?;
            let look = |id: String| {
                let sign = sign_of(database.path(), &id);
                sign.map(|sign| (id, sign)).map_err(DurableError::engine)
            };
            ids.into_iter().map(look).collect::<Result<HashMap<_, _>, _>>()
        });
        let seen = seen.await??;
        signs.retain(|id, _| seen.contains_key(id));
        for (id, sign) in seen {
            match sign {
                Sign::Dead => self.bury(id, sign).await?,
                Sign::Alive(time) => {
                    let last = signs.entry(id.clone()).or_insert_with(|| (time, Instant::now()));
                    if last.0 != time {
                        *last = (time, Instant::now());
                    }
                    if last.1.elapsed() >= after.max(MIN_SILENCE) {
                        self.bury(id, sign).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Queues the runs of a worker again, unless it has given another sign. Its executions cannot record anything afterwards.
    async fn bury(&self, worker: String, seen: Sign) -> Result<(), DurableError> {
        let (database, id) = (self.database.clone(), worker.clone());
        let n_runs = self.database.write(move |transaction| {
            if sign_of(database.path(), &id).ok() != Some(seen) {
                return Ok(None);
            }
            let n_runs = transaction.execute(REQUEUE, params![id, now()])?;
            let n_workers = transaction.execute("DELETE FROM workers WHERE id = ?1", [&id])?;
            if seen == Sign::Dead {
                remove_file_of(database.path(), &id);
            }
            Ok((n_runs + n_workers > 0).then_some(n_runs))
        });
        if let Some(n_runs) = n_runs.await? {
            tracing::info!(worker, n_runs, "recovered the runs of a dead worker");
        }
        Ok(())
    }
}

/// Queues all runs of a worker again.
const REQUEUE: &str =
    "UPDATE runs SET phase = 'queued', execution = NULL, changed = ?2 WHERE worker = ?1 AND phase = 'started'";

/// Returns the ids of the other workers that have registered, or own runs.
fn workers(connection: &Connection, own: &str) -> rusqlite::Result<Vec<String>> {
    let ids =
        "SELECT id FROM workers WHERE id <> ?1 UNION SELECT worker FROM runs WHERE phase = 'started' AND worker <> ?1";
    connection.prepare(ids)?.query_map([own], |row| row.get(0))?.collect()
}

impl store::Lease for Lease {
    fn age(&self) -> Option<Duration> {
        self.confirmed.lock().unwrap_or_else(PoisonError::into_inner).map(|at| at.elapsed())
    }

    fn queue(&self) -> StoreAnswer<'_, QueueStatus> {
        Box::pin(async {
            let (database, FileWorker { application, version, .. }) = (self.database.clone(), self.worker.clone());
            let counts = self.database.read(move |transaction| {
                let count = "SELECT phase, count(*), min(changed) FROM runs WHERE application = ?1 \
                             AND phase IN ('queued', 'started', 'parked') GROUP BY phase";
                let counts: Vec<(String, u32, i64)> = transaction
                    .prepare(count)?
                    .query_map([&application], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                    .collect::<Result<_, _>>()?;
                let ids: Vec<String> = transaction
                    .prepare("SELECT id FROM workers WHERE application = ?1 AND version = ?2")?
                    .query_map(params![application, version], |row| row.get(0))?
                    .collect::<Result<_, _>>()?;
                let is_alive = |id: &&String| matches!(sign_of(database.path(), id), Ok(Sign::Alive(_)));
                Ok((counts, ids.iter().filter(is_alive).count()))
            });
            let (counts, n_workers) = counts.await?;
            let n_workers = u64::try_from(n_workers).unwrap_or(u64::MAX);
            let mut queue = QueueStatus { n_workers, ..QueueStatus::default() };
            for (phase, n, oldest) in counts {
                match phase.as_str() {
                    "queued" => {
                        queue.n_queued = n.into();
                        let age = u64::try_from(now().saturating_sub(oldest)).unwrap_or(0);
                        queue.oldest_queued = Duration::from_millis(age);
                    }
                    "started" => queue.n_started = n.into(),
                    _ => queue.n_parked = n.into(),
                }
            }
            Ok(queue)
        })
    }

    fn keep(&self, takeover_after: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut signs = Signs::new();
            let mut last_look = Instant::now();
            loop {
                tokio::time::sleep(INTERVAL).await;
                // This process was suspended, so that the signs of others may be late, too.
                if last_look.elapsed() > (takeover_after / 2).max(3 * INTERVAL) {
                    signs.clear();
                }
                last_look = Instant::now();
                let look = async {
                    self.renew().await?;
                    self.recover(&mut signs, takeover_after).await
                };
                match timeout(LOOK_TIMEOUT, look).await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => tracing::warn!(%error, "cannot look for dead workers"),
                    Err(_) => tracing::warn!("cannot look for dead workers: the disk does not answer"),
                }
            }
        })
    }

    fn owned(&self) -> StoreAnswer<'_, HashMap<String, i64>> {
        let worker = self.worker.id.clone();
        Box::pin(self.database.read(move |transaction| {
            let owned = "SELECT id, changed FROM runs WHERE phase = 'started' AND worker = ?1";
            transaction.prepare(owned)?.query_map([&worker], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        }))
    }

    fn requeue<'a>(&'a self, run: &'a str) -> StoreAnswer<'a, ()> {
        let (run, worker) = (run.to_owned(), self.worker.id.clone());
        Box::pin(self.database.write(move |transaction| {
            let requeue = "UPDATE runs SET phase = 'queued', execution = NULL, changed = ?3 \
                           WHERE id = ?1 AND worker = ?2 AND phase = 'started'";
            transaction.execute(requeue, params![run, worker, now()]).map(drop)
        }))
    }

    fn release(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let (presence, worker) = (Arc::clone(&self.presence), self.worker.id.clone());
            let released = self.database.write(move |transaction| {
                transaction.execute(REQUEUE, params![worker, now()])?;
                transaction.execute("DELETE FROM workers WHERE id = ?1", [&worker])?;
                *presence.lock().unwrap_or_else(PoisonError::into_inner) = None;
                Ok(())
            });
            if let Err(error) = released.await {
                tracing::warn!(%error, "other workers have to recover the runs of this one");
            }
            // The process may end before the connection is closed. Fails while others read, and is then their part.
            let checkpoint = |connection: &mut Connection| {
                connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).is_ok()
            };
            let _ = self.database.with(checkpoint).await;
        })
    }
}

/// The lock of a worker. Dropping it removes the file.
struct Presence {
    file: File,
    path: PathBuf,
}

/// The sign that a worker gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// Its process has ended.
    Dead,
    /// Its process lives, and gave a sign at this time.
    Alive(SystemTime),
}

impl Presence {
    /// Takes the lock of a worker. No other process knows its id yet.
    fn hold(database: &Path, worker: &str) -> io::Result<Self> {
        let path = file_of(database, worker);
        let mut folder = DirBuilder::new();
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        {
            use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

            folder.mode(0o700);
            options.mode(0o600);
        }
        folder.recursive(true).create(path.parent().unwrap_or(Path::new(".")))?;
        let file = options.open(&path)?;
        file.try_lock()?;
        Ok(Self { file, path })
    }

    /// Gives a sign.
    fn beat(&self) -> io::Result<()> {
        self.file.set_modified(SystemTime::now())
    }

    /// Returns false if the file was removed.
    fn exists(&self) -> bool {
        self.path.exists()
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns the sign of a worker.
pub(super) fn sign_of(database: &Path, worker: &str) -> io::Result<Sign> {
    let file = match File::open(file_of(database, worker)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Sign::Dead),
        Err(error) => return Err(error),
    };
    // Shared, since others may look at the same time.
    match file.try_lock_shared() {
        Ok(()) => Ok(Sign::Dead),
        Err(TryLockError::WouldBlock) => Ok(Sign::Alive(file.metadata()?.modified()?)),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Removes the file of a dead worker.
fn remove_file_of(database: &Path, worker: &str) {
    let _ = fs::remove_file(file_of(database, worker));
}

fn file_of(database: &Path, worker: &str) -> PathBuf {
    let mut folder = database.as_os_str().to_owned();
    folder.push("-workers");
    PathBuf::from(folder).join(worker.replace('/', "-"))
}
