//! A run: the chain, whose steps are recorded.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;
use toolkit::ToolError;
use toolkit::call::{BoxFuture, ErrorKind};
use toolkit::chain::{ChainLimits, ChainOutcome, StepCall, StepRun, StepRunner};

use super::lane::{Engine, Lane, Topics};
use super::shared::Shared;
use crate::record::{Input, RunId};

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
    let lanes = topics.lanes(&shared, &id, guards_all).map(|lane| Mutex::new(Some(lane))).collect();
    let recorder = Recorder { lanes, stop };
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
    /// The entries of each step, until it starts.
    lanes: Vec<Mutex<Option<Lane<'r>>>>,
    /// Receives the error of the engine that ends this execution of the run, such as that of a lost database.
    stop: mpsc::UnboundedSender<Engine>,
}

impl StepRunner for Recorder<'_> {
    fn run<'a>(&'a self, call: StepCall<'a>) -> BoxFuture<'a, StepRun> {
        Box::pin(async move {
            let lane = self.lanes[call.index].lock().unwrap_or_else(PoisonError::into_inner).take();
            let lane = lane.expect("a step runs once");
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
