//! A run: the chain, whose steps are recorded, and the way through the entries of each step.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolkit::call::{BoxFuture, ErrorKind, StepId};
use toolkit::{RunResult, Tool, ToolError};
use toolkit_backends::chain::{ChainLimits, ChainOutcome, StepCall, StepRun, StepRunner, Wait};

use crate::record::{Attempt, Decision, MAX_ATTEMPTS, Pause, RunInput};
use crate::store::{Execution, RunEnd, StepEntries};
use crate::worker::attempt::{Answered, Preparation};
use crate::worker::shared::WorkerState;

/// The number of times that a run is continued before the steps of all tools are guarded: a step that ends its worker each
/// time then waits for a decision, instead of ending the next one.
const MAX_UNGUARDED: i64 = 3;

/// Runs a chain. Steps with a recorded result are not run again.
pub(super) async fn run<E: Execution>(
    shared: Arc<WorkerState>,
    execution: E,
    input: RunInput,
) -> Result<ChainOutcome, RunEnd<E::Error>> {
    let mut running = shared.add(&execution.run().shared());
    let guards_all = execution.n_executions().await.map_err(RunEnd::Failed)? > MAX_UNGUARDED;
    let (stop, mut stopped) = mpsc::unbounded_channel();
    let recorder = Recorder { shared: &shared, execution: &execution, guards_all, steps: Mutex::default(), stop };
    if input.chain.is_parallel() {
        // The order in which their steps start is not always the same.
        let steps = (0..input.chain.steps().len()).map(|step| Some(recorder.entries(step)));
        *recorder.steps() = steps.collect();
    }
    let context = (shared.context)(execution.run());
    let chain = input.chain.run_with(&shared.dispatcher, &context, ChainLimits::new(), &recorder);
    let ended = tokio::select! {
        biased;
        Some(error) = stopped.recv() => Err(RunEnd::Failed(error)),
        () = running.token.cancelled() => Err(RunEnd::Lost),
        outcome = chain => outcome.map_err(|diagnostics| {
            RunEnd::Rejected(ToolError::new(ErrorKind::InvalidArguments, diagnostics.to_string()))
        }),
    };
    running.has_outcome = matches!(ended, Ok(_) | Err(RunEnd::Rejected(_)));
    ended
}

/// Runs the steps, and records their results.
struct Recorder<'r, E: Execution> {
    shared: &'r Arc<WorkerState>,
    execution: &'r E,
    /// True if the steps of all tools are guarded.
    guards_all: bool,
    /// The entries of the steps of a parallel chain, until they start. Those of other chains are created then.
    steps: Mutex<Vec<Option<Entries<'r, E>>>>,
    /// Receives the error of the store that ends this execution of the run, such as that of a lost database.
    stop: mpsc::UnboundedSender<E::Error>,
}

/// The entries of a step.
type Entries<'r, E> = Box<dyn StepEntries<<E as Execution>::Error> + 'r>;

