//! The status of a run and of its steps.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::client::Run;
use crate::error::DurableError;
use crate::record::{Attempt, AttemptPlace, Decision, EntryKind, Pause, RunInput};
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
    /// The version of the tools that the run was checked against. If no worker has started it yet, the version of the
    /// workers that were deployed last.
    pub version: Option<String>,
    /// The worker that runs it, or ran it last.
    pub worker: Option<String>,
    /// The steps of the chain.
    pub steps: Vec<StepStatus>,
}

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
    Queued,
    /// No worker of its application with the version of the run lives. The run continues when one is started.
    NoWorker,
    /// A worker runs the steps.
    Running,
    /// At least one step waits for a decision.
    Waiting,
    /// The run has an outcome.
    Finished,
    /// The chain was rejected.
    Rejected,
    /// The run was cancelled.
    Cancelled,
    /// The run was given up, since its workers died too often.
    Parked,
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
    /// All states.
    pub const ALL: [Self; 8] = [
        Self::Queued,
        Self::NoWorker,
        Self::Running,
        Self::Waiting,
        Self::Finished,
        Self::Rejected,
        Self::Cancelled,
        Self::Parked,
    ];

    pub(super) fn new(phase: Phase, has_worker: bool, is_waiting: bool) -> Self {
        match phase {
            Phase::Finished => Self::Finished,
            Phase::Rejected => Self::Rejected,
            Phase::Cancelled => Self::Cancelled,
            Phase::Parked => Self::Parked,
            _ if !has_worker => Self::NoWorker,
            _ if is_waiting => Self::Waiting,
            Phase::Started => Self::Running,
            Phase::Queued => Self::Queued,
        }
    }

    /// Returns true if the run can only be resumed or pruned.
    #[must_use]
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Finished | Self::Rejected | Self::Cancelled | Self::Parked)
    }

    /// Returns the name in `snake_case`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::NoWorker => "no_worker",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Finished => "finished",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
            Self::Parked => "parked",
        }
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
        let mut states = self.states().await?;
        let steps: Vec<StepStatus> = chain
            .steps()
            .iter()
            .enumerate()
            .map(|(index, step)| StepStatus {
                index,
                id: step.id().map(str::to_owned),
                tool: step.tool().to_owned(),
                state: states.remove(&index).unwrap_or(StepState::Open),
            })
            .collect();
        let is_waiting = steps.iter().any(|step| step.state.needs_decision());
        let application = record.application.as_deref().unwrap_or(&self.client.0.application);
        let version = self.client.version(&record, application).await?;
        let has_worker = !record.phase.has_ended() && self.client.has_worker(application, version.as_deref()).await?;
        let state = RunState::new(record.phase, has_worker, is_waiting);
        Ok(RunStatus { state, version, worker: record.worker, steps })
    }

    /// Returns the states of the steps with a recorded result.
    pub(super) async fn states(&self) -> Result<BTreeMap<usize, StepState>, DurableError> {
        let mut last: BTreeMap<usize, (AttemptPlace, StepState)> = BTreeMap::new();
        for (number, output) in self.runs().entries(&self.id).await? {
            let Some((place, entry)) = AttemptPlace::find(number) else { continue };
            let state = match entry {
                EntryKind::Guard => StepState::Open,
                EntryKind::Decision => match output.as_deref().map(serde_json::from_str::<Option<Decision>>) {
                    Some(Ok(Some(Decision::Skip(_)))) => StepState::Succeeded,
                    Some(Ok(Some(Decision::Fail) | None)) => StepState::Failed,
                    // The step runs again.
                    _ => StepState::Open,
                },
                EntryKind::Result => match output.as_deref().map(serde_json::from_str::<Attempt>) {
                    Some(Ok(Attempt::Done { result: Ok(_), .. })) => StepState::Succeeded,
                    Some(Ok(Attempt::Paused(pause))) => StepState::Waiting { pause, attempt: place.attempt },
                    _ => StepState::Failed,
                },
            };
            let entry = last.entry(place.step).or_insert((place, StepState::Open));
            if place >= entry.0 {
                *entry = (place, state);
            }
        }
        Ok(last.into_iter().map(|(step, (_, state))| (step, state)).collect())
    }
}

impl StepState {
    /// Returns true if the step waits for a person.
    pub(super) fn needs_decision(&self) -> bool {
        matches!(self, Self::Waiting { pause, .. } if !matches!(pause, Pause::Until { .. }))
    }
}
