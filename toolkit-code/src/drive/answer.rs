//! Answers to the requests of a program.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use toolkit::call::ErrorKind;
use toolkit::chain::{Chain, StepResult};
use toolkit::{Content, Context, RunResult, ToolError};

use super::Run;
use super::budget::Budget;
use super::trace::Trace;
use crate::engine::{Answer, Call, Request, TOO_MANY_CALLS, Thrown};
use crate::journal::Entry;
use crate::nested::nested;
use crate::record::{CallRecord, structured};

/// The default and the maximum number of tools that a search returns.
const N_FOUND: u32 = 10;
const MAX_FOUND: u32 = 100;

/// The default number of examples.
const N_EXAMPLES: u32 = 3;

/// The maximum number of tools that are described at once.
const MAX_DESCRIBED: usize = 50;

/// The host of a running program.
pub(super) struct Host<'r> {
    run: &'r Run<'r>,
    trace: &'r Trace,
    /// The context of the calls.
    context: Context,
    started_at: u64,
    n_calls: AtomicU32,
    n_reported: AtomicU32,
    budget: Budget,
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
    pub(super) fn new(run: &'r Run<'r>, started_at: u64, trace: &'r Trace) -> Self {
        let context = nested(run.context, run.pauses.asker(run.context));
        Self {
            run,
            trace,
            context,
            started_at,
            n_calls: AtomicU32::new(0),
            n_reported: AtomicU32::new(0),
            budget: Budget::new(),
        }
    }

    /// Answers a request and records the answer. Returns the reason if the call waits for a decision.
    pub(super) async fn answer(&self, call: Call) -> Result<Answer, String> {
        let mut calls = Vec::new();
        self.trace.started(&call, self.run.start.elapsed());
        let outcome = self.outcome(&call, &mut calls).await;
        let (outcome, content) = match outcome {
            Ok(Returned { value, content }) => (Ok(value), content),
            Err(Refused::Pending(reason)) => {
                self.trace.stopped(call.id);
                return Err(reason);
            }
            Err(Refused::Thrown(thrown)) => (Err(thrown), Vec::new()),
        };
        let at = self.started_at + u64::try_from(self.run.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let answer = Answer { id: call.id, at, outcome, content: listed(call.id, &content) };
        self.trace.answered(Entry { request: call.request, answer: answer.clone(), calls, content });
        Ok(answer)
    }

    /// Counts the calls of an earlier run.
    pub(super) fn replayed(&self, entry: &Entry) {
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
                data(&gateway.search_tools(query, limit as usize))
            }
            Request::ListNamespaces => data(&gateway.list_namespaces()),
            Request::DescribeTool { ids } if ids.len() > MAX_DESCRIBED => {
                Err(invalid(format!("describe at most {MAX_DESCRIBED} tools at once")))
            }
            Request::DescribeTool { ids } => data(&gateway.describe_tools(ids)?),
            Request::ListToolExamples { id, max } => {
                let max = max.unwrap_or(N_EXAMPLES).min(MAX_FOUND);
                data(&gateway.list_tool_examples(id, max as usize)?)
            }
            Request::Sleep { ms } => {
                tokio::time::sleep(Duration::from_millis(*ms).min(self.run.limits.time)).await;
                data(&Value::Null)
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
        self.count(1)?;
        let start = Instant::now();
        let result = self.run.gateway.run_tool(&self.context, id, args).await;
        let result = result.and_then(|result| self.kept(result));
        if let Err(error) = &result
            && self.waits(error)
        {
            self.uncount(1);
            return Err(Refused::Pending(error.message().to_owned()));
        }
        let since = start.duration_since(self.run.start);
        let mut record = CallRecord::new(id, args.to_owned(), &result, since, start.elapsed());
        record.line = line;
        self.report(&record);
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
        self.count(n_steps)?;
        let start = Instant::now();
        let outcome = self.run.gateway.run_chain(&self.context, &chain).await;
        let steps = match outcome {
            Ok(outcome) => outcome.into_steps(),
            Err(error) => {
                self.uncount(n_steps);
                return Err(error.into());
            }
        };
        self.uncount(n_steps - u32::try_from(steps.len()).unwrap_or(n_steps));
        let mut at = start.duration_since(self.run.start);
        let mut values = Vec::new();
        let mut last = Ok(None);
        for StepResult { index, tool, args, result, duration, .. } in steps {
            let result = result.and_then(|result| self.kept(result));
            let mut record = CallRecord::new(&tool, raw(&args), &result, at, duration);
            (record.step, record.line) = (Some(index), line);
            at += duration;
            values.push(json!({ "tool": record.tool, "value": record.result.as_ref().ok() }));
            self.report(&record);
            calls.push(record);
            if last.is_ok() {
                last = result.map(Some);
            }
        }
        let last = last?.map(|result| structured(&result));
        data(&json!({ "value": last, "steps": values }))
    }

    /// Returns true if the run pauses for this error.
    fn waits(&self, error: &ToolError) -> bool {
        self.run.is_resumable && error.kind() == ErrorKind::Pending
    }

    /// Counts calls before they run.
    fn count(&self, n: u32) -> Result<(), Refused> {
        let max = self.run.limits.calls;
        let next = |count: u32| count.checked_add(n).filter(|&count| count <= max);
        let counted = self.n_calls.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        counted.map(drop).map_err(|_| {
            let message = format!("the program may make {max} calls, and this one exceeds them");
            let kind = TOO_MANY_CALLS.to_owned();
            Refused::Thrown(Thrown { kind, message, tool: None, retryable: false, violations: None })
        })
    }

    /// Gives calls back that did not run.
    fn uncount(&self, n: u32) {
        self.n_calls.fetch_sub(n, Ordering::Relaxed);
    }

    /// Returns the result if its size is within the limits.
    fn kept(&self, result: RunResult) -> Result<RunResult, ToolError> {
        let structured = result.json().map_or(0, <[u8]>::len);
        let content: usize = result.own_content().iter().map(size).sum();
        let max = self.run.limits.message_bytes;
        if (structured + content) as u64 > max {
            let message = format!("the result exceeds {max} bytes; ask the tool for less, for example by a filter");
            return Err(ToolError::new(ErrorKind::ResultTooLarge, message));
        }
        self.budget.reserve(structured + content)?;
        Ok(result)
    }

    fn report(&self, record: &CallRecord) {
        let done = self.n_reported.fetch_add(1, Ordering::Relaxed) + 1;
        let state = if record.result.is_ok() { "" } else { " failed" };
        self.run.context.progress(f64::from(done), None, &format!("{}{state}", record.tool));
    }
}

fn returned(result: &RunResult) -> Returned {
    let content = result.own_content().to_vec();
    // The engine puts blocks without a structured result into the value.
    let value = structured(result);
    Returned { value, content }
}

fn data(value: &impl Serialize) -> Result<Returned, Refused> {
    Ok(Returned { value: raw(value), content: Vec::new() })
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
            block.remove("data");
            if let Some(Value::Object(resource)) = block.get_mut("resource") {
                resource.remove("blob");
            }
            block.insert("call".to_owned(), call.into());
            block.insert("block".to_owned(), idx.into());
        }
        block
    });
    let blocks: Vec<Value> = blocks.collect();
    (!blocks.is_empty()).then(|| raw(&blocks))
}

/// Returns the size of a block in bytes.
fn size(block: &Content) -> usize {
    serde_json::to_vec(block).map_or(0, |json| json.len())
}

fn invalid(message: String) -> Refused {
    ToolError::new(ErrorKind::InvalidArguments, message).into()
}
