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
use crate::nested::nested;
use crate::record::{CallRecord, structured};

/// The default and the maximum number of tools that a search returns.
const N_FOUND: u32 = 10;
const MAX_FOUND: u32 = 100;

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

impl<'r> Host<'r> {
    pub(super) fn new(run: &'r Run<'r>, started_at: u64, trace: &'r Trace) -> Self {
        let context = nested(run.context);
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

    /// Answers a request.
    pub(super) async fn answer(&self, call: Call) -> Answer {
        let outcome = match call.request {
            Request::RunTool { id, args } => self.run_tool(call.id, call.line, &id, args).await,
            Request::RunChain { steps } => self.run_chain(call.id, call.line, &steps).await,
            Request::SearchTools { query, limit } => {
                let limit = limit.unwrap_or(N_FOUND).clamp(1, MAX_FOUND);
                data(&self.run.gateway.search_tools(&query, limit as usize))
            }
            Request::ListNamespaces => data(&self.run.gateway.list_namespaces()),
            Request::DescribeTool { ids } if ids.len() > MAX_DESCRIBED => {
                Err(refused(format!("describe at most {MAX_DESCRIBED} tools at once")))
            }
            Request::DescribeTool { ids } => {
                self.run.gateway.describe_tools(&ids).map_err(thrown).and_then(|text| data(&text))
            }
            Request::ListToolExamples { id, max } => {
                let max = max.unwrap_or(3).min(20);
                self.run
                    .gateway
                    .list_tool_examples(&id, max as usize)
                    .map_err(thrown)
                    .and_then(|examples| data(&examples))
            }
            Request::Sleep { ms } => {
                tokio::time::sleep(Duration::from_millis(ms).min(self.run.limits.time)).await;
                data(&Value::Null)
            }
        };
        let (outcome, content) = match outcome {
            Ok(Returned { value, content }) => (Ok(value), listed(call.id, &content)),
            Err(error) => (Err(error), None),
        };
        let at = self.started_at + u64::try_from(self.run.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        Answer { id: call.id, at, outcome, content }
    }

    async fn run_tool(&self, call: u32, line: Option<u32>, id: &str, args: Box<RawValue>) -> Result<Returned, Thrown> {
        self.count(1)?;
        self.trace.started(call, id);
        let start = Instant::now();
        let result = self.run.gateway.run_tool(&self.context, id, &args).await;
        let result = result.and_then(|result| self.kept(result));
        let since = start.duration_since(self.run.start);
        let mut record = CallRecord::new(id, args, &result, since, start.elapsed());
        record.line = line;
        self.report(&record);
        let returned = result.map(|result| returned(&result)).map_err(thrown);
        let content = returned.as_ref().map(|returned| returned.content.clone()).unwrap_or_default();
        self.trace.finished(call, vec![record], content);
        returned
    }

    async fn run_chain(&self, call: u32, line: Option<u32>, steps: &RawValue) -> Result<Returned, Thrown> {
        let chain = Chain::from_json(steps.get()).map_err(|error| refused(error.to_string()))?;
        let n_steps = u32::try_from(chain.steps().len()).unwrap_or(u32::MAX);
        if n_steps > self.run.limits.chain_steps {
            let message = format!("the chain has {n_steps} steps; at most {} are allowed", self.run.limits.chain_steps);
            return Err(refused(message));
        }
        self.count(n_steps)?;
        self.trace.started(call, "chain");
        let start = Instant::now();
        let outcome = self.run.gateway.run_chain(&self.context, &chain).await;
        let steps = match outcome {
            Ok(outcome) => outcome.into_steps(),
            Err(error) => {
                self.uncount(n_steps);
                self.trace.finished(call, Vec::new(), Vec::new());
                return Err(thrown(error));
            }
        };
        self.uncount(n_steps - u32::try_from(steps.len()).unwrap_or(n_steps));
        let mut at = start.duration_since(self.run.start);
        let mut records = Vec::new();
        let mut values = Vec::new();
        let mut last = Ok(None);
        for StepResult { index, tool, args, result, duration, .. } in steps {
            let result = result.and_then(|result| self.kept(result));
            let args = raw(&args);
            let mut record = CallRecord::new(&tool, args, &result, at, duration);
            (record.step, record.line) = (Some(index), line);
            at += duration;
            values.push(json!({ "tool": record.tool, "value": record.result.as_ref().ok() }));
            self.report(&record);
            records.push(record);
            if last.is_ok() {
                last = result.map(Some);
            }
        }
        self.trace.finished(call, records, Vec::new());
        let last = last.map_err(thrown)?.map(|result| structured(&result));
        data(&json!({ "value": last, "steps": values }))
    }

    /// Counts calls before they run.
    fn count(&self, n: u32) -> Result<(), Thrown> {
        let max = self.run.limits.calls;
        let next = |count: u32| count.checked_add(n).filter(|&count| count <= max);
        let counted = self.n_calls.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        counted.map(drop).map_err(|_| {
            let message = format!("the program may make {max} calls, and this one exceeds them");
            Thrown { kind: TOO_MANY_CALLS.to_owned(), ..refused(message) }
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
    let value = match result.json() {
        Some(_) => structured(result),
        None if content.is_empty() => RawValue::NULL.to_owned(),
        // The engine puts the blocks into the value.
        None => RawValue::from_string("{}".to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned()),
    };
    Returned { value, content }
}

fn data(value: &impl Serialize) -> Result<Returned, Thrown> {
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

fn thrown(error: ToolError) -> Thrown {
    Thrown::from(&error)
}

fn refused(message: String) -> Thrown {
    let kind = ErrorKind::InvalidArguments.name().to_owned();
    Thrown { kind, message, tool: None, retryable: false, violations: None }
}
