//! Answers to the requests of a program.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use toolkit::call::ErrorKind;
use toolkit::schema::json;
use toolkit::{Content, Context, RunResult, ToolError};
use toolkit_backends::chain::{Chain, ChainLimits, StepResult};

use super::trace::{Exceeded, Trace};
use super::{ProgramRun, nested};
use crate::engine::{Answer, Call, Request, TOO_MANY_CALLS, Thrown};
use crate::execution::{CallRecord, structured};
use crate::journal::JournalEntry;
use crate::wire::write_json;

/// The default and the maximum number of tools that a search returns.
const N_FOUND: u32 = 10;
const MAX_FOUND: u32 = 100;

/// The default number of examples.
const N_EXAMPLES: u32 = 3;

/// The maximum number of tools that are described at once.
const MAX_DESCRIBED: usize = 50;

/// The host of a running program.
pub(super) struct Host<'r> {
    run: &'r ProgramRun<'r>,
    trace: &'r Trace,
    /// The context of the calls.
    context: Context,
    started_at: u64,
    n_calls: AtomicU32,
    n_reported: AtomicU32,
}

/// A result as the program sees it.
struct Returned {
    value: Box<RawValue>,
    content: Vec<Content>,
}

/// The reason why a call has no result.
enum Refused {
    /// An error that the program may catch.
    Thrown(Thrown),
    /// It waits for a decision, for this reason.
    Pending(String),
}

impl From<ToolError> for Refused {
    fn from(error: ToolError) -> Self {
        Self::Thrown(Thrown::from(&error))
    }
}

impl<'r> Host<'r> {
    pub(super) fn new(run: &'r ProgramRun<'r>, started_at: u64, trace: &'r Trace) -> Self {
        let context = nested(run.context, run.pauses.asker(run.context));
        Self { run, trace, context, started_at, n_calls: AtomicU32::new(0), n_reported: AtomicU32::new(0) }
    }

