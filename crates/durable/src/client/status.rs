//! The status of a run.

use std::collections::BTreeMap;

use dbos::sysdb::types::WorkflowStatus;
use serde::Serialize;

use super::Run;
use crate::error::DurableError;
use crate::layout::{Entry, Place};
use crate::lock;
use crate::record::{Attempt, Input, Pause};

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
    /// No worker with the version of the run lives. The run continues when one is started.
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
    /// No result is recorded.
    Open,
    /// The step waits for a decision.
    #[non_exhaustive]
    Waiting {
        /// The reason.
        pause: Pause,
        /// The number of the attempt, from 0.
        attempt: usize,
    },
    /// The result is recorded, and is not an error.
    Succeeded,
    /// The error is recorded.
    Failed,
}

impl RunState {
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
        let input: Option<Input> = record.input.as_deref().and_then(|json| serde_json::from_str(json).ok());
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
        let is_waiting = steps.iter().any(|step| matches!(step.state, StepState::Waiting { .. }));
        let version = match record.application_version {
            Some(version) => Some(version),
            // New runs go to the latest version.
            None => self
                .engine()
                .latest_application_version()
                .await
                .map_err(DurableError::engine)?
                .map(|it| it.version_name),
        };
        let state = match record.status {
            WorkflowStatus::Success => RunState::Finished,
            WorkflowStatus::Error => RunState::Rejected,
            WorkflowStatus::Cancelled => RunState::Cancelled,
            WorkflowStatus::MaxRecoveryAttemptsExceeded => RunState::Parked,
            _ => match &version {
                Some(version) if !self.has_worker(version).await? => RunState::NoWorker,
                _ if is_waiting => RunState::Waiting,
                _ if record.status == WorkflowStatus::Pending => RunState::Running,
                _ => RunState::Queued,
            },
        };
        Ok(RunStatus { state, version, worker: record.executor_id, steps })
    }

    /// Returns the states of the steps with a recorded result.
    async fn states(&self) -> Result<BTreeMap<usize, StepState>, DurableError> {
        let records = self.engine().list_workflow_steps(self.id.as_str()).await.map_err(DurableError::engine)?;
        let mut last: BTreeMap<usize, (Place, StepState)> = BTreeMap::new();
        for record in records {
            let Some((place, entry)) = Place::find(record.step_id) else { continue };
            let state = match entry {
                Entry::Guard | Entry::Decision => StepState::Open,
                Entry::Result => match record.output.as_deref().map(serde_json::from_str::<Attempt>) {
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

    async fn has_worker(&self, version: &str) -> Result<bool, DurableError> {
        let mut look = self.client.0.pool.begin().await.map_err(DurableError::engine)?;
        lock::try_hold(&mut look, version).await.map(|is_free| !is_free).map_err(DurableError::engine)
    }
}
