//! A run: the chain, whose steps are recorded.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;
use toolkit::ToolError;
use toolkit::call::{BoxFuture, ErrorKind};
use toolkit_backends::chain::{ChainLimits, ChainOutcome, StepCall, StepRun, StepRunner};

use super::lane::{Engine, Execution, Lane, Topics};
use super::shared::Shared;
use crate::record::Input;
use crate::run_id::RunId;

/// The number of times that a run is continued before the steps of all tools are guarded: a step that ends its worker each
/// time then waits for a decision, instead of ending the next one.
const MAX_UNGUARDED: i64 = 3;

/// Runs a chain as a workflow of the engine. Steps with a recorded result are not run again.
pub(super) async fn run(shared: Arc<Shared>, input: Input) -> dbos::Result<ChainOutcome, ToolError> {
    let invalid = |message: String| dbos::Error::Application(ToolError::new(ErrorKind::InvalidArguments, message));
    let id = dbos::workflow_id().unwrap_or_default();
    let id = RunId::new(id).map_err(|error| invalid(error.to_string()))?;
    let running = shared.add(&id.shared());
    let n_continued = shared.lease.n_continued(id.as_str()).await.map_err(dbos::Error::SystemDatabase)?;
    let guards_all = n_continued > MAX_UNGUARDED;
    let topics = Topics::new(input.chain.steps().len());
    let (stop, mut stopped) = mpsc::unbounded_channel();
    let execution = Execution { run: id.clone(), id: uuid::Uuid::new_v4().to_string().into(), guards_all };
    let lanes = match input.chain.is_parallel() {
        // The order in which their steps start is not always the same.
        true => (0..input.chain.steps().len()).map(|step| Some(topics.lane(&shared, &execution, step))).collect(),
        false => Vec::new(),
    };
    let recorder = Recorder { shared: &shared, topics: &topics, execution, lanes: Mutex::new(lanes), stop };
    let context = (shared.context)(&id);
    let chain = input.chain.run_with(&shared.dispatcher, &context, ChainLimits::new(), &recorder);
    tokio::select! {
        biased;
        Some(error) = stopped.recv() => Err(error),
        // Nothing is recorded: the run is cancelled already, or continued by another worker.
        () = running.token.cancelled() => Err(dbos::Error::WorkflowCancelled { workflow_id: id.to_string() }),
        outcome = chain => outcome.map_err(|diagnostics| invalid(diagnostics.to_string())),
    }
}

/// Runs the steps, and records their results.
struct Recorder<'r> {
    shared: &'r Arc<Shared>,
    topics: &'r Topics,
    execution: Execution,
    /// The entries of the steps of a parallel chain, until they start. Those of other chains are created then.
    lanes: Mutex<Vec<Option<Lane<'r>>>>,
    /// Receives the error of the engine that ends this execution of the run, such as that of a lost database.
    stop: mpsc::UnboundedSender<Engine>,
}

impl StepRunner for Recorder<'_> {
    fn run<'a>(&'a self, call: StepCall<'a>) -> BoxFuture<'a, StepRun> {
        Box::pin(async move {
            let created =
                self.lanes.lock().unwrap_or_else(PoisonError::into_inner).get_mut(call.index).and_then(Option::take);
            let lane = created.unwrap_or_else(|| self.topics.lane(self.shared, &self.execution, call.index));
            match lane.run(call).await {
                Ok(run) => run,
                Err(error) => {
                    // Fails if the run has ended.
                    let _ = self.stop.send(error);
                    std::future::pending().await
                }
            }
        })
    }
}
