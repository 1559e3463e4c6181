//! Clients, which start runs and decide about their steps. `list` shows runs, and removes those that have ended; `status`
//! shows the steps of one.

mod list;
mod status;

use std::sync::Arc;

use toolkit::call::ErrorKind;
use toolkit::{Dispatcher, ToolError};
use toolkit_backends::chain::{Chain, ChainOutcome};

pub use self::list::{RunFilter, RunSummary};
pub use self::status::{RunState, RunStatus, StepState, StepStatus};
use crate::connect::Connect;
use crate::contract::Contracts;
use crate::error::{DurableError, RunId};
use crate::record::{AttemptPlace, Decision, RunInput};
use crate::runs::{RunRecord, Runs};
use crate::store::Phase;

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
pub struct Client(Arc<Runs>);

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
        let store = connect.open(false).await?;
        Ok(Self(Arc::new(Runs::new(store, connect.application_name().to_owned()))))
    }

    /// Starts a run. If a run with this id exists, returns it. A chain that was rejected before its first step gives its id to
    /// another chain.
    ///
    /// # Errors
    ///
    /// Returns an error if the run exists with another chain, or the database fails.
    pub async fn start(&self, chain: &Chain, id: RunId) -> Result<Run, DurableError> {
        let input = RunInput::new(chain.clone());
        self.0.start(&id, &input).await?;
        let run = self.run(id);
        let record = run.record(true).await?;
        let recorded: Option<RunInput> = record.input.as_deref().and_then(|json| serde_json::from_str(json).ok());
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

    /// Cancels the run and its children. The worker drops the calls of running steps, and no further step starts.
    ///
    /// # Errors
    ///
    /// Returns an error if the run does not exist or has ended, or the database fails.
    pub async fn cancel(&self) -> Result<(), DurableError> {
        self.changed(self.runs().cancel(&self.id).await?, "cancelled", "a run that has not ended").await
    }

    /// Continues a run that was [given up](RunState::Parked) or cancelled, with its children and the recorded results.
    ///
    /// # Errors
    ///
    /// Returns an error if the run does not exist or is another one, or the database fails.
    pub async fn resume(&self) -> Result<(), DurableError> {
        self.changed(self.runs().resume(&self.id).await?, "resumed", "a cancelled or parked run").await
    }

    /// Continues a run that has [failed](RunState::Failed), with the recorded results: the steps that failed run again, and so do
    /// those of its children.
    ///
    /// # Errors
    ///
    /// Returns an error if the run does not exist or has not failed, or the database fails.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use toolkit_durable::{Client, DurableError, RunFilter, RunState};
    ///
    /// /// Runs the failed steps of all runs again, such as after an outage.
    /// async fn retry_all(client: &Client) -> Result<(), DurableError> {
    ///     for failed in client.list(&RunFilter::new().state(RunState::Failed)).await? {
    ///         client.run(failed.id).retry().await?;
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub async fn retry(&self) -> Result<(), DurableError> {
        if self.record(false).await?.phase == Phase::Failed {
            for child in self.runs().failed_children(&self.id).await? {
                Box::pin(self.client.run(child).retry()).await?;
            }
        }
        let last = status::attempts(self.runs().entries(&[self.id.as_str()]).await?).into_values();
        let failed: Vec<_> = last.filter(|(_, state)| *state == StepState::Failed).map(|(place, _)| place).collect();
        self.changed(self.runs().retry(&self.id, &failed).await?, "retried", "a failed run").await
    }

    /// Binds a run that no living worker can continue to the tools of a dispatcher, such as those of the next release, and
    /// continues it with the recorded results.
    ///
    /// # Errors
    ///
    /// Returns an error if the chain does not fit to these tools, a worker runs it, it has finished or failed, or the database
    /// fails.
    pub async fn bind(&self, dispatcher: &Dispatcher) -> Result<(), DurableError> {
        let record = self.record(true).await?;
        let chain = self.chain(&record)?;
        chain.check(dispatcher).map_err(|diagnostics| {
            DurableError::Rejected(ToolError::new(ErrorKind::InvalidArguments, diagnostics.to_string()))
        })?;
        let contracts = Contracts::new(dispatcher.catalog());
        let bound = self.runs().bind(&record, &contracts.of_chain(&chain), &contracts.version()).await?;
        self.changed(bound, "bound to other tools", "a run that waits for a worker, or a cancelled or parked one").await
    }

    /// Returns an error that names the state of the run unless it has changed.
    async fn changed(
        &self,
        has_changed: bool,
        change: &'static str,
        expected: &'static str,
    ) -> Result<(), DurableError> {
        if has_changed {
            return Ok(());
        }
        let state = self.status().await?.state;
        Err(DurableError::Unchanged { run: self.id.clone(), state: state.name(), change, expected })
    }

    /// Decides about a step that waits. The first decision counts.
    ///
    /// # Errors
    ///
    /// Returns an error if the step does not wait for such a decision or is decided already, or its value does not match the
    /// schema of the question or of the result, or the database fails.
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
        match self.runs().decide(&self.id, AttemptPlace { step, attempt: *attempt }, decision).await? {
            true => Ok(()),
            false => Err(not_waiting("is decided already: the first decision counts".to_owned())),
        }
    }

    fn chain(&self, record: &RunRecord) -> Result<Chain, DurableError> {
        let input: Result<RunInput, _> = serde_json::from_str(record.input.as_deref().unwrap_or_default());
        input.map(|input| input.chain).map_err(|error| {
            DurableError::damaged(format!("the chain of the run `{}` is damaged: {error}", self.id), error)
        })
    }

    async fn record(&self, with_input: bool) -> Result<RunRecord, DurableError> {
        let found = self.runs().find(&self.id, with_input).await?;
        found.ok_or_else(|| DurableError::UnknownRun(self.id.clone()))
    }

    fn runs(&self) -> &Runs {
        &self.client.0
    }
}

toolkit::debug_fields!(Client {});

toolkit::debug_fields!(Run { id });
