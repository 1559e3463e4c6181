//! Runs in a Postgres database, by [DBOS](https://docs.dbos.dev): a run is a workflow of its engine.
//!
//! | module | part |
//! |---|---|
//! | `lease` | shows that the worker lives, and recovers the runs of dead ones |
//! | `names` | the names in the tables of the engine |
//! | `ownership` | keeps the worker of a started run |
//! | `runs` | the runs, for clients |
//! | `session` | the connection and the locks |

mod lease;
mod names;
mod ownership;
mod runs;
mod session;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dbos::{DBOS, PendingStep, QueueConflict, QueueOptions};
use toolkit::ToolError;
use toolkit::call::{BoxFuture, ErrorKind};
use toolkit_backends::chain::ChainOutcome;

use self::lease::Lease;
use self::names::{QUEUE, WORKFLOW};
use crate::error::{DurableError, RunId};
use crate::record::{Attempt, AttemptPlace, Decision, EntryKind, MAX_ATTEMPTS, RunInput};
use crate::store::{self, POLL, RunEnd, StepEntries};

pub(crate) use self::runs::Runs;
pub(crate) use self::session::{Address, is_valid};

/// The engine of a worker: DBOS, with a lease of its own.
pub(crate) struct Engine {
    dbos: DBOS,
    lease: Arc<Lease>,
}

impl Engine {
    pub(crate) async fn open(address: &Address, executor: &str, version: &str) -> Result<Self, DurableError> {
        // Before the engine starts, so that no run of this worker is taken for that of a dead one.
        let lease = Arc::new(Lease::acquire(address, executor, version).await?);
        Ok(Self { dbos: DBOS::new(address.executor(executor, version)), lease })
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
        F: Future<Output = Result<ChainOutcome, RunEnd<EngineError>>> + Send + 'static,
    {
        let lease = Arc::clone(&self.lease);
        let workflow = move |input: RunInput| {
            // The id is that of the current task.
            let id = RunId::new(dbos::workflow_id().unwrap_or_default());
            let execution = id.map(|id| {
                let execution = Execution::new(Arc::clone(&lease), id.clone(), input.chain.steps().len());
                (id, run(execution, input))
            });
            async move {
                let invalid = |error: DurableError| ToolError::new(ErrorKind::InvalidArguments, error.to_string());
                let (id, execution) = execution.map_err(|error| EngineError::Application(invalid(error)))?;
                execution.await.map_err(|ended| match ended {
                    RunEnd::Rejected(error) => EngineError::Application(error),
                    RunEnd::Lost => lost(&id),
                    RunEnd::Failed(error) => error,
                })
            }
        };
        self.dbos.register_workflow(WORKFLOW, workflow).map_err(DurableError::engine)?;
        self.dbos.launch().await.map_err(DurableError::engine)?;
        let options = QueueOptions { polling_interval: POLL, ..QueueOptions::default() };
        let queue = self.dbos.register_queue(QUEUE, options, QueueConflict::AlwaysUpdate).await;
        queue.map(drop).map_err(DurableError::engine)
    }

    async fn shutdown(&mut self) {
        self.dbos.shutdown().await;
    }
}

/// An error of the engine, or of a tool.
type EngineError = dbos::Error<ToolError>;

/// Returns the error that ends an execution without recording anything: the run is cancelled already, or continued by another
/// worker.
fn lost(run: &RunId) -> EngineError {
    EngineError::WorkflowCancelled { workflow_id: run.to_string() }
}

/// An execution of a run by a worker.
pub(crate) struct Execution {
    lease: Arc<Lease>,
    run: RunId,
    /// A random id, which the guards record.
    id: Arc<str>,
    /// The names that the entries of the run borrow.
    topics: Vec<String>,
}

impl Execution {
    fn new(lease: Arc<Lease>, run: RunId, n_steps: usize) -> Self {
        let places = (0..n_steps).flat_map(|step| (0..MAX_ATTEMPTS).map(move |attempt| AttemptPlace { step, attempt }));
        let topics = places.map(AttemptPlace::topic).collect();
        Self { lease, run, id: uuid::Uuid::new_v4().to_string().into(), topics }
    }
}

impl store::Execution for Execution {
    type Error = EngineError;

    fn run(&self) -> &RunId {
        &self.run
    }

    fn n_executions(&self) -> BoxFuture<'_, Result<i64, EngineError>> {
        Box::pin(async {
            let n = self.lease.n_continued(self.run.as_str()).await;
            n.map_err(dbos::Error::SystemDatabase)
        })
    }

