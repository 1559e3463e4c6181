//! The engine of a worker: takes runs from the queue, executes them, and records the entries of their steps and their outcomes.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{OptionalExtension, Transaction, params};
use serde::de::DeserializeOwned;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use toolkit::ToolError;
use toolkit::call::{BoxFuture, ErrorKind};
use toolkit_backends::chain::ChainOutcome;

use crate::error::{DurableError, RunId};
use crate::file::database::Database;
use crate::file::lease::{FileWorker, Lease};
use crate::file::{Address, now};
use crate::record::{Attempt, AttemptPlace, Decision, EntryKind, RunInput};
use crate::store::{self, POLL, Phase, RunEnd, StepEntries};

/// The number of executions after which a run is given up.
const MAX_EXECUTIONS: i64 = 100;

/// The number of runs that a worker takes at once, so that others can take runs, too.
const BATCH: usize = 16;

/// The runs of an application that a worker with a version may take: those of its version, and new ones if no workers with
/// another version were deployed later.
const QUEUED: &str = "FROM runs WHERE phase = 'queued' AND application = ?1 AND (version = ?2 OR (version IS NULL AND ?2 = \
     (SELECT version FROM versions WHERE application = ?1 ORDER BY deployed DESC, rowid DESC LIMIT 1)))";

/// The engine of a worker.
pub(crate) struct Engine {
    database: Database,
    worker: FileWorker,
    lease: Arc<Lease>,
    task: Option<JoinHandle<()>>,
}

impl Engine {
    pub(crate) async fn open(address: &Address, worker: &str, version: &str) -> Result<Self, DurableError> {
        let (id, application) = (worker.to_owned(), address.application.clone());
        let worker = FileWorker { id, application, version: version.to_owned() };
        let database = Database::open(&address.path, true).await?;
        let lease = Arc::new(Lease::acquire(database.clone(), worker.clone()).await?);
        Ok(Self { database, worker, lease, task: None })
    }
}

impl store::Engine for Engine {
    type Execution = Execution;

    fn lease(&self) -> Arc<dyn store::Lease> {
        Arc::<Lease>::clone(&self.lease)
    }

    async fn launch<R, F>(&mut self, run: R) -> Result<(), DurableError>
    where
        R: Fn(Execution, RunInput) -> F + Send + Sync + 'static,
        F: Future<Output = Result<ChainOutcome, RunEnd<Stop>>> + Send + 'static,
    {
        self.task = Some(tokio::spawn(take_runs(self.database.clone(), self.worker.clone(), run)));
        Ok(())
    }

    async fn shutdown(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
            let _ = task.await;
        }
    }
}

/// Takes runs until it is dropped, which ends their executions.
async fn take_runs<R, F>(database: Database, worker: FileWorker, run: R)
where
    R: Fn(Execution, RunInput) -> F,
    F: Future<Output = Result<ChainOutcome, RunEnd<Stop>>> + Send + 'static,
{
    let (changed, changes) = watch::channel(());
    let mut executions = JoinSet::new();
    let mut last_version = None;
    loop {
        let (version, taken) = match take(&database, &worker).await {
            Ok(taken) => taken,
            Err(error) => {
                tracing::warn!(%error, "cannot look for runs");
                tokio::time::sleep(10 * POLL).await;
                continue;
            }
        };
        if last_version.replace(version) != Some(version) {
            changed.send_replace(());
        }
        let is_batch = taken.len() >= BATCH;
        for Taken { run: id, execution, input, n_executions } in taken {
            let owned = Owned { database: database.clone(), run: id, id: execution };
            let execution = Execution { owned: owned.clone(), n_executions, changes: changes.clone() };
            match serde_json::from_str(&input) {
                Ok(input) => executions.spawn(end(owned, run(execution, input))),
                Err(error) => {
                    let message = format!("the recorded chain is damaged: {error}");
                    let rejected = RunEnd::Rejected(ToolError::new(ErrorKind::InvalidArguments, message));
                    executions.spawn(end(owned, std::future::ready(Err(rejected))))
                }
            };
        }
        // A run whose execution panics is queued again, since it has no outcome.
        while executions.try_join_next().is_some() {}
        if !is_batch {
            tokio::time::sleep(POLL).await;
        }
    }
}

/// A run that this worker has taken.
struct Taken {
    run: RunId,
    execution: Arc<str>,
    input: String,
    n_executions: i64,
}

/// Takes runs from the queue. Returns a number that changes when other connections write.
async fn take(database: &Database, worker: &FileWorker) -> Result<(i64, Vec<Taken>), DurableError> {
    let FileWorker { application, version, .. } = worker.clone();
    let (number, is_queued) = database
        .read(move |transaction| {
            let number = transaction.query_row("PRAGMA data_version", [], |row| row.get(0))?;
            let mut query = transaction.prepare(&format!("SELECT 1 {QUEUED} LIMIT 1"))?;
            Ok((number, query.exists(params![application, version])?))
        })
        .await?;
    if !is_queued {
        return Ok((number, Vec::new()));
    }
    let worker = worker.clone();
    let taken = database.write(move |transaction| take_queued(transaction, &worker)).await?;
    Ok((number, taken))
}