    /// Answers a request and records the answer, or a refusal of its calls. Returns the reason if the call waits for a
    /// decision.
    pub(super) async fn answer(&self, call: Call, refusal: Option<Thrown>) -> Result<Answer, String> {
        let call = Arc::new(call);
        let mut calls = Vec::new();
        self.trace.started(&call, self.run.start.elapsed());
        let outcome = match refusal.filter(|_| self.n_calls_of(&call) > 0) {
            Some(refusal) => Err(Refused::Thrown(refusal)),
            None => self.outcome(&call, &mut calls).await,
        };
        self.trace.stopped(call.id);
        let (outcome, content) = match outcome {
            Ok(Returned { value, content }) => (Ok(value), content),
            Err(Refused::Pending(reason)) => return Err(reason),
            Err(Refused::Thrown(thrown)) => (Err(thrown), Vec::new()),
        };
        let Call { id, request, .. } = Arc::unwrap_or_clone(call);
        let at = self.started_at + u64::try_from(self.run.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let answer = Answer { id, at, outcome, content: listed(id, &content) };
        let mut entry = JournalEntry { request, answer, calls, content };
        if let Err(exceeded) = self.keep(&entry) {
            entry.drop_results(&Thrown::from(&ToolError::from(exceeded)));
        }
        let answer = entry.answer.clone();
        self.trace.answered(entry);
        Ok(answer)
    }

    /// Reserves the memory of an answer.
    fn keep(&self, entry: &JournalEntry) -> Result<(), Exceeded> {
        let (budget, limits) = (&self.trace.budget, self.run.limits);
        let answer = (&entry.answer, &entry.calls, &entry.content);
        budget.reserve(json::length(&answer, budget.left(limits)), limits)
    }

    /// Counts the calls of an earlier run.
    pub(super) fn replayed(&self, entry: &JournalEntry) {
        self.n_calls.fetch_add(u32::try_from(entry.calls.len()).unwrap_or(u32::MAX), Ordering::Relaxed);
        self.n_reported.fetch_add(u32::try_from(entry.calls.len()).unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    async fn outcome(&self, call: &Call, calls: &mut Vec<CallRecord>) -> Result<Returned, Refused> {
        let gateway = self.run.gateway;
        match &call.request {
            Request::RunTool { id, args } => self.run_tool(call.line, id, args, calls).await,
            Request::RunChain { steps } => self.run_chain(call.line, steps, calls).await,
            Request::SearchTools { query, limit } => {
                let limit = limit.unwrap_or(N_FOUND).clamp(1, MAX_FOUND);
                self.data(&gateway.search_tools(query, limit as usize))
            }
            Request::ListNamespaces => self.data(&gateway.list_namespaces()),
            Request::DescribeTool { ids } if ids.len() > MAX_DESCRIBED => {
                Err(invalid(format!("describe at most {MAX_DESCRIBED} tools at once")))
            }
            Request::DescribeTool { ids } => self.data(&gateway.describe_tools(ids)?),
            Request::ListToolExamples { id, max } => {
                let max = max.unwrap_or(N_EXAMPLES).min(MAX_FOUND);
                self.data(&gateway.list_tool_examples(id, max as usize)?)
            }
            Request::Sleep { ms } => {
                tokio::time::sleep(Duration::from_millis(*ms).min(self.run.limits.time)).await;
                self.data(&Value::Null)
            }
        }
    }

    async fn run_tool(
        &self,
        line: Option<u32>,
        id: &str,
        args: &RawValue,
        calls: &mut Vec<CallRecord>,
    ) -> Result<Returned, Refused> {
        let start = Instant::now();
        let result = self.run.gateway.run_tool(&self.context, id, args).await;
        let result = result.and_then(|result| self.checked(result));
        if let Err(error) = &result
            && self.waits(error)
        {
            self.uncount(1);
            return Err(Refused::Pending(error.message().to_owned()));
        }
        let since = start.duration_since(self.run.start);
        let mut record = CallRecord::new(id, &result, since, start.elapsed());
        record.line = line;
        self.report(&record.tool, result.is_ok());
        calls.push(record);
        Ok(returned(&result?))
    }

    async fn run_chain(
        &self,
        line: Option<u32>,
        steps: &RawValue,
        calls: &mut Vec<CallRecord>,
    ) -> Result<Returned, Refused> {
        let chain = Chain::from_json(steps.get()).map_err(|error| invalid(error.to_string()))?;
        let n_steps = u32::try_from(chain.steps().len()).unwrap_or(u32::MAX);
        if n_steps > self.run.limits.chain_steps {
            let max = self.run.limits.chain_steps;
            return Err(invalid(format!("the chain has {n_steps} steps; at most {max} are allowed")));
        }
        let start = Instant::now();
        // Twice the memory, since the trees that steps read are not kept.
        let max = self.trace.budget.left(self.run.limits).saturating_mul(2);
        let limits = ChainLimits::new().max_kept_bytes(max);
        let outcome = self.run.gateway.run_chain(&self.context, &chain, limits).await;
        let steps = match outcome {
            Ok(outcome) => outcome.into_steps(),
            Err(error) => {
                self.uncount(n_steps);
                return Err(error.into());
            }
        };
        self.uncount(n_steps - u32::try_from(steps.len()).unwrap_or(n_steps));
        let mut at = start.duration_since(self.run.start);
        let mut failure = None;
        for StepResult { index, tool, args, result, duration, .. } in steps {
            let result = result.and_then(|result| self.checked(result));
            let mut record = CallRecord::new(&tool, &result, at, duration);
            (record.step, record.line, record.args) = (Some(index), line, raw(&args));
            record.result = result.as_ref().map(structured).map_err(Thrown::from);
            at += duration;
            self.report(&record.tool, result.is_ok());
            calls.push(record);
            failure = failure.or(result.err());
        }
        match failure {
            Some(error) => Err(error.into()),
            None => self.data(&ChainValue::new(calls)),
        }
    }

    /// Returns true if the run pauses for this error.
    fn waits(&self, error: &ToolError) -> bool {
        self.run.is_resumable && error.kind() == ErrorKind::Pending
    }

    /// Counts the calls that a program makes at once, before one of them runs. Returns the refusal of all of them if they
    /// exceed the limit together.
    pub(super) fn count_calls(&self, calls: &[Call]) -> Result<(), Thrown> {
        let max = self.run.limits.calls;
        let n = calls.iter().fold(0, |n: u32, call| n.saturating_add(self.n_calls_of(call)));
        let next = |count: u32| count.checked_add(n).filter(|&count| n == 0 || count <= max);
        let counted = self.n_calls.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        counted.map(drop).map_err(|before| {
            let message = match n {
                1 => format!("the program may make {max} calls, and this one exceeds them"),
                _ => format!(
                    "the program may make {max} calls; it has made {before}, and none of the next {n} was made, which would \
                     exceed them together: process fewer items per program"
                ),
            };
            let kind = TOO_MANY_CALLS.to_owned();
            Thrown { kind, message, tool: None, retryable: false, violations: None }
        })
    }

    /// Returns the number of tools that a request calls.
    fn n_calls_of(&self, call: &Call) -> u32 {
        match &call.request {
            Request::RunTool { .. } => 1,
            Request::RunChain { steps } => {
                let n_steps =
                    Chain::from_json(steps.get()).ok().and_then(|chain| u32::try_from(chain.steps().len()).ok());
                n_steps.filter(|&n| n <= self.run.limits.chain_steps).unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// Gives calls back that did not run.
    fn uncount(&self, n: u32) {
        self.n_calls.fetch_sub(n, Ordering::Relaxed);
    }

    /// Returns the result if its size is within the limit of one.
    fn checked(&self, result: RunResult) -> Result<RunResult, ToolError> {
        let max = self.run.limits.message_bytes;
        let left = usize::try_from(max).unwrap_or(usize::MAX).checked_sub(result.json().map_or(0, <[u8]>::len));
        if left.is_some_and(|left| json::length(&result.own_content(), left) <= left) {
            return Ok(result);
        }
        let message = format!("the result exceeds {max} bytes; ask the tool for less, for example by a filter");
        Err(ToolError::new(ErrorKind::ResultTooLarge, message))
    }

    /// Returns a value of this program, which has no map with other keys than strings.
    fn data(&self, value: &impl Serialize) -> Result<Returned, Refused> {
        let limits = self.run.limits;
        let json = write_json(value, self.trace.budget.left(limits)).map_err(ToolError::internal)?;
        let json = json.ok_or_else(|| ToolError::from(Exceeded::Run(limits.kept_bytes)))?;
        let value = serde_json::from_slice(&json).map_err(ToolError::internal)?;
        Ok(Returned { value, content: Vec::new() })
    }

    fn report(&self, tool: &str, is_ok: bool) {
        let done = self.n_reported.fetch_add(1, Ordering::Relaxed) + 1;
        let state = if is_ok { "" } else { " failed" };
        self.run.context.progress(f64::from(done), None, &format!("{tool}{state}"));
    }
}

/// The result of a chain as the program sees it.
#[derive(Serialize)]
struct ChainValue<'c> {
    steps: Vec<StepValue<'c>>,
    value: Option<&'c RawValue>,
}

#[derive(Serialize)]
struct StepValue<'c> {
    tool: &'c str,
    value: Option<&'c RawValue>,
}

impl<'c> ChainValue<'c> {
    fn new(calls: &'c [CallRecord]) -> Self {
        let step = |call: &'c CallRecord| StepValue { tool: &call.tool, value: call.result.as_deref().ok() };
        let steps: Vec<_> = calls.iter().map(step).collect();
        let value = steps.last().and_then(|step| step.value);
        Self { steps, value }
    }
}

fn returned(result: &RunResult) -> Returned {
    let content = result.own_content().to_vec();
    // The engine puts blocks without a structured result into the value.
    let value = structured(result);
    Returned { value, content }
}

/// Returns a value of this program, which has no map with other keys than strings, as JSON.
fn raw(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Returns the blocks of a result as the program sees them: with references in place of data.
fn listed(call: u32, content: &[Content]) -> Option<Box<RawValue>> {
    let blocks = content.iter().enumerate().map(|(idx, block)| {
        let mut block = serde_json::to_value(block).unwrap_or_default();
        if let Some(block) = block.as_object_mut() {
            block.shift_remove("data");
            if let Some(Value::Object(resource)) = block.get_mut("resource") {
                resource.shift_remove("blob");
            }
            block.insert("call".to_owned(), call.into());
            block.insert("block".to_owned(), idx.into());
        }
        block
    });
    let blocks: Vec<Value> = blocks.collect();
    (!blocks.is_empty()).then(|| raw(&blocks))
}

fn invalid(message: String) -> Refused {
    ToolError::new(ErrorKind::InvalidArguments, message).into()
}
