//! A run: the chain, whose steps are recorded, and the way through the entries of each step.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolkit::call::{BoxFuture, ErrorKind, StepId};
use toolkit::{RunResult, Tool, ToolError};
use toolkit_backends::chain::{ChainOutcome, StepCall, StepRun, StepRunner, Wait};

use crate::record::{Attempt, AttemptPlace, Decision, EntryKind, Pause, RunInput};
use crate::worker::attempt::{self, Answered, AttemptEnd, EarlierAnswers, Preparation};
use crate::worker::execution::{Execution, Stop, sleep_until};
use crate::worker::shared::{OwnedRun, WorkerState};

/// The number of times that a run is continued before the steps of all tools are guarded: a step that ends its worker each
/// time then waits for a decision, instead of ending the next one.
const MAX_UNGUARDED: i64 = 3;

/// The end of a run without an outcome of the chain.
pub(super) enum RunEnd {
    /// The chain cannot run.
    Rejected(ToolError),
    Stopped(Stop),
}

/// Runs a chain. Steps with a recorded result are not run again.
pub(super) async fn run(
    shared: &Arc<WorkerState>,
    execution: &Execution,
    owned: OwnedRun,
    input: RunInput,
    n_executions: i64,
) -> Result<ChainOutcome, RunEnd> {
    execution.load().await;
    let guards_all = n_executions > MAX_UNGUARDED;
    let (stop, mut stopped) = mpsc::unbounded_channel();
    let recorder = Recorder { shared, execution, owned: &owned, guards_all, stop };
    let context = (shared.context)(&execution.run);
    let chain = input.chain.run_with(&shared.dispatcher, &context, &recorder);
    tokio::select! {
        biased;
        Some(stop) = stopped.recv() => Err(RunEnd::Stopped(stop)),
        () = owned.token.cancelled() => Err(RunEnd::Stopped(Stop::Lost)),
        outcome = chain => outcome.map_err(|diagnostics| {
            RunEnd::Rejected(ToolError::new(ErrorKind::InvalidArguments, diagnostics.to_string()))
        }),
    }
}

/// Runs the steps, and records their results.
struct Recorder<'r> {
    shared: &'r Arc<WorkerState>,
    execution: &'r Execution,
    owned: &'r OwnedRun,
    /// True if the steps of all tools are guarded.
    guards_all: bool,
    /// Receives the reason why this execution of the run must end.
    stop: mpsc::UnboundedSender<Stop>,
}

impl StepRunner for Recorder<'_> {
    fn run<'a>(&'a self, call: StepCall<'a>) -> BoxFuture<'a, StepRun> {
        Box::pin(async move {
            match self.step(call).await {
                Ok(run) => run,
                Err(stop) => {
                    // Fails if the run has ended.
                    let _ = self.stop.send(stop);
                    std::future::pending().await
                }
            }
        })
    }
}

