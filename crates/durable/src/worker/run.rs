//! A run: the chain, whose steps are recorded, and the way through the entries of each step.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dbos::{PendingStep, StepOptions};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolkit::call::{BoxFuture, ErrorKind, StepId};
use toolkit::{RunResult, Tool, ToolError};
use toolkit_backends::chain::{ChainLimits, ChainOutcome, StepCall, StepRun, StepRunner, Wait};

use crate::error::RunId;
use crate::layout::{Entry, MAX_ATTEMPTS, Place};
use crate::record::{Attempt, Decision, Input, Pause};
use crate::worker::attempt::{Answered, Preparation, is_transient};
use crate::worker::shared::Shared;

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

/// An error of the engine, or of a tool.
pub(super) type Engine = dbos::Error<ToolError>;

/// The names that the entries of a run borrow, and what they share.
pub(super) struct Topics {
    topics: Vec<String>,
    /// For each step, the inputs of its next attempt.
    next: Vec<Next>,
}

/// The inputs of the next attempt, which are known when it starts.
#[derive(Clone, Default)]
struct Next(Arc<Mutex<Option<Preparation>>>);

/// The entries of a step, in the order in which they are used.
pub(super) struct Lane<'r> {
    shared: Arc<Shared>,
    execution: Execution,
    step: usize,
    next: Next,
    attempts: Vec<Attempts<'r>>,
}

/// An execution of a run by a worker.
#[derive(Clone)]
pub(super) struct Execution {
    pub(super) run: RunId,
    /// A random id, which the guards record.
    pub(super) id: Arc<str>,
    /// True if the steps of all tools are guarded.
    pub(super) guards_all: bool,
}

/// The entries of one attempt.
struct Attempts<'r> {
    guard: PendingStep<'r, String, ToolError>,
    result: PendingStep<'r, Attempt, ToolError>,
    decision: PendingStep<'r, Option<Decision>, ToolError>,
}

/// The retries of a tool that has not started.
const MAX_RETRIES: u32 = 6;
const RETRY_INTERVAL: Duration = Duration::from_millis(200);
const MAX_RETRY_INTERVAL: Duration = Duration::from_secs(10);

impl Topics {
    pub(super) fn new(n_steps: usize) -> Self {
        let places = (0..n_steps).flat_map(|step| (0..MAX_ATTEMPTS).map(move |attempt| Place { step, attempt }));
        Self { topics: places.map(Place::topic).collect(), next: (0..n_steps).map(|_| Next::default()).collect() }
    }

    /// Creates the entries of a step. The lanes of a run are created in the order of its steps.
    pub(super) fn lane<'r>(&'r self, shared: &Arc<Shared>, execution: &Execution, step: usize) -> Lane<'r> {
        let next = &self.next[step];
        let attempts = (0..MAX_ATTEMPTS).map(|attempt| {
            let topic = &self.topics[step * MAX_ATTEMPTS + attempt];
            let timeout = shared.settings.decision_timeout;
            Attempts::new(Place { step, attempt }, &execution.id, next, topic, timeout)
        });
        let attempts = attempts.collect();
        Lane { shared: Arc::clone(shared), execution: execution.clone(), step, next: next.clone(), attempts }
    }
}

impl<'r> Attempts<'r> {
    /// Creates the entries of an attempt. The order decides their numbers; see [`Place::number`].
    fn new(place: Place, execution: &str, next: &Next, topic: &'r str, timeout: Duration) -> Self {
        let execution = execution.to_owned();
        let guard = dbos::step(&place.guard_name(), move || {
            let execution = execution.clone();
            async move { Ok(execution) }
        });
        debug_assert_eq!(guard.step_id(), Some(place.number(Entry::Guard)));
        let next = next.clone();
        let options = StepOptions {
            max_attempts: MAX_RETRIES,
            interval: RETRY_INTERVAL,
            max_interval: MAX_RETRY_INTERVAL,
            ..StepOptions::default()
        };
        let options =
            options.should_retry(|error| matches!(error, dbos::Error::Application(error) if is_transient(error)));
        let result = dbos::step_with(&place.result_name(), options, move || {
            let preparation = next.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
            async move { preparation.expect("the attempt is prepared before it starts").attempt().await }
        });
        Self { guard, result, decision: dbos::recv(Some(topic), timeout) }
    }
}

impl Lane<'_> {
    /// Runs the step until it has a result.
    ///
    /// # Errors
    ///
    /// Returns an error if this execution of the run must end.
    pub(super) async fn run(self, call: StepCall<'_>) -> Result<StepRun, Engine> {
        let tool = call.dispatcher.catalog().resolve(call.tool).ok();
        let needs_guard = |tool: &Tool| self.execution.guards_all || !tool.annotations().may_repeat();
        let is_guarded = self.shared.settings.is_guarded && tool.is_some_and(needs_guard);
        let (name, args): (Arc<str>, Arc<Value>) = (call.tool.into(), Arc::new(call.args.clone()));
        let mut answers: Vec<Answered> = Vec::new();
        let mut invalid = None;
        let mut wait = call.wait;
        for (attempt, entries) in self.attempts.into_iter().enumerate() {
            let wait = wait.take();
            let started = self.shared.steps.start().await;
            let place = Place { step: self.step, attempt };
            let is_first = match is_guarded && wait.is_none() {
                true if entries.guard.await? == *self.execution.id => {
                    let is_guard =
                        self.shared.lease.is_guard(self.execution.run.as_str(), place, &self.execution.id).await;
                    is_guard.map_err(dbos::Error::SystemDatabase)?
                }
                guarded => !guarded,
            };
            let number = u32::try_from(attempt + 1).unwrap_or(u32::MAX);
            let step = StepId::new(self.execution.run.shared(), self.step, number);
            let preparation = Preparation {
                shared: Arc::clone(&self.shared),
                index: self.step,
                tool: Arc::clone(&name),
                args: Arc::clone(&args),
                context: call.context.clone().with(step),
                answers: answers.clone(),
                instead: match (wait, is_first) {
                    (Some(wait), _) => Some(until(wait)),
                    (None, true) => invalid.take(),
                    (None, false) => Some(Pause::OutcomeUnknown),
                },
            };
            *self.next.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(preparation);
            let recorded = entries.result.await;
            drop(started);
            let pause = match recorded {
                Ok(Attempt::Done { result, duration }) => return Ok(StepRun::new(result, duration)),
                Ok(Attempt::Paused(pause)) => pause,
                Err(error) => return failed(error),
            };
            if let Pause::Until { time } = pause {
                // The time is recorded, so that another worker waits for the rest.
                let left = left_until(time);
                tokio::time::sleep(left).await;
                continue;
            }
            let ended = |result| Ok(StepRun::new(result, Duration::ZERO));
            match (pause, entries.decision.await?) {
                (pause @ Pause::Question { .. }, decision) => answers.push(Answered { pause, decision }),
                (_, Some(Decision::Retry)) => {}
                (_, Some(Decision::Skip(value))) => match skipped(tool, &name, &value) {
                    Ok(result) => return ended(Ok(result)),
                    Err(message) => invalid = Some(Pause::InvalidValue { message }),
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

/// Returns the last error of a tool that did not start. Any other error ends this execution of the run.
fn failed(error: Engine) -> Result<StepRun, Engine> {
    let error = match error {
        dbos::Error::MaxStepRetriesExceeded { mut errors, .. } if !errors.is_empty() => errors.remove(errors.len() - 1),
        error => error,
    };
    match error {
        dbos::Error::Application(error) => Ok(StepRun::new(Err(error), Duration::ZERO)),
        error => Err(error),
    }
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
