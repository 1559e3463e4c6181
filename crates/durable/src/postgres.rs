//! Runs in a Postgres database, by [DBOS](https://docs.dbos.dev).
//!
//! | module | part |
//! |---|---|
//! | `execution` | a run as a workflow of the engine, and each step with its entries |
//! | `lease` | shows that the worker lives, and recovers the runs of dead ones |
//! | `runs` | the runs, for clients |
//! | `session` | the connection and the locks |

mod execution;
mod lease;
mod runs;
mod session;

use std::sync::Arc;

use dbos::{DBOS, QueueConflict, QueueOptions};
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit_backends::chain::ChainOutcome;

use self::execution::{EngineError, Execution};
use self::lease::Lease;
pub(crate) use self::runs::Runs;
pub(crate) use self::session::{Address, is_url};
use crate::error::{DurableError, RunId};
use crate::layout::{QUEUE, WORKFLOW};
use crate::record::Input;
use crate::store::{self, Ended, POLL};

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
        R: Fn(Execution, Input) -> F + Send + Sync + 'static,
        F: Future<Output = Result<ChainOutcome, Ended<EngineError>>> + Send + 'static,
    {
        let lease = Arc::clone(&self.lease);
        let workflow = move |input: Input| {
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
                    Ended::Rejected(error) => EngineError::Application(error),
                    // Nothing is recorded: the run is cancelled already, or continued by another worker.
                    Ended::Lost => EngineError::WorkflowCancelled { workflow_id: id.to_string() },
                    Ended::Failed(error) => error,
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
