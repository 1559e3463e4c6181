//! An execution of a run: what it has recorded, and what it records while the run belongs to it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use tokio::sync::watch;
use toolkit_runtime::Mutex;

use crate::error::{DurableError, RunId};
use crate::record::{Attempt, AttemptPlace, Decision, EntryKind, RunInput};
use crate::sql::{Row, Statement};
use crate::store::{Phase, Store, now};
use crate::worker::child::{ChildRun, EndedChild};

/// An execution of a run by a worker.
pub(super) struct Execution {
    store: Arc<dyn Store>,
    pub(super) run: RunId,
    /// A random id. Only the execution with the id in the table may record entries.
    id: Arc<str>,
    /// The entries that were recorded before this execution.
    recorded: Mutex<HashMap<(AttemptPlace, EntryKind), String>>,
}

/// The reason why an execution ends without an outcome.
pub(super) enum Stop {
    /// The run was cancelled, or belongs to another execution.
    Lost,
    /// The record of the run cannot be read.
    Damaged(DurableError),
}

/// The intervals at which a statement is repeated while the store fails.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);
const MAX_RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// The maximum time until a waiting step looks at the clock again, which may have been changed, or may have gone on while this
/// machine was suspended.
const MAX_SLEEP: Duration = Duration::from_secs(10);

/// The condition that the run `?1` belongs to the execution `?2`.
const OWNED: &str = "FROM toolkit_runs WHERE id = ?1 AND execution = ?2 AND phase = 'started'";

impl Execution {
    pub(super) fn new(store: Arc<dyn Store>, run: RunId, id: Arc<str>) -> Self {
        Self { store, run, id, recorded: Mutex::default() }
    }

    /// Reads what earlier executions have recorded.
    pub(super) async fn load(&self) {
        let select = "SELECT step, attempt, entry, value FROM toolkit_entries WHERE run = ?1";
        let rows = self.answer(|| vec![Statement::read(select).bind(self.run.as_str())]).await;
        let entry = |mut row: Row| {
            let number = |column| usize::try_from(row.integer(column)).unwrap_or(usize::MAX);
            let place = AttemptPlace { step: number(0), attempt: number(1) };
            Some(((place, EntryKind::from_name(&row.text(2))?), row.text(3)))
        };
        *self.recorded.lock() = rows.into_iter().flatten().filter_map(entry).collect();
    }

    /// Takes an entry that was recorded before this execution.
    pub(super) fn recorded<T: DeserializeOwned>(
        &self,
        place: AttemptPlace,
        entry: EntryKind,
    ) -> Result<Option<T>, Stop> {
        let json = self.recorded.lock().remove(&(place, entry));
        json.map(|json| self.parse(place, entry, &json)).transpose()
    }

    fn parse<T: DeserializeOwned>(&self, place: AttemptPlace, entry: EntryKind, json: &str) -> Result<T, Stop> {
        serde_json::from_str(json).map_err(|error| {
            let AttemptPlace { step, attempt } = place;
            let message = format!(
                "the {} of the attempt {attempt} of step {step} of the run `{}` is damaged: {error}",
                entry.name(),
                self.run
            );
            Stop::Damaged(DurableError::damaged(message, error))
        })
    }

    /// Records that this execution begins a guarded attempt. Returns false if another one has begun it.
    pub(super) async fn guard(&self, place: AttemptPlace) -> Result<bool, Stop> {
        Ok(self.record(place, EntryKind::Guard, None, self.id.to_string()).await? == *self.id)
    }

    /// Checks that the run still belongs to this execution: its worker may have been suspended, and replaced.
    pub(super) async fn check_owner(&self) -> Result<(), Stop> {
        let owned = format!("SELECT id {OWNED}");
        let rows = self.answer(|| vec![self.bind(Statement::read(owned.clone()))]).await;
        if rows.iter().any(|rows| !rows.is_empty()) { Ok(()) } else { Err(Stop::Lost) }
    }