fn take_queued(transaction: &Transaction<'_>, worker: &FileWorker) -> rusqlite::Result<Vec<Taken>> {
    let FileWorker { id, application, version } = worker;
    let queued: Vec<(String, String, i64)> = transaction
        .prepare(&format!("SELECT id, input, n_executions {QUEUED} ORDER BY rowid LIMIT {BATCH}"))?
        .query_map(params![application, version], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<Result<_, _>>()?;
    let mut taken = Vec::new();
    for (run, input, n_executions) in queued {
        if n_executions >= MAX_EXECUTIONS {
            let park = "UPDATE runs SET phase = 'parked', changed = ?2, ended = ?2 WHERE id = ?1";
            transaction.execute(park, params![run, now()])?;
            continue;
        }
        let execution = uuid::Uuid::new_v4().to_string();
        transaction.execute(
            "UPDATE runs SET phase = 'started', version = ?2, worker = ?3, execution = ?4, n_executions = ?5, changed = ?6 \
             WHERE id = ?1",
            params![run, version, id, execution, n_executions + 1, now()],
        )?;
        let (run, execution) = (RunId::recorded(run), execution.into());
        taken.push(Taken { run, execution, input, n_executions: n_executions + 1 });
    }
    Ok(taken)
}

/// Records the outcome of a run.
async fn end(owned: Owned, run: impl Future<Output = Result<ChainOutcome, RunEnd<Stop>>>) {
    let (phase, outcome) = match run.await {
        Ok(outcome) => (Phase::Finished, serde_json::to_string(&outcome)),
        Err(RunEnd::Rejected(error)) => (Phase::Rejected, serde_json::to_string(&error)),
        Err(RunEnd::Lost | RunEnd::Failed(Stop::Lost)) => return,
        Err(RunEnd::Failed(Stop::Damaged(error))) => {
            tracing::error!(%error, run = %owned.run, "cannot continue a run");
            return;
        }
    };
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            tracing::error!(%error, run = %owned.run, "cannot record the outcome of a run");
            return;
        }
    };
    let run = owned.run.clone();
    // The run may belong to another worker meanwhile.
    let _ = owned
        .write(move |transaction| {
            let update = "UPDATE runs SET phase = ?2, outcome = ?3, changed = ?4, ended = ?4 WHERE id = ?1";
            transaction.execute(update, params![run.as_str(), phase.name(), outcome, now()])
        })
        .await;
}

/// A run that belongs to this execution until another one takes it, or it is cancelled.
#[derive(Clone)]
pub(super) struct Owned {
    pub(super) database: Database,
    pub(super) run: RunId,
    /// A random id. Only the execution with the id in the table may write.
    pub(super) id: Arc<str>,
}

/// The reason why an execution must end.
pub(crate) enum Stop {
    /// The run no longer belongs to this execution.
    Lost,
    /// What was recorded cannot be read.
    Damaged(DurableError),
}

const RETRY_INTERVAL: Duration = Duration::from_millis(200);
const MAX_RETRY_INTERVAL: Duration = Duration::from_secs(5);

impl Owned {
    /// Writes, if the run still belongs to this execution. If the file cannot be written, such as on a full
    /// disk, the write is tried again: a tool may have had its effect already.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&Transaction<'_>) -> rusqlite::Result<T> + Clone + Send + 'static,
    ) -> Result<T, Stop> {
        let mut interval = RETRY_INTERVAL;
        loop {
            let (run, id, work) = (self.run.clone(), Arc::clone(&self.id), work.clone());
            let written = self.database.write(move |transaction| {
                let owner = "SELECT execution = ?2 AND phase = 'started' FROM runs WHERE id = ?1";
                let is_owner =
                    transaction.query_row(owner, params![run.as_str(), id], |row| row.get::<_, Option<bool>>(0));
                match is_owner.optional()?.flatten() {
                    Some(true) => work(transaction).map(Some),
                    _ => Ok(None),
                }
            });
            match written.await {
                Ok(Some(value)) => return Ok(value),
                Ok(None) => return Err(Stop::Lost),
                Err(error) => tracing::warn!(%error, run = %self.run, "cannot record a step; it is tried again"),
            }
            tokio::time::sleep(interval).await;
            interval = (2 * interval).min(MAX_RETRY_INTERVAL);
        }
    }

    /// Records an entry unless there is one, and returns the recorded one with `true` if it is that of this call.
    async fn record(&self, number: i32, value: String) -> Result<(String, bool), Stop> {
        let run = self.run.clone();
        self.write(move |transaction| {
            let insert = "INSERT INTO entries (run, number, value) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
            let is_new = transaction.execute(insert, params![run.as_str(), number, value])? > 0;
            let select = "SELECT value FROM entries WHERE run = ?1 AND number = ?2";
            let recorded = transaction.query_row(select, params![run.as_str(), number], |row| row.get(0))?;
            Ok((recorded, is_new))
        })
        .await
    }

    /// Reads an entry.
    async fn read(&self, number: i32) -> Result<Option<String>, Stop> {
        let mut interval = RETRY_INTERVAL;
        loop {
            let run = self.run.clone();
            let read = self.database.read(move |transaction| {
                let select = "SELECT value FROM entries WHERE run = ?1 AND number = ?2";
                transaction.query_row(select, params![run.as_str(), number], |row| row.get(0)).optional()
            });
            match read.await {
                Ok(value) => return Ok(value),
                Err(error) => tracing::warn!(%error, run = %self.run, "cannot read a step; it is tried again"),
            }
            tokio::time::sleep(interval).await;
            interval = (2 * interval).min(MAX_RETRY_INTERVAL);
        }
    }

    fn parse<T: DeserializeOwned>(&self, number: i32, json: &str) -> Result<T, Stop> {
        serde_json::from_str(json).map_err(|error| {
            let message = format!("entry {number} of the run `{}` is damaged: {error}", self.run);
            Stop::Damaged(DurableError::damaged(message, error))
        })
    }
}

