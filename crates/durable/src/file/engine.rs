//! The engine of a worker: takes runs from the queue, and records their outcomes.

use std::sync::Arc;

use rusqlite::{Transaction, params};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit_backends::chain::ChainOutcome;

use crate::error::{DurableError, RunId};
use crate::file::database::Database;
use crate::file::execution::{Execution, Owned, Stop};
use crate::file::lease::{Lease, Worker};
use crate::file::{Address, now};
use crate::record::Input;
use crate::store::{self, Ended, POLL, Phase};

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
    worker: Worker,
    lease: Arc<Lease>,
    task: Option<JoinHandle<()>>,
}

impl Engine {
    pub(crate) async fn open(address: &Address, worker: &str, version: &str) -> Result<Self, DurableError> {
        let (id, application) = (worker.to_owned(), address.application.clone());
        let worker = Worker { id, application, version: version.to_owned() };
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
        R: Fn(Execution, Input) -> F + Send + Sync + 'static,
        F: Future<Output = Result<ChainOutcome, Ended<Stop>>> + Send + 'static,
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
async fn take_runs<R, F>(database: Database, worker: Worker, run: R)
where
    R: Fn(Execution, Input) -> F,
    F: Future<Output = Result<ChainOutcome, Ended<Stop>>> + Send + 'static,
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
                    let rejected = Ended::Rejected(ToolError::new(ErrorKind::InvalidArguments, message));
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
async fn take(database: &Database, worker: &Worker) -> Result<(i64, Vec<Taken>), DurableError> {
    let Worker { application, version, .. } = worker.clone();
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

fn take_queued(transaction: &Transaction<'_>, worker: &Worker) -> rusqlite::Result<Vec<Taken>> {
    let Worker { id, application, version } = worker;
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
async fn end(owned: Owned, run: impl Future<Output = Result<ChainOutcome, Ended<Stop>>>) {
    let (phase, outcome) = match run.await {
        Ok(outcome) => (Phase::Finished, serde_json::to_string(&outcome)),
        Err(Ended::Rejected(error)) => (Phase::Rejected, serde_json::to_string(&error)),
        Err(Ended::Lost | Ended::Failed(Stop::Lost)) => return,
        Err(Ended::Failed(Stop::Damaged(error))) => {
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
