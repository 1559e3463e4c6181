//! The status of a run and of its steps.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::client::Run;
use crate::error::DurableError;
use crate::record::{Attempt, AttemptPlace, Decision, EntryKind, Pause, RunInput, SUCCEEDED, WAITING};
use crate::runs::EntryRecord;
use crate::store::Phase;

/// The status of a run.
///
/// # Examples
///
/// ```no_run
/// use toolkit_durable::{Run, RunState};
///
/// # async fn example(run: Run) -> Result<(), Box<dyn std::error::Error>> {
/// let status = run.status().await?;
/// if status.state == RunState::NoWorker {
///     eprintln!("start a worker of the version {}", status.version.unwrap_or_default());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub struct RunStatus {
    /// The state of the run.
    pub state: RunState,
    /// The [version](crate::Worker::version) of the worker that took it last. If none has taken it yet, that of the living
    /// worker that started last.
    pub version: Option<String>,
    /// The worker that runs it, or ran it last.
    pub worker: Option<String>,
    /// The error of the step that failed, or of the chain that was rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The steps of the chain.
    pub steps: Vec<StepStatus>,
}

toolkit::named! {
    /// The state of a run.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_durable::RunState;
    ///
    /// assert_eq!(RunState::NoWorker.name(), "no_worker");
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum RunState {
        /// The run waits for a worker.
        Queued = "queued",
        /// No worker of its application lives whose tools have the contracts of the run. The run continues when one is
        /// started, or after [`Run::bind`].
        NoWorker = "no_worker",
        /// A worker runs the steps.
        Running = "running",
        /// At least one step waits for a decision.
        Waiting = "waiting",
        /// All steps have succeeded.
        Finished = "finished",
        /// A step has failed. [`Run::retry`] runs it again.
        Failed = "failed",
        /// The chain was rejected.
        Rejected = "rejected",
        /// The run was cancelled.
        Cancelled = "cancelled",
        /// The run was given up, since its workers died too often.
        Parked = "parked",
    }
}

/// The status of a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub struct StepStatus {
    /// The index of the step in the chain.
    pub index: usize,
    /// The id of the step.
    pub id: Option<String>,
    /// The name of the tool as written in the chain.
    pub tool: String,
    /// The state of the step.
    pub state: StepState,
}

/// The state of a step; see [`Run`] for an example.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepState {
    /// No result is recorded: the step runs, or waits for others.
    Open,
    /// The step waits for a decision, or for a time.
    #[non_exhaustive]
    Waiting {
        /// The reason.
        pause: Pause,
        /// The number of the attempt, from 0.
        attempt: usize,
    },
    /// A result is recorded, or a [decision](Decision::Skip) that states it.
    Succeeded,
    /// An error is recorded, or a decision that ends the step with one.
    Failed,
}

impl RunState {
    pub(super) fn new(phase: Phase, has_worker: bool, is_waiting: bool) -> Self {
        match phase {
            Phase::Finished => Self::Finished,
            Phase::Failed => Self::Failed,
            Phase::Rejected => Self::Rejected,
            Phase::Cancelled => Self::Cancelled,
            Phase::Parked => Self::Parked,
            _ if !has_worker => Self::NoWorker,
            _ if is_waiting => Self::Waiting,
            Phase::Started => Self::Running,
            Phase::Queued => Self::Queued,
        }
    }

    /// Returns true if the run can only be resumed, retried or pruned.
    #[must_use]
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Finished | Self::Failed | Self::Rejected | Self::Cancelled | Self::Parked)
    }
}

impl Run {
    /// Returns the status.
    ///
    /// # Errors
    ///
    /// Returns an error if the run does not exist, or the database fails.
    pub async fn status(&self) -> Result<RunStatus, DurableError> {
        let record = self.record(true).await?;
        let input: Option<RunInput> = record.input.as_deref().and_then(|json| serde_json::from_str(json).ok());
        let chain = input.map(|input| input.chain).unwrap_or_default();
        let mut states = attempts(self.runs().entries(&[self.id.as_str()]).await?);
        let steps: Vec<StepStatus> = chain
            .steps()
            .iter()
            .enumerate()
            .map(|(index, step)| StepStatus {
                index,
                id: step.id().map(str::to_owned),
                tool: step.tool().to_owned(),
                state: states.remove(&index).map_or(StepState::Open, |(_, state)| state),
            })
            .collect();
        let is_waiting = steps.iter().any(|step| step.state.needs_decision());
        let workers = self.runs().workers().await?;
        let has_worker = workers.can_run(&record);
        let state = RunState::new(record.phase, has_worker, is_waiting);
        let version = record.version.or_else(|| Some(workers.newest_version(&record.application)?.to_owned()));
        Ok(RunStatus { state, version, worker: record.worker, error: record.error, steps })
    }
}

/// Returns the last attempt of each step of a run, and the state in which it leaves the step.
pub(super) fn attempts(entries: Vec<EntryRecord>) -> BTreeMap<usize, (AttemptPlace, StepState)> {
    let mut entries: Vec<_> = entries.into_iter().filter(|it| it.entry != EntryKind::Deadline).collect();
    entries.sort_by_key(|entry| (entry.place, entry.entry));
    entries.into_iter().map(|entry| (entry.place.step, (entry.place, state(&entry)))).collect()
}

/// Returns the state of a step after an entry.
fn state(entry: &EntryRecord) -> StepState {
    let value = entry.value.as_deref().unwrap_or_default();
    match (entry.entry, entry.state.as_deref()) {
        (EntryKind::Result, Some(SUCCEEDED)) => StepState::Succeeded,
        (EntryKind::Result, Some(WAITING)) => match serde_json::from_str(value) {
            Ok(Attempt::Paused(pause)) => StepState::Waiting { pause, attempt: entry.place.attempt },
            _ => StepState::Failed,
        },
        (EntryKind::Result, _) => StepState::Failed,
        (EntryKind::Decision, _) => match serde_json::from_str::<Option<Decision>>(value) {
            Ok(Some(Decision::Skip(_))) => StepState::Succeeded,
            Ok(Some(Decision::Fail) | None) => StepState::Failed,
            // The step runs again.
            _ => StepState::Open,
        },
        (EntryKind::Guard | EntryKind::Deadline | EntryKind::Retry, _) => StepState::Open,
    }
}

impl StepState {
    /// Returns true if the step waits for a person.
    pub(super) fn needs_decision(&self) -> bool {
        matches!(self, Self::Waiting { pause, .. } if !pause.decisions().is_empty())
    }
}
