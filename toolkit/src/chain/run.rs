//! Runs the steps of a chain.

use std::future::poll_fn;
use std::io;
use std::task::Poll;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::meter::Meter;
use super::outcome::{ChainOutcome, StepResult};
use super::plan::{Plan, Previous};
use super::problem::shown;
use super::{Chain, MAX_TAKEN_BYTES, Order, PREVIOUS};
use crate::call::{Context, ErrorKind, RunResult, ToolError};
use crate::dispatch::{BoxFuture, Dispatcher};

/// A chain on its way.
pub(super) struct Run<'a> {
    chain: &'a Chain,
    plan: Plan<'a>,
    dispatcher: &'a Dispatcher,
    context: &'a Context,
    meter: Meter<'a>,
    finished: Vec<Option<StepResult>>,
    /// The structured results that others read, as trees; `None` where one is too deep for that.
    values: Vec<Option<Value>>,
    failed: Option<usize>,
}

/// One call, once it has come to its end.
struct Called {
    idx: usize,
    args: Value,
    result: Result<RunResult, ToolError>,
    duration: Duration,
}

impl<'a> Run<'a> {
    pub(super) fn new(chain: &'a Chain, plan: Plan<'a>, dispatcher: &'a Dispatcher, context: &'a Context) -> Self {
        let n_steps = chain.steps().len();
        Self {
            chain,
            plan,
            dispatcher,
            context,
            meter: Meter::start(context, n_steps),
            finished: (0..n_steps).map(|_| None).collect(),
            values: vec![None; n_steps],
            failed: None,
        }
    }

    pub(super) async fn run(mut self) -> ChainOutcome {
        match self.chain.order {
            Order::Sequential => {
                for idx in 0..self.finished.len() {
                    if self.is_over() {
                        break;
                    }
                    let called = self.call(idx).await;
                    self.finish(called);
                }
            }
            Order::Parallel => self.run_parallel().await,
        }
        self.outcome()
    }

    /// Runs one step after another on this thread; in their order, each finds what it needs.
    pub(super) fn run_sync(mut self) -> ChainOutcome {
        for idx in 0..self.finished.len() {
            if self.is_over() {
                break;
            }
            let (tool, context) = (self.chain.steps()[idx].tool(), self.meter.context_of(idx));
            let (args, found) = self.args(idx);
            let start = Instant::now();
            let result = found.and_then(|()| self.dispatcher.call_sync_with(&context, tool, &args));
            let called = Called { idx, args, result, duration: start.elapsed() };
            self.finish(called);
        }
        self.outcome()
    }

    /// Polls, in one task, every step whose needs are met. Once one has failed, no other is started, and those that
    /// run come to their end: what they did is part of the outcome.
    async fn run_parallel(&mut self) {
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
                running.extend(ready.into_iter().map(|idx| self.call(idx)));
            }
            if running.is_empty() {
                return;
            }
            for called in next_of(&mut running).await {
                self.finish(called);
            }
        }
    }

    /// Whether no further step is to be started.
    fn is_over(&self) -> bool {
        self.failed.is_some() || self.context.is_cancelled()
    }

    fn call(&self, idx: usize) -> BoxFuture<'a, Called> {
        let (tool, dispatcher) = (self.chain.steps()[idx].tool(), self.dispatcher);
        let ((args, found), context) = (self.args(idx), self.meter.context_of(idx));
        Box::pin(async move {
            let start = Instant::now();
            let result = match found {
                Ok(()) => dispatcher.call_with(&context, tool, &args).await,
                Err(error) => Err(error),
            };
            Called { idx, args, result, duration: start.elapsed() }
        })
    }

    /// The effective arguments of a step; or those before the first that is not there, and an error.
    fn args(&self, idx: usize) -> (Value, Result<(), ToolError>) {
        let mut args = self.chain.steps()[idx].constants().clone();
        let found = self.take(idx, &mut args);
        (Value::Object(args), found)
    }

    fn take(&self, idx: usize, args: &mut Map<String, Value>) -> Result<(), ToolError> {
        let wiring = &self.plan.wirings[idx];
        let mut room = MAX_TAKEN_BYTES;
        for taken in &wiring.taken {
            let value = self.value(taken.step)?.pointer(taken.pointer).ok_or_else(|| {
                let message = format!(
                    "the argument {} was to be {} of step {}, and its result has nothing there",
                    shown(taken.argument),
                    shown(taken.pointer),
                    self.label(taken.step),
                );
                ToolError::new(ErrorKind::InvalidArguments, message)
            })?;
            args.insert(taken.argument.to_owned(), copied(value, &mut room)?);
        }
        let previous = match wiring.previous {
            Previous::Unused => return Ok(()),
            Previous::Null => Value::Null,
            Previous::Of(idx) => copied(self.value(idx)?, &mut room)?,
        };
        args.insert(PREVIOUS.to_owned(), previous);
        Ok(())
    }

    /// The result of a step, for another to take from.
    fn value(&self, idx: usize) -> Result<&Value, ToolError> {
        self.values[idx].as_ref().ok_or_else(|| {
            let message = format!("the result of step {} is nested too deep to be taken from", self.label(idx));
            ToolError::new(ErrorKind::InvalidArguments, message)
        })
    }

    fn label(&self, idx: usize) -> String {
        let step = &self.chain.steps()[idx];
        shown(step.id().unwrap_or(step.tool()))
    }

    fn finish(&mut self, called: Called) {
        let Called { idx, args, result, duration } = called;
        match &result {
            Ok(result) if self.plan.is_read[idx] => {
                self.values[idx] = result.json().map_or(Some(Value::Null), |json| serde_json::from_slice(json).ok());
            }
            Ok(_) => {}
            Err(_) => drop(self.failed.get_or_insert(idx)),
        }
        self.meter.finish(idx, result.is_ok());
        let step = &self.chain.steps()[idx];
        let (id, tool, args) = (step.id().map(str::to_owned), step.tool().to_owned(), object(args));
        self.finished[idx] = Some(StepResult { index: idx, id, tool, args, result, duration });
    }

    fn outcome(self) -> ChainOutcome {
        let was_left = self.finished.iter().any(Option::is_none);
        let steps: Vec<StepResult> = self.finished.into_iter().flatten().collect();
        let failed = self.failed.and_then(|idx| steps.iter().position(|step| step.index == idx));
        let cancelled = (failed.is_none() && was_left).then(ToolError::cancelled);
        ChainOutcome { steps, failed, cancelled }
    }
}

/// A copy of `value`, if there is room for its text.
fn copied(value: &Value, room: &mut usize) -> Result<Value, ToolError> {
    // Only counting can stop the writing.
    if serde_json::to_writer(Room(room), value).is_err() {
        let message = format!("what the step takes from others has more than {MAX_TAKEN_BYTES} bytes");
        return Err(ToolError::new(ErrorKind::TooLarge, message));
    }
    Ok(value.clone())
}

/// Counts what is written, until there is no room left.
struct Room<'a>(&'a mut usize);

impl io::Write for Room<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        *self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// Waits until at least one of `running` has come to its end, and takes those out that have.
async fn next_of<T>(running: &mut Vec<BoxFuture<'_, T>>) -> Vec<T> {
    poll_fn(|cx| {
        let mut ended = Vec::new();
        running.retain_mut(|future| match future.as_mut().poll(cx) {
            Poll::Ready(value) => {
                ended.push(value);
                false
            }
            Poll::Pending => true,
        });
        if ended.is_empty() { Poll::Pending } else { Poll::Ready(ended) }
    })
    .await
}