    /// Records the end of an attempt.
    pub(super) async fn result(&self, place: AttemptPlace, attempt: &Attempt) -> Result<(), Stop> {
        let json = serde_json::to_string(attempt).map_err(|error| Stop::Damaged(DurableError::engine(error)))?;
        self.record(place, EntryKind::Result, Some(attempt.state()), json).await.map(drop)
    }

    /// Waits for the decision after an attempt. Returns `None` if there was none in time.
    pub(super) async fn decision(
        &self,
        place: AttemptPlace,
        timeout: Duration,
        decisions: &mut watch::Receiver<i64>,
    ) -> Result<Option<Decision>, Stop> {
        // The time is recorded, so that another worker waits for the rest.
        let deadline = match self.recorded::<i64>(place, EntryKind::Deadline)? {
            Some(deadline) => deadline,
            None => {
                let deadline = now().saturating_add(i64::try_from(timeout.as_millis()).unwrap_or(i64::MAX));
                self.record(place, EntryKind::Deadline, None, deadline.to_string()).await?;
                deadline
            }
        };
        let end = Timestamp::from_millisecond(deadline).unwrap_or(Timestamp::MAX);
        loop {
            decisions.borrow_and_update();
            if let Some(decision) = self.read(place, EntryKind::Decision).await? {
                return Ok(decision);
            }
            tokio::select! {
                () = sleep_until(end) => {
                    // A decision may come at the same time: the first one counts.
                    let json = self.record(place, EntryKind::Decision, None, "null".to_owned()).await?;
                    return self.parse(place, EntryKind::Decision, &json);
                }
                () = changed(decisions) => {}
            }
        }
    }

    /// Starts a child of this run unless there is one. Returns the reason if another run has its id.
    pub(super) async fn start_child(&self, child: &ChildRun) -> Result<Result<(), String>, Stop> {
        let input = RunInput::new(child.chain.clone());
        let json = serde_json::to_string(&input).map_err(|error| Stop::Damaged(DurableError::engine(error)))?;
        let share = self.store.clauses().share;
        let insert = format!(
            "INSERT INTO toolkit_runs (id, application, phase, input, started, changed, parent) \
             SELECT ?3, application, 'queued', ?4, ?5, ?5, id {OWNED}{share} ON CONFLICT DO NOTHING RETURNING id"
        );
        let at = |statement: Statement| self.bind(statement).bind(child.id.as_str());
        let inserted = || vec![at(Statement::write(insert.clone())).bind(&*json).bind(now())];
        if self.answer(inserted).await.iter().any(|rows| !rows.is_empty()) {
            return Ok(Ok(()));
        }
        let select = format!("SELECT (SELECT input FROM toolkit_runs WHERE id = ?3 AND parent = ?1) {OWNED}");
        let found = self.answer(|| vec![at(Statement::read(select.clone()))]).await.into_iter().flatten().next();
        let recorded = found.ok_or(Stop::Lost)?.take_text(0);
        let recorded: Option<RunInput> = recorded.and_then(|json| serde_json::from_str(&json).ok());
        Ok(match recorded {
            Some(recorded) if recorded.hash == input.hash => Ok(()),
            Some(_) => Err(format!("the child run `{}` exists with another chain", child.id)),
            None => Err(format!("the run `{}` exists and is not a child of this run", child.id)),
        })
    }

    /// Waits until no worker continues a child. One that was given up may be resumed.
    pub(super) async fn child_end(&self, id: RunId, changes: &mut watch::Receiver<i64>) -> Result<EndedChild, Stop> {
        let select = "SELECT phase, outcome FROM toolkit_runs WHERE id = ?1";
        loop {
            changes.borrow_and_update();
            let found = self.answer(|| vec![Statement::read(select).bind(id.as_str())]).await;
            let Some(mut row) = found.into_iter().flatten().next() else {
                return Ok(EndedChild { id, end: None });
            };
            let phase = Phase::from_name(&row.text(0)).unwrap_or(Phase::Parked);
            if phase.has_ended() && phase != Phase::Parked {
                return Ok(EndedChild { id, end: Some((phase, row.text(1).into())) });
            }
            changed(changes).await;
        }
    }