/// An execution of a run by a worker.
pub(crate) struct Execution {
    pub(super) owned: Owned,
    pub(super) n_executions: i64,
    /// Changes when another connection has written.
    pub(super) changes: watch::Receiver<()>,
}

impl store::Execution for Execution {
    type Error = Stop;

    fn run(&self) -> &RunId {
        &self.owned.run
    }

    fn n_executions(&self) -> BoxFuture<'_, Result<i64, Stop>> {
        Box::pin(std::future::ready(Ok(self.n_executions)))
    }

    fn check_owner(&self) -> BoxFuture<'_, Result<(), Stop>> {
        Box::pin(self.owned.write(|_| Ok(())))
    }

    fn step(&self, step: usize, decision_timeout: Duration) -> Box<dyn StepEntries<Stop> + '_> {
        Box::new(Step { owned: &self.owned, changes: self.changes.clone(), step, decision_timeout })
    }
}

/// The entries of a step.
struct Step<'r> {
    owned: &'r Owned,
    changes: watch::Receiver<()>,
    step: usize,
    decision_timeout: Duration,
}

impl Step<'_> {
    fn number(&self, attempt: usize, entry: EntryKind) -> i32 {
        AttemptPlace { step: self.step, attempt }.number(entry)
    }
}

impl StepEntries<Stop> for Step<'_> {
    fn guard(&mut self, attempt: usize) -> BoxFuture<'_, Result<bool, Stop>> {
        let number = self.number(attempt, EntryKind::Guard);
        Box::pin(async move { Ok(self.owned.record(number, self.owned.id.to_string()).await?.1) })
    }

    fn result(&mut self, attempt: usize, make: BoxFuture<'static, Attempt>) -> BoxFuture<'_, Result<Attempt, Stop>> {
        let (owned, number) = (self.owned, self.number(attempt, EntryKind::Result));
        Box::pin(async move {
            let recorded = match owned.read(number).await? {
                Some(recorded) => recorded,
                None => {
                    let json = serde_json::to_string(&make.await)
                        .map_err(|error| Stop::Damaged(DurableError::engine(error)))?;
                    owned.record(number, json).await?.0
                }
            };
            owned.parse(number, &recorded)
        })
    }

    fn decision(&mut self, attempt: usize) -> BoxFuture<'_, Result<Option<Decision>, Stop>> {
        let (owned, number) = (self.owned, self.number(attempt, EntryKind::Decision));
        Box::pin(async move {
            // The time is recorded, so that another worker waits for the rest.
            let timeout = i64::try_from(self.decision_timeout.as_millis()).unwrap_or(i64::MAX);
            let deadline = now().saturating_add(timeout).to_string();
            let (deadline, _) = owned.record(number + 1, deadline).await?;
            let deadline: i64 = owned.parse(number + 1, &deadline)?;
            loop {
                self.changes.borrow_and_update();
                if let Some(decision) = owned.read(number).await? {
                    return owned.parse(number, &decision);
                }
                let left = u64::try_from(deadline.saturating_sub(now())).unwrap_or(0);
                if left == 0 {
                    // A decision may come at the same time: the first one counts.
                    let (decision, _) = owned.record(number, "null".to_owned()).await?;
                    return owned.parse(number, &decision);
                }
                let _ = tokio::time::timeout(Duration::from_millis(left), changed(&mut self.changes)).await;
            }
        })
    }
}

/// Waits for a change. Does not complete if the worker has ended.
async fn changed(changes: &mut watch::Receiver<()>) {
    if changes.changed().await.is_err() {
        std::future::pending().await
    }
}
