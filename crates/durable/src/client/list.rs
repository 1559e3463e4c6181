//! Lists of runs, and the removal of runs that have ended.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use crate::client::{Client, RunState, StepState, status};
use crate::error::{DurableError, RunId};
use crate::record::Pause;
use crate::runs::{EntryRecord, LivingWorkers, RunRecord, RunsPage};
use crate::store::Phase;

/// The selection of runs for [`Client::list`]. By default, the 100 runs of the application that were started last.
///
/// # Examples
///
/// ```
/// use toolkit_durable::{RunFilter, RunState};
///
/// // All runs for which a person has to do something.
/// let filter = RunFilter::new().state(RunState::Waiting).state(RunState::NoWorker).state(RunState::Parked).limit(1000);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct RunFilter {
    states: Vec<RunState>,
    is_any_application: bool,
    ended_for: Option<Duration>,
    limit: usize,
}

const DEFAULT_LIMIT: usize = 100;

/// The number of runs of one query.
const PAGE: usize = 200;

impl RunFilter {
    /// Creates the default selection.
    pub fn new() -> Self {
        Self { states: Vec::new(), is_any_application: false, ended_for: None, limit: DEFAULT_LIMIT }
    }

    /// Selects the runs in this state, in addition to other selected ones. Default: runs in all states.
    pub fn state(mut self, state: RunState) -> Self {
        self.states.push(state);
        self
    }

    /// Selects the runs of all applications in the database.
    pub fn any_application(self) -> Self {
        Self { is_any_application: true, ..self }
    }

    /// Selects the runs that ended at least this time ago.
    pub fn ended_for(self, time: Duration) -> Self {
        Self { ended_for: Some(time), ..self }
    }

    /// Sets the maximum number of runs. Default: 100.
    pub fn limit(self, n: usize) -> Self {
        Self { limit: n, ..self }
    }

    fn contains(&self, state: RunState) -> bool {
        self.states.is_empty() || self.states.contains(&state)
    }

    /// Returns the phases that a selected run may have.
    fn phases(&self) -> Vec<Phase> {
        let may_be = |phase: &Phase| {
            let states = [(false, false), (true, false), (true, true)];
            states.iter().any(|&(has_worker, waits)| self.contains(RunState::new(*phase, has_worker, waits)))
        };
        Phase::ALL.into_iter().filter(may_be).collect()
    }
}

impl Default for RunFilter {
    fn default() -> Self {
        Self::new()
    }
}

/// A run in a [list](Client::list).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunSummary {
    /// The id of the run.
    pub id: RunId,
    /// The application to which it belongs.
    pub application: String,
    /// The state of the run.
    pub state: RunState,
    /// The version of the tools; see [`RunStatus::version`](crate::RunStatus::version).
    pub version: Option<String>,
    /// The worker that runs it, or ran it last.
    pub worker: Option<String>,
    /// The error of the step that failed, or of the chain that was rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The time at which it was started (RFC 3339).
    pub started: Timestamp,
    /// The time at which it changed last: a worker took it, or it ended.
    pub changed: Timestamp,
    /// The steps that wait, and their reasons.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub waiting: BTreeMap<usize, Pause>,
}

impl Client {
    /// Returns runs, the last started one first. A run that changes its state meanwhile may be absent.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use toolkit_durable::{Client, DurableError, RunFilter, RunState};
    ///
    /// async fn report(client: &Client) -> Result<(), DurableError> {
    ///     for run in client.list(&RunFilter::new().state(RunState::NoWorker).any_application()).await? {
    ///         println!("{} needs a worker of {}", run.id, run.application);
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub async fn list(&self, filter: &RunFilter) -> Result<Vec<RunSummary>, DurableError> {
        let (mut runs, mut offset) = (Vec::new(), 0);
        let workers = self.0.workers().await?;
        while runs.len() < filter.limit {
            let page = self.page(filter, offset).await?;
            let is_last = page.len() < PAGE;
            offset += page.len();
            let open = page.iter().filter(|record| !record.phase.has_ended()).map(|record| record.id.as_str());
            let mut entries: HashMap<String, Vec<EntryRecord>> = HashMap::new();
            for entry in self.0.entries(&open.collect::<Vec<_>>()).await? {
                entries.entry(entry.run.clone()).or_default().push(entry);
            }
            for record in page {
                let entries = entries.remove(record.id.as_str()).unwrap_or_default();
                let run = summary(record, entries, &workers);
                if filter.contains(run.state) && runs.len() < filter.limit {
                    runs.push(run);
                }
            }
            if is_last {
                break;
            }
        }
        Ok(runs)
    }

    /// Deletes runs that have ended, with their children and the results of their steps, and returns their number. A run that
    /// was resumed or has not ended stays, and so does a child of such a run. The id of a deleted run is free: [`Client::start`] with it starts another run.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use toolkit_durable::{Client, DurableError, RunFilter, RunState};
    ///
    /// /// Deletes the runs that finished a month ago.
    /// async fn prune(client: &Client) -> Result<u64, DurableError> {
    ///     let month = Duration::from_secs(30 * 24 * 60 * 60);
    ///     let old = client.list(&RunFilter::new().state(RunState::Finished).ended_for(month).limit(10_000)).await?;
    ///     client.delete(old.iter().map(|run| &run.id)).await
    /// }
    /// ```
    pub async fn delete(&self, runs: impl IntoIterator<Item = &RunId>) -> Result<u64, DurableError> {
        let runs: Vec<&str> = runs.into_iter().map(RunId::as_str).collect();
        let mut n_deleted = 0;
        for runs in runs.chunks(PAGE) {
            n_deleted += self.0.delete(runs).await?;
        }
        Ok(n_deleted)
    }

    async fn page(&self, filter: &RunFilter, offset: usize) -> Result<Vec<RunRecord>, DurableError> {
        let page = RunsPage {
            application: (!filter.is_any_application).then_some(&*self.0.application),
            phases: filter.phases(),
            ended_for: filter.ended_for,
            limit: PAGE,
            offset,
        };
        self.0.list(page).await
    }
}

fn summary(record: RunRecord, entries: Vec<EntryRecord>, workers: &LivingWorkers) -> RunSummary {
    let (mut is_waiting, mut waiting) = (false, BTreeMap::new());
    let has_worker = workers.can_run(&record);
    for (step, (_, state)) in status::attempts(entries) {
        is_waiting |= state.needs_decision();
        if let StepState::Waiting { pause, .. } = state {
            waiting.insert(step, pause);
        }
    }
    let newest = || Some(workers.newest_version(&record.application)?.to_owned());
    RunSummary {
        state: RunState::new(record.phase, has_worker, is_waiting),
        version: record.version.clone().or_else(newest),
        id: record.id,
        application: record.application,
        worker: record.worker,
        error: record.error,
        started: record.started,
        changed: record.changed,
        waiting,
    }
}