impl Recorder<'_> {
    /// Runs the step until it has a result.
    ///
    /// # Errors
    ///
    /// Returns the reason why this execution of the run must end.
    async fn step(&self, call: StepCall<'_>) -> Result<StepRun, Stop> {
        let tool = call.dispatcher.catalog().resolve(call.tool).ok();
        let (name, args): (Arc<str>, Arc<Value>) = (call.tool.into(), Arc::new(call.args.clone()));
        let mut answers = EarlierAnswers::default();
        let (mut invalid, mut wait, mut n_failures) = (None, call.wait, 0);
        for attempt in 0.. {
            let place = AttemptPlace { step: call.index, attempt };
            let wait = wait.take();
            let recorded = match self.execution.recorded(place, EntryKind::Result)? {
                Some(recorded) => recorded,
                None => {
                    let number = u32::try_from(attempt + 1).unwrap_or(u32::MAX);
                    let step = StepId::new(self.execution.run.shared(), call.index, number);
                    let preparation = Preparation {
                        shared: Arc::clone(self.shared),
                        index: call.index,
                        tool: Arc::clone(&name),
                        args: Arc::clone(&args),
                        context: call.context.clone().with(step),
                        answers: answers.clone(),
                    };
                    let instead = wait.map(until).or_else(|| invalid.take());
                    self.attempt(place, &call, instead, preparation, n_failures).await?
                }
            };
            let pause = match recorded {
                Attempt::Done { result, duration } => {
                    if result.is_err() && self.is_retried(place)? {
                        (answers, n_failures) = (EarlierAnswers::default(), 0);
                        continue;
                    }
                    return Ok(StepRun::new(result, duration));
                }
                Attempt::Paused(pause) => pause,
            };
            let _waiting = self.owned.wait();
            if let Pause::Until { time } | Pause::Backoff { time, .. } = pause {
                n_failures += u32::from(matches!(pause, Pause::Backoff { .. }));
                // The time is recorded, so that another worker waits for the rest.
                sleep_until(time).await;
                continue;
            }
            let mut decisions = self.owned.decisions.clone();
            if let Pause::Child { run } = pause {
                answers.children.push(self.execution.child_end(run, &mut decisions).await?);
                continue;
            }
            let timeout = self.shared.settings.decision_timeout;
            let decision = self.execution.decision(place, timeout, &mut decisions).await?;
            let failed = match (pause, decision) {
                (pause @ Pause::Question { .. }, decision) => {
                    answers.answered.push(Answered { pause, decision });
                    continue;
                }
                (_, Some(Decision::Retry)) => continue,
                (_, Some(Decision::Skip(value))) => match skipped(tool, &name, &value) {
                    Ok(result) => return Ok(StepRun::new(Ok(result), Duration::ZERO)),
                    Err(message) => {
                        invalid = Some(Pause::InvalidValue { message, output: output(tool) });
                        continue;
                    }
                },
                (pause, decision) => given_up(&name, &pause, decision.as_ref()),
            };
            if !self.is_retried(place)? {
                return Ok(StepRun::new(Err(failed), Duration::ZERO));
            }
            (answers, n_failures) = (EarlierAnswers::default(), 0);
        }
        unreachable!("there is always a further attempt")
    }

    /// Returns true if a person lets the step run again after its failure.
    fn is_retried(&self, place: AttemptPlace) -> Result<bool, Stop> {
        Ok(self.execution.recorded::<bool>(place, EntryKind::Retry)?.unwrap_or(false))
    }

    /// Makes an attempt, unless there is a reason to wait `instead`, and records its end.
    async fn attempt(
        &self,
        place: AttemptPlace,
        call: &StepCall<'_>,
        instead: Option<Pause>,
        preparation: Preparation,
        n_failures: u32,
    ) -> Result<Attempt, Stop> {
        let tool = call.dispatcher.catalog().resolve(call.tool).ok();
        let needs_guard = |tool: &Tool| self.guards_all || !tool.annotations().may_repeat();
        let is_guarded = self.shared.settings.is_guarded && tool.is_some_and(needs_guard);
        let _started = self.shared.steps.start().await;
        let is_first = match is_guarded && !matches!(instead, Some(Pause::Until { .. })) {
            true => self.execution.guard(place).await?,
            false => self.execution.check_owner().await.map(|()| true)?,
        };
        let instead = if is_first { instead } else { Some(Pause::OutcomeUnknown { output: output(tool) }) };
        let ended = match instead {
            Some(pause) => Attempt::Paused(pause),
            None => match self.end(preparation).await? {
                Attempt::Done { result: Err(error), duration } => match self.repeat_after(call, &error, n_failures) {
                    Some(time) => {
                        Attempt::Paused(Pause::Backoff { time: Timestamp::now() + time, error: error.to_string() })
                    }
                    None => Attempt::Done { result: Err(error), duration },
                },
                ended => ended,
            },
        };
        self.execution.result(place, &ended).await?;
        Ok(ended)
    }

    /// Makes an attempt, and starts the child for which it waits.
    async fn end(&self, preparation: Preparation) -> Result<Attempt, Stop> {
        Ok(match preparation.attempt().await {
            AttemptEnd::Recorded(attempt) => attempt,
            AttemptEnd::Child(child) => match self.execution.start_child(&child).await? {
                Ok(()) => Attempt::Paused(Pause::Child { run: child.id }),
                Err(message) => Attempt::Done { result: Err(ToolError::failed(message)), duration: Duration::ZERO },
            },
        })
    }

    /// Returns the time after which the tool is called again after an error: always if it has certainly not started, and
    /// otherwise a few times if it may repeat, and the error may pass.
    fn repeat_after(&self, call: &StepCall<'_>, error: &ToolError, n_failures: u32) -> Option<Duration> {
        match attempt::has_not_started(error) {
            true => Some(StepCall::backoff(error, n_failures)),
            false => call.repeat_after(error, n_failures, self.shared.settings.max_attempts),
        }
    }
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
