//! Execution of the steps of a chain, and its progress.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use toolkit::call::{Context, ErrorKind, Progress, RunResult, ToolError};
use toolkit::dispatch::{BoxFuture, Dispatcher};
use toolkit::internals::shielded;

use super::definition::{Chain, Order};
use super::diagnostic::shown;
use super::memory::{self, Budget, ChainLimits, MAX_TAKEN_BYTES};
use super::outcome::{ChainOutcome, StepResult};
use super::part::part;
use super::plan::{Plan, Previous};
use super::runner::{StepCall, StepRun, StepRunner, no_wait};
use super::step::PREVIOUS;
use crate::ask::next_of;

/// A running chain.
pub(super) struct ChainRun<'a> {
    chain: &'a Chain,
    plan: &'a Plan<'a>,
    dispatcher: &'a Dispatcher,
    context: &'a Context,
    meter: Meter<'a>,
    finished: Vec<Option<StepResult>>,
    budget: Budget,
    failed: Option<usize>,
}

/// A finished call.
struct Called {
    idx: usize,
    args: Value,
    run: StepRun,
}

impl<'a> ChainRun<'a> {
    pub(super) fn new(
        chain: &'a Chain,
        plan: &'a Plan<'a>,
        dispatcher: &'a Dispatcher,
        context: &'a Context,
        limits: ChainLimits,
    ) -> Self {
        let n_steps = chain.steps().len();
        Self {
            chain,
            plan,
            budget: Budget::new(limits),
            dispatcher,
            context,
            meter: Meter::start(context, n_steps),
            finished: (0..n_steps).map(|_| None).collect(),
            failed: None,
        }
    }

    pub(super) async fn run(mut self, runner: &'a dyn StepRunner) -> ChainOutcome {
        match self.chain.order {
            Order::Sequential => {
                for idx in 0..self.finished.len() {
                    if self.is_over() {
                        break;
                    }
                    let called = self.call(idx, runner).await;
                    self.finish(called);
                }
            }
            Order::Parallel => self.run_parallel(runner).await,
        }
        self.outcome()
    }

    /// Runs the steps one after another on this thread. In the order of the list, the inputs of each step are
    /// available.
    pub(super) fn run_sync(mut self) -> ChainOutcome {
        for idx in 0..self.finished.len() {
            if self.is_over() {
                break;
            }
            let (tool, context) = (self.chain.steps()[idx].tool(), self.meter.context_of(idx));
            let (args, found) = self.args(idx);
            let start = Instant::now();
            let step = &self.chain.steps()[idx];
            let is_waiting = matches!(step.wait(), Ok(Some(_))) || step.max_attempts().is_some_and(|n| n > 1);
            let found = if is_waiting { found.and(Err(no_wait())) } else { found };
            let result = found.and_then(|()| {
                let tool = self.dispatcher.prepared(tool)?;
                tool.call_sync_with(&*context.nested(tool.tool())?, &args)
            });
            let run = StepRun { result, duration: start.elapsed() };
            self.finish(Called { idx, args, run });
        }
        self.outcome()
    }

    /// Polls all steps whose inputs are available, in one task. After a failure no step is started, and the running
    /// ones are completed, because their effects belong into the outcome.
    async fn run_parallel(&mut self, runner: &'a dyn StepRunner) {
        let mut waiting: Vec<usize> = (0..self.finished.len()).collect();
        let mut running: Vec<BoxFuture<'a, Called>> = Vec::new();
        loop {
            if !self.is_over() {
                let is_ready = |idx: usize| {
                    let needs = &self.plan.wirings[idx].needs;
                    needs.iter().all(|&need| self.finished[need].is_some())
                };
                let (ready, rest) = waiting.into_iter().partition(|&idx| is_ready(idx));
                waiting = rest;
                let ready: Vec<usize> = ready;
                running.extend(ready.into_iter().map(|idx| self.call(idx, runner)));
            }
            if running.is_empty() {
                return;
            }
            let called = next_of(&mut running).await;
            self.finish(called);
        }
    }