    /// Reads an entry that others may have recorded meanwhile.
    async fn read<T: DeserializeOwned>(&self, place: AttemptPlace, entry: EntryKind) -> Result<Option<T>, Stop> {
        if let Some(recorded) = self.recorded(place, entry)? {
            return Ok(Some(recorded));
        }
        let select = "SELECT value FROM toolkit_entries WHERE run = ?1 AND step = ?2 AND attempt = ?3 AND entry = ?4";
        let select = || {
            let statement = Statement::read(select).bind(self.run.as_str()).bind(place.step).bind(place.attempt);
            vec![statement.bind(entry.name())]
        };
        let found = self.answer(select).await.into_iter().flatten().next();
        found.map(|mut row| self.parse(place, entry, &row.text(0))).transpose()
    }

    /// Records an entry unless there is one, and returns the recorded one.
    async fn record(
        &self,
        place: AttemptPlace,
        entry: EntryKind,
        state: Option<&str>,
        value: String,
    ) -> Result<String, Stop> {
        let at = |statement: Statement| self.bind(statement).bind(place.step).bind(place.attempt).bind(entry.name());
        let share = self.store.clauses().share;
        let insert = format!(
            "INSERT INTO toolkit_entries (run, step, attempt, entry, state, value) SELECT id, ?3, ?4, ?5, ?6, ?7 \
             {OWNED}{share} ON CONFLICT DO NOTHING RETURNING run"
        );
        let inserted = || vec![at(Statement::write(insert.clone())).bind(state).bind(&*value)];
        if self.answer(inserted).await.iter().any(|rows| !rows.is_empty()) {
            return Ok(value);
        }
        // Either there is one, perhaps of this statement, whose answer was lost, or the run belongs to another execution.
        let select = format!(
            "SELECT (SELECT value FROM toolkit_entries WHERE run = ?1 AND step = ?3 AND attempt = ?4 AND entry = ?5) {OWNED}"
        );
        let found = self.answer(|| vec![at(Statement::read(select.clone()))]).await.into_iter().flatten().next();
        found.and_then(|mut row| row.take_text(0)).ok_or(Stop::Lost)
    }

    /// Records the outcome of the run. It may belong to another worker meanwhile.
    pub(super) async fn end(&self, phase: Phase, outcome: Option<String>, error: Option<String>) {
        let end = "UPDATE toolkit_runs SET phase = ?3, outcome = ?4, error = ?5, changed = ?6, ended = ?6 \
                   WHERE id = ?1 AND execution = ?2 AND phase = 'started'";
        self.answer(|| {
            let statement = self.bind(Statement::write(end)).bind(phase.name());
            vec![statement.bind(outcome.as_deref()).bind(error.as_deref()).bind(now())]
        })
        .await;
    }

    fn bind(&self, statement: Statement) -> Statement {
        statement.bind(self.run.as_str()).bind(&*self.id)
    }

    /// Returns the answer of the store. While it fails, such as on a full disk, the statements are repeated: a tool may have
    /// had its effect already.
    async fn answer(&self, statements: impl Fn() -> Vec<Statement>) -> Vec<Vec<Row>> {
        let mut interval = RETRY_INTERVAL;
        loop {
            match self.store.run(statements()).await {
                Ok(rows) => return rows,
                Err(error) => tracing::warn!(%error, run = %self.run, "the record of a run fails; it is tried again"),
            }
            tokio::time::sleep(interval).await;
            interval = (2 * interval).min(MAX_RETRY_INTERVAL);
        }
    }
}

/// Waits for a decision, or for the end of a child. Never completes when the execution has ended.
async fn changed(changes: &mut watch::Receiver<i64>) {
    if changes.changed().await.is_err() {
        std::future::pending().await
    }
}

/// Waits for a time of the clock.
pub(super) async fn sleep_until(time: Timestamp) {
    loop {
        let left = Duration::try_from(time.duration_since(Timestamp::now())).unwrap_or_default();
        if left.is_zero() {
            return;
        }
        tokio::time::sleep(left.min(MAX_SLEEP)).await;
    }
}