impl<E: Execution> StepRunner for Recorder<'_, E> {
    fn run<'a>(&'a self, call: StepCall<'a>) -> BoxFuture<'a, StepRun> {
        Box::pin(async move {
            let created = self.steps().get_mut(call.index).and_then(Option::take);
            let entries = created.unwrap_or_else(|| self.entries(call.index));
            match self.step(entries, call).await {
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

impl<'r, E: Execution> Recorder<'r, E> {
    fn steps(&self) -> MutexGuard<'_, Vec<Option<Entries<'r, E>>>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn entries(&self, step: usize) -> Entries<'r, E> {
        self.execution.step(step, self.shared.settings.decision_timeout)
    }

    /// Runs the step until it has a result.
    ///
    /// # Errors
    ///
    /// Returns an error if this execution of the run must end.
    async fn step(&self, mut entries: Entries<'r, E>, call: StepCall<'_>) -> Result<StepRun, E::Error> {
        let tool = call.dispatcher.catalog().resolve(call.tool).ok();
        let needs_guard = |tool: &Tool| self.guards_all || !tool.annotations().may_repeat();
        let is_guarded = self.shared.settings.is_guarded && tool.is_some_and(needs_guard);
        let (name, args): (Arc<str>, Arc<Value>) = (call.tool.into(), Arc::new(call.args.clone()));
        let mut answers: Vec<Answered> = Vec::new();
        let mut invalid = None;
        let mut wait = call.wait;
        for attempt in 0..MAX_ATTEMPTS {
            let wait = wait.take();
            let started = self.shared.steps.start().await;
            let is_first = match is_guarded && wait.is_none() {
                true => entries.guard(attempt).await?,
                false => self.execution.check_owner().await.map(|()| true)?,
            };
            let number = u32::try_from(attempt + 1).unwrap_or(u32::MAX);
            let step = StepId::new(self.execution.run().shared(), call.index, number);
            let preparation = Preparation {
                shared: Arc::clone(self.shared),
                index: call.index,
                tool: Arc::clone(&name),
                args: Arc::clone(&args),
                context: call.context.clone().with(step),
                answers: answers.clone(),
                instead: match (wait, is_first) {
                    (Some(wait), _) => Some(until(wait)),
                    (None, true) => invalid.take(),
                    (None, false) => Some(Pause::OutcomeUnknown { output: output(tool) }),
                },
            };
            let recorded = entries.result(attempt, Box::pin(preparation.attempt())).await?;
            drop(started);
            let pause = match recorded {
                Attempt::Done { result, duration } => return Ok(StepRun::new(result, duration)),
                Attempt::Paused(pause) => pause,
            };
            if let Pause::Until { time } = pause {
                // The time is recorded, so that another worker waits for the rest.
                let left = left_until(time);
                tokio::time::sleep(left).await;
                continue;
            }
            let ended = |result| Ok(StepRun::new(result, Duration::ZERO));
            match (pause, entries.decision(attempt).await?) {
                (pause @ Pause::Question { .. }, decision) => answers.push(Answered { pause, decision }),
                (_, Some(Decision::Retry)) => {}
                (_, Some(Decision::Skip(value))) => match skipped(tool, &name, &value) {
                    Ok(result) => return ended(Ok(result)),
                    Err(message) => invalid = Some(Pause::InvalidValue { message, output: output(tool) }),
                },
                (pause, decision) => return ended(Err(given_up(&name, &pause, decision.as_ref()))),
            }
        }
        let message = format!("the step needed more than {MAX_ATTEMPTS} decisions");
        Ok(StepRun::new(Err(ToolError::failed(message)), Duration::ZERO))
    }
}

fn left_until(time: Timestamp) -> Duration {
    Duration::try_from(time.duration_since(Timestamp::now())).unwrap_or_default()
}

/// Returns the end of a wait that begins now.
fn until(wait: Wait) -> Pause {
    // The check of the chain bounds waits.
    Pause::Until { time: Timestamp::try_from(wait.end()).unwrap_or(Timestamp::MAX) }
}

/// Returns the schema of the results of a tool, for the check of a decision where the tool is unknown.
fn output(tool: Option<&Tool>) -> Option<Value> {
    tool.and_then(Tool::output).map(|schema| schema.as_value().clone())
}

/// Returns the value of a decision as the result of the tool.
fn skipped(tool: Option<&Tool>, name: &str, value: &Value) -> Result<RunResult, String> {
    let schema = tool.and_then(Tool::output);
    if let Some(schema) = schema {
        schema.validate(value).map_err(|violations| violations.to_string())?;
    }
    let id = tool.map_or_else(|| name.to_owned(), |tool| tool.id().to_string());
    let backend = serde_json::to_value(toolkit::tool::ToolBackend::local(&id).map_err(|error| error.to_string())?);
    let mut result = json!({ "tool": id, "backend": backend.map_err(|error| error.to_string())? });
    if schema.is_some() {
        result["structured"] = value.clone();
    }
    serde_json::from_value(result).map_err(|error| error.to_string())
}

/// Returns the error of a step that a person, or the time, has ended.
fn given_up(name: &str, pause: &Pause, decision: Option<&Decision>) -> ToolError {
    let why = if decision.is_some() { "it was decided to give up" } else { "no decision was made in time" };
    match pause {
        Pause::Pending { message } => ToolError::new(ErrorKind::Denied, format!("{message}; {why}")),
        _ => {
            let message = format!("the worker died while `{name}` ran, which may have had its effect; {why}");
            ToolError::new(ErrorKind::OutcomeUnknown, message)
        }
    }
}