    /// Returns true if no further step may be started.
    fn is_over(&self) -> bool {
        self.failed.is_some() || self.context.is_cancelled()
    }

    fn call(&mut self, idx: usize, runner: &'a dyn StepRunner) -> BoxFuture<'a, Called> {
        let (step, dispatcher) = (&self.chain.steps()[idx], self.dispatcher);
        // The check of the chain has reported what is wrong.
        let (tool, wait, max_attempts) = (step.tool(), step.wait().ok().flatten(), step.max_attempts());
        let ((args, found), context) = (self.args(idx), self.meter.context_of(idx));
        Box::pin(async move {
            let run = match found {
                Ok(()) => {
                    let args = &args;
                    runner.run(StepCall { index: idx, tool, args, context, dispatcher, wait, max_attempts }).await
                }
                Err(error) => StepRun { result: Err(error), duration: Duration::ZERO },
            };
            Called { idx, args, run }
        })
    }

    /// Returns the effective arguments of a step. If one of them is missing, returns those before it, and an error.
    fn args(&mut self, idx: usize) -> (Value, Result<(), ToolError>) {
        let constants = self.chain.steps()[idx].constants();
        let found = match self.budget.reserve(self.plan.wirings[idx].constant_bytes) {
            true => Ok(()),
            false => Err(self.out_of_budget(idx, ErrorKind::TooLarge)),
        };
        // With room for those from earlier steps.
        let mut args = Map::with_capacity(constants.len() + self.plan.wirings[idx].taken.len());
        let found = found.and_then(|()| {
            args.extend(constants.iter().map(|(name, value)| (name.clone(), value.clone())));
            self.take(idx, &mut args)
        });
        (Value::Object(args), found)
    }

    fn take(&mut self, idx: usize, args: &mut Map<String, Value>) -> Result<(), ToolError> {
        let wiring = &self.plan.wirings[idx];
        let mut room = MAX_TAKEN_BYTES;
        let mut taken_bytes = 0;
        for taken in &wiring.taken {
            let value = part(self.json(taken.step), taken.pointer).ok_or_else(|| {
                let message = format!(
                    "cannot set the argument {}: there is no value at {} in the result of step {}",
                    shown(taken.argument),
                    shown(taken.pointer),
                    self.label(taken.step),
                );
                ToolError::new(ErrorKind::InvalidArguments, message)
            })?;
            let value = self.read(idx, taken.step, value.get().as_bytes(), &mut room, &mut taken_bytes)?;
            args.insert(taken.argument.to_owned(), value);
        }
        let previous = match wiring.previous {
            Previous::Unused => None,
            Previous::Null => Some(Value::Null),
            Previous::Of(source) => Some(self.read(idx, source, self.json(source), &mut room, &mut taken_bytes)?),
        };
        args.extend(previous.map(|previous| (PREVIOUS.to_owned(), previous)));
        match self.budget.reserve(taken_bytes) {
            true => Ok(()),
            false => Err(self.out_of_budget(idx, ErrorKind::TooLarge)),
        }
    }

    /// Reads a part of the result of `source` for a step, if its text and its tree fit into the limits beside the arguments
    /// taken so far.
    fn read(
        &self,
        idx: usize,
        source: usize,
        json: &[u8],
        room: &mut usize,
        taken_bytes: &mut usize,
    ) -> Result<Value, ToolError> {
        let tree = memory::size_of_text(json);
        if json.len() > *room {
            let message = format!("the arguments from earlier steps exceed {MAX_TAKEN_BYTES} bytes");
            return Err(ToolError::new(ErrorKind::TooLarge, message));
        }
        if tree > self.budget.left.saturating_sub(*taken_bytes) {
            return Err(self.out_of_budget(idx, ErrorKind::TooLarge));
        }
        *room -= json.len();
        *taken_bytes += tree;
        serde_json::from_slice(json).map_err(|_| {
            let message = format!("the result of step {} is nested too deeply to be read", self.label(source));
            ToolError::new(ErrorKind::InvalidArguments, message)
        })
    }

    fn out_of_budget(&self, idx: usize, kind: ErrorKind) -> ToolError {
        let part = if kind == ErrorKind::TooLarge { "arguments" } else { "result" };
        let message = format!(
            "with the {part} of step {idx} ({}), the chain exceeds its budget of {} bytes for arguments and results",
            self.label(idx),
            self.budget.limit,
        );
        ToolError::new(kind, message)
    }

    /// Returns the structured result of a step that has succeeded, or `null`.
    fn json(&self, idx: usize) -> &[u8] {
        let result = self.finished[idx].as_ref().and_then(|step| step.result.as_ref().ok());
        result.and_then(RunResult::json).unwrap_or(b"null")
    }

    fn label(&self, idx: usize) -> String {
        let step = &self.chain.steps()[idx];
        shown(step.id().unwrap_or(step.tool()))
    }

    fn finish(&mut self, called: Called) {
        let Called { idx, args, run: StepRun { result, duration } } = called;
        let result = result.and_then(|result| self.keep(idx, result));
        if result.is_err() {
            self.failed.get_or_insert(idx);
        }
        self.meter.finish(idx, result.is_ok());
        let step = &self.chain.steps()[idx];
        let (id, tool, args) = (step.id().map(str::to_owned), step.tool().to_owned(), object(args));
        self.finished[idx] = Some(StepResult { index: idx, id, tool, args, result, duration });
    }

    /// Reserves the memory of a result.
    fn keep(&mut self, idx: usize, result: RunResult) -> Result<RunResult, ToolError> {
        match self.budget.reserve(memory::size_of_result(&result)) {
            true => Ok(result),
            false => Err(self.out_of_budget(idx, ErrorKind::ResultTooLarge)),
        }
    }

    fn outcome(self) -> ChainOutcome {
        let was_left = self.finished.iter().any(Option::is_none);
        let steps: Vec<StepResult> = self.finished.into_iter().flatten().collect();
        let failed = self.failed.and_then(|idx| steps.iter().position(|step| step.index == idx));
        let cancelled = (failed.is_none() && was_left).then(ToolError::cancelled);
        ChainOutcome { steps, failed, cancelled }
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// Reports the progress of a chain to the listener of its context, if there is one.
///
/// The unit is one step. A tool's own progress counts as a fraction of its step, so that the total never decreases, as
/// it would if each tool reported in its own units.
struct Meter<'a> {
    context: &'a Context,
    /// The progress of each step. `None` without a listener.
    done: Option<Arc<Mutex<Vec<f64>>>>,
}

impl<'a> Meter<'a> {
    fn start(context: &'a Context, n_steps: usize) -> Self {
        let done = context.has_progress_listener().then(|| Arc::new(Mutex::new(vec![0.0; n_steps])));
        let meter = Self { context, done };
        if n_steps > 0 {
            meter.report(0.0, n_steps as f64, "started");
        }
        meter
    }

    /// Returns the context for one step.
    fn context_of(&self, idx: usize) -> Context {
        let chain = self.context.clone();
        let Some(done) = self.done.clone() else { return chain };
        self.context.clone().on_progress(move |report: Progress| {
            let share = report.total.filter(|total| *total > 0.0).map_or(0.0, |total| report.done / total);
            let (sum, n_steps) = advance(&done, idx, if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) });
            chain.progress(sum, n_steps, &report.message);
        })
    }

    /// Reports that a step has ended.
    fn finish(&self, idx: usize, succeeded: bool) {
        if let Some(done) = &self.done {
            let (sum, n_steps) = advance(done, idx, 1.0);
            self.report(sum, n_steps, if succeeded { "step_completed" } else { "step_error" });
        }
    }

    /// Catches a panic of the listener, because no tool runs here that the error could be attributed to.
    fn report(&self, done: f64, n_steps: f64, message: &str) {
        shielded("a progress listener", || self.context.progress(done, n_steps, message));
    }
}

/// Raises the progress of one step and returns the total progress and the number of steps.
fn advance(done: &Mutex<Vec<f64>>, idx: usize, share: f64) -> (f64, f64) {
    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
    done[idx] = done[idx].max(share);
    (done.iter().sum(), done.len() as f64)
}