    fn check_owner(&self) -> BoxFuture<'_, Result<(), EngineError>> {
        Box::pin(async {
            match self.lease.owns(self.run.as_str()).await {
                Ok(true) => Ok(()),
                Ok(false) => Err(lost(&self.run)),
                Err(error) => Err(dbos::Error::SystemDatabase(error)),
            }
        })
    }

    fn step(&self, step: usize, decision_timeout: Duration) -> Box<dyn StepEntries<EngineError> + '_> {
        let attempts = (0..MAX_ATTEMPTS).map(|attempt| {
            let topic = &self.topics[step * MAX_ATTEMPTS + attempt];
            Entries::new(AttemptPlace { step, attempt }, &self.id, topic, decision_timeout)
        });
        Box::new(Step { execution: self, step, attempts: attempts.collect() })
    }
}

/// The entries of a step, in the order in which they are used.
struct Step<'r> {
    execution: &'r Execution,
    step: usize,
    attempts: Vec<Entries<'r>>,
}

/// The entries of one attempt, each until it is used.
struct Entries<'r> {
    guard: Option<PendingStep<'r, String, ToolError>>,
    result: Option<PendingStep<'r, Attempt, ToolError>>,
    decision: Option<PendingStep<'r, Option<Decision>, ToolError>>,
    /// The attempt, which is known when it starts.
    make: Arc<Mutex<Option<BoxFuture<'static, Attempt>>>>,
}

impl<'r> Entries<'r> {
    /// Creates the entries of an attempt. The order decides their numbers; see [`AttemptPlace::number`].
    fn new(place: AttemptPlace, execution: &str, topic: &'r str, timeout: Duration) -> Self {
        let execution = execution.to_owned();
        let guard = dbos::step(&place.guard_name(), move || {
            let execution = execution.clone();
            async move { Ok(execution) }
        });
        debug_assert_eq!(guard.step_id(), Some(place.number(EntryKind::Guard)));
        let make: Arc<Mutex<Option<BoxFuture<'static, Attempt>>>> = Arc::default();
        let made = Arc::clone(&make);
        let result = dbos::step(&place.result_name(), move || {
            let attempt = made.lock().unwrap_or_else(PoisonError::into_inner).take();
            async move { Ok(attempt.expect("the attempt is known before it starts").await) }
        });
        let decision = dbos::recv(Some(topic), timeout);
        Self { guard: Some(guard), result: Some(result), decision: Some(decision), make }
    }
}

/// The use of an entry, which is used once.
const ONCE: &str = "an entry is used once";

impl StepEntries<EngineError> for Step<'_> {
    fn guard(&mut self, attempt: usize) -> BoxFuture<'_, Result<bool, EngineError>> {
        let guard = self.attempts[attempt].guard.take().expect(ONCE);
        let Execution { lease, run, id, .. } = self.execution;
        let place = AttemptPlace { step: self.step, attempt };
        Box::pin(async move {
            guard.await?;
            let is_guard = lease.is_guard(run.as_str(), place, id).await.map_err(dbos::Error::SystemDatabase)?;
            is_guard.ok_or_else(|| lost(run))
        })
    }

    fn result(
        &mut self,
        attempt: usize,
        make: BoxFuture<'static, Attempt>,
    ) -> BoxFuture<'_, Result<Attempt, EngineError>> {
        let entries = &mut self.attempts[attempt];
        *entries.make.lock().unwrap_or_else(PoisonError::into_inner) = Some(make);
        let result = entries.result.take().expect(ONCE);
        Box::pin(async { result.await.or_else(failed) })
    }

    fn decision(&mut self, attempt: usize) -> BoxFuture<'_, Result<Option<Decision>, EngineError>> {
        Box::pin(self.attempts[attempt].decision.take().expect(ONCE))
    }
}

/// Returns the last error of a tool that did not start, as earlier versions recorded it.
fn failed(error: EngineError) -> Result<Attempt, EngineError> {
    let error = match error {
        dbos::Error::MaxStepRetriesExceeded { mut errors, .. } if !errors.is_empty() => errors.remove(errors.len() - 1),
        error => error,
    };
    match error {
        dbos::Error::Application(error) => Ok(Attempt::Done { result: Err(error), duration: Duration::ZERO }),
        error => Err(error),
    }
}
