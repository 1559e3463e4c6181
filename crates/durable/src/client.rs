//! Clients, which start runs and decide about their steps. `list` shows runs, and removes those that have ended.

mod list;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use toolkit_backends::chain::{Chain, ChainOutcome};

pub use self::list::{RunFilter, RunSummary};
use crate::connect::Connect;
use crate::error::{DurableError, RunId};
use crate::record::{Attempt, Decision, Entry, Input, Pause, Place};
use crate::store::{Phase, Record, Runs};

/// A connection to the runs of an application, which any process may have.
///
/// # Examples
///
/// ```no_run
/// use toolkit_backends::chain::Chain;
/// use toolkit_durable::{Client, Connect, RunId};
///
/// # async fn start(order: &str) -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::connect(&Connect::new("runs.db")?).await?;
/// let chain = Chain::from_json(r#"[{"toolId": "orders:ship", "args": {"order": 42}}]"#)?;
/// // A second request for the same order finds the run of the first one.
/// let run = client.start(&chain, RunId::new(format!("order-{order}"))?).await?;
/// let outcome = run.wait().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    runs: Arc<dyn Runs>,
    application: String,
}

/// A run of a chain.
///
/// # Examples
///
/// A person who approves what waits:
///
/// ```no_run
/// use toolkit_durable::{Decision, DurableError, Pause, Run, StepState};
///
/// async fn approve_all(run: &Run) -> Result<(), DurableError> {
///     for step in run.status().await?.steps {
///         if let StepState::Waiting { pause: Pause::Question { message, .. }, .. } = step.state {
///             println!("{message}");
///             run.decide(step.index, &Decision::Approve).await?;
///         }
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Run {
    client: Client,
    id: RunId,
}

impl Client {
    /// Connects.
    ///
    /// # Errors
    ///
    /// Returns an error if the file or database cannot be opened, or no worker has created its tables yet.
    pub async fn connect(connect: &Connect) -> Result<Self, DurableError> {
        let runs = connect.runs().await?;
        Ok(Self(Arc::new(Inner { runs, application: connect.application_name().to_owned() })))
    }

    /// Starts a run. If a run with this id exists, returns it.
    ///
    /// # Errors
    ///
    /// Returns an error if the run exists with another chain, or the database fails.
    pub async fn start(&self, chain: &Chain, id: RunId) -> Result<Run, DurableError> {
        let input = Input::new(chain.clone());
        self.0.runs.start(&id, &input).await?;
        let run = self.run(id);
        let record = run.record(true).await?;
        let recorded: Option<Input> = record.input.as_deref().and_then(|json| serde_json::from_str(json).ok());
        match recorded {
            Some(recorded) if recorded.hash == input.hash => Ok(run),
            recorded => {
                let recorded = recorded.map_or_else(|| "unknown".to_owned(), |input| input.hash);
                Err(DurableError::OtherInput { run: run.id, recorded, given: input.hash })
            }
        }
    }

    /// Returns the run with an id. It need not exist yet.
    #[must_use]
    pub fn run(&self, id: RunId) -> Run {
        Run { client: self.clone(), id }
    }
}

impl Run {
    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Waits for the outcome.
    ///
    /// # Errors
    ///
    /// Returns an error if the run does not exist, was cancelled or given up, or its chain does not fit to the tools of the
    /// worker.
    pub async fn wait(&self) -> Result<ChainOutcome, DurableError> {
        self.record(false).await?;
        self.runs().outcome(&self.id).await
    }

    /// Cancels the run. The worker drops the calls of running steps, and no further step starts. A run that has ended stays
    /// as it is.
    ///
    /// # Errors
    ///
    /// Returns an error if the run does not exist, or the database fails.
    pub async fn cancel(&self) -> Result<(), DurableError> {
        self.record(false).await?;
        self.runs().cancel(&self.id).await
    }

    /// Continues a run that was [given up](RunState::Parked) or cancelled, with the recorded results.
    ///
    /// # Errors
    ///
    /// Returns an error if the run does not exist, or the database fails.
    pub async fn resume(&self) -> Result<(), DurableError> {
        self.record(false).await?;
        self.runs().resume(&self.id).await
    }

    /// Decides about a step that waits.
    ///
    /// # Errors
    ///
    /// Returns an error if the step does not wait for such a decision, or its value does not match the schema of the question
    /// or of the result, or the database fails.
    pub async fn decide(&self, step: usize, decision: &Decision) -> Result<(), DurableError> {
        let status = self.status().await?;
        let not_waiting = |why: String| DurableError::NotWaiting(format!("step {step} of the run `{}` {why}", self.id));
        if status.state.has_ended() {
            return Err(not_waiting(format!("waits for no decision: the run is {}", status.state.name())));
        }
        let Some(StepState::Waiting { pause, attempt }) = status.steps.get(step).map(|step| &step.state) else {
            return Err(not_waiting("waits for no decision".to_owned()));
        };
        decision.check(pause).map_err(not_waiting)?;
        self.runs().decide(&self.id, Place { step, attempt: *attempt }, decision).await
    }

    async fn record(&self, with_input: bool) -> Result<Record, DurableError> {
        let found = self.runs().find(&self.id, with_input).await?;
        found.ok_or_else(|| DurableError::UnknownRun(self.id.clone()))
    }

    fn runs(&self) -> &dyn Runs {
        &*self.client.0.runs
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("id", &self.id).finish_non_exhaustive()
    }
}

// The status of a run.

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

    fn new(phase: Phase, has_worker: bool, is_waiting: bool) -> Self {
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
        let is_waiting = steps.iter().any(|step| step.state.needs_decision());
        let application = record.application.as_deref().unwrap_or(&self.client.0.application);
        let version = self.client.version(&record, application).await?;
        let has_worker = !record.phase.has_ended() && self.client.has_worker(application, version.as_deref()).await?;
        let state = RunState::new(record.phase, has_worker, is_waiting);
        Ok(RunStatus { state, version, worker: record.worker, steps })
    }

    /// Returns the states of the steps with a recorded result.
    async fn states(&self) -> Result<BTreeMap<usize, StepState>, DurableError> {
        let mut last: BTreeMap<usize, (Place, StepState)> = BTreeMap::new();
        for (number, output) in self.runs().entries(&self.id).await? {
            let Some((place, entry)) = Place::find(number) else { continue };
            let state = match entry {
                Entry::Guard => StepState::Open,
                Entry::Decision => match output.as_deref().map(serde_json::from_str::<Option<Decision>>) {
                    Some(Ok(Some(Decision::Skip(_)))) => StepState::Succeeded,
                    Some(Ok(Some(Decision::Fail) | None)) => StepState::Failed,
                    // The step runs again.
                    _ => StepState::Open,
                },
                Entry::Result => match output.as_deref().map(serde_json::from_str::<Attempt>) {
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
    fn needs_decision(&self) -> bool {
        matches!(self, Self::Waiting { pause, .. } if !matches!(pause, Pause::Until { .. }))
    }
}

impl Client {
    /// Returns the version of the tools of a run: that of the workers that were deployed last if no worker has started it.
    async fn version(&self, record: &Record, application: &str) -> Result<Option<String>, DurableError> {
        match &record.version {
            Some(version) => Ok(Some(version.clone())),
            None => self.0.runs.last_version(application).await,
        }
    }

    /// Returns true if a worker of an application with this version lives.
    async fn has_worker(&self, application: &str, version: Option<&str>) -> Result<bool, DurableError> {
        match version {
            Some(version) => self.0.runs.has_worker(application, version).await,
            None => Ok(false),
        }
    }
}
