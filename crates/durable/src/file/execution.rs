//! An execution of a run, and the entries of its steps.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{OptionalExtension, Transaction, params};
use serde::de::DeserializeOwned;
use tokio::sync::watch;
use toolkit::call::BoxFuture;

use crate::error::{DurableError, RunId};
use crate::file::database::Database;
use crate::file::now;
use crate::layout::{Entry, Place};
use crate::record::{Attempt, Decision};
use crate::store::{self, StepEntries};

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
            Stop::Damaged(DurableError::Database(message))
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
    fn number(&self, attempt: usize, entry: Entry) -> i32 {
        Place { step: self.step, attempt }.number(entry)
    }
}

impl StepEntries<Stop> for Step<'_> {
    fn guard(&mut self, attempt: usize) -> BoxFuture<'_, Result<bool, Stop>> {
        let number = self.number(attempt, Entry::Guard);
        Box::pin(async move { Ok(self.owned.record(number, self.owned.id.to_string()).await?.1) })
    }

    fn result(&mut self, attempt: usize, make: BoxFuture<'static, Attempt>) -> BoxFuture<'_, Result<Attempt, Stop>> {
        let (owned, number) = (self.owned, self.number(attempt, Entry::Result));
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
        let (owned, number) = (self.owned, self.number(attempt, Entry::Decision));
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
