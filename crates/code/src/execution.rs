//! Results of runs, with records of their calls.

use std::time::Duration;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use toolkit::call::ErrorKind;
use toolkit::tool::ToolBackend;
use toolkit::{Content, RunResult, ToolError};

use super::engine::{Printed, Usage};
use super::failure::Failure;
use super::sandbox::{Enforced, SandboxInfo};
use crate::engine::{Call, Request, Thrown};

/// The result of a run: the value of the program or its failure, what it printed, and the calls that it made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Execution {
    /// The value as JSON, or the reason why there is none.
    pub outcome: Result<Box<RawValue>, Failure>,
    /// The printed lines.
    pub printed: Vec<Printed>,
    /// The blocks of content that the program showed.
    pub content: Vec<Content>,
    /// The calls, in the order in which they were made.
    pub calls: Vec<CallRecord>,
    /// The resources that the program has used.
    pub usage: Usage,
    /// The duration of the run, with its calls.
    pub duration: Duration,
    /// The sandbox that ran it.
    pub sandbox: SandboxInfo,
    /// The guarantees that held.
    pub enforced: Enforced,
}

impl Execution {
    /// Returns the value of the program, or `null` if it failed.
    #[must_use]
    pub fn value(&self) -> Value {
        let value = self.outcome.as_ref().ok().and_then(|json| serde_json::from_str(json.get()).ok());
        value.unwrap_or_default()
    }

    /// Returns the failure of the program, if it failed.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        self.outcome.as_ref().err()
    }

    /// Returns the lines that the program printed with `console.log` and `print`.
    #[must_use]
    pub fn stdout(&self) -> String {
        self.lines(false)
    }

    /// Returns the lines that the program printed as warnings and errors.
    #[must_use]
    pub fn stderr(&self) -> String {
        self.lines(true)
    }

    fn lines(&self, is_error: bool) -> String {
        let lines = self.printed.iter().filter(|printed| printed.is_error == is_error);
        lines.map(|printed| format!("{}\n", printed.text)).collect()
    }
}

/// Writes an object for logs, with the arguments of all calls.
impl Serialize for Execution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut execution = serializer.serialize_struct("Execution", 9)?;
        match &self.outcome {
            Ok(value) => execution.serialize_field("value", value)?,
            Err(failure) => execution.serialize_field("error", failure)?,
        }
        execution.serialize_field("stdout", &self.stdout())?;
        execution.serialize_field("stderr", &self.stderr())?;
        execution.serialize_field("toolCalls", &self.calls)?;
        execution.serialize_field("steps", &self.usage.steps)?;
        execution.serialize_field("memoryBytes", &self.usage.memory_bytes)?;
        execution.serialize_field("durationMs", &milliseconds(self.duration))?;
        execution.serialize_field("backend", &self.sandbox)?;
        execution.serialize_field("limitsEnforced", &self.enforced)?;
        execution.end()
    }
}

/// A call that a program made.
///
/// It is serialized for logs with the arguments as the program passed them, which may contain secrets.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "ExecutionForm", into = "ExecutionForm")]
#[non_exhaustive]
pub struct CallRecord {
    /// The id of the tool, or its name if no tool has it.
    pub tool: String,
    /// The arguments as the program passed them. Those of a chain are `null` if its results were too large to be kept.
    pub args: Box<RawValue>,
    /// The changes that the dispatcher made to the arguments, such as `/count: text read as an integer`.
    pub changes: Vec<String>,
    /// The structured result as JSON (`null` if the tool returned none, or those of a chain were too large to be kept), or
    /// the error that the program saw.
    pub result: Result<Box<RawValue>, Thrown>,
    /// The backend that ran the tool, if it was reached.
    pub backend: Option<ToolBackend>,
    /// The step of a chain, if the program called the tool by one.
    pub step: Option<usize>,
    /// The line of the program.
    pub line: Option<u32>,
    /// The time from the start of the run to that of the call.
    pub start: Duration,
    /// The duration of the call.
    pub duration: Duration,
}

impl CallRecord {
    /// Creates the record of a call that ran, without its arguments and its result.
    pub(crate) fn new(tool: &str, result: &Result<RunResult, ToolError>, start: Duration, duration: Duration) -> Self {
        let (tool, backend) = match result {
            Ok(result) => (result.tool(), Some(result.backend())),
            Err(error) => (error.tool().unwrap_or(tool), error.backend().cloned()),
        };
        Self {
            tool: tool.to_owned(),
            args: RawValue::NULL.to_owned(),
            changes: result.as_ref().map(changes).unwrap_or_default(),
            result: Ok(RawValue::NULL.to_owned()),
            backend,
            step: None,
            line: None,
            start,
            duration,
        }
    }
}

fn changes(result: &RunResult) -> Vec<String> {
    result.changes().iter().map(ToString::to_string).collect()
}

impl From<&ToolError> for Thrown {
    fn from(error: &ToolError) -> Self {
        let violations = error.violations();
        Self {
            kind: error.kind().name().to_owned(),
            message: error.to_string(),
            tool: error.tool().map(str::to_owned),
            retryable: error.is_retryable(),
            violations: (!violations.is_empty()).then(|| to_raw_value(violations).ok()).flatten(),
        }
    }
}

impl CallRecord {
    /// Creates the record of a call without an answer. Returns `None` for a request that calls no tool.
    pub(crate) fn unfinished(call: &Call, start: Duration) -> Option<Self> {
        let args = match &call.request {
            Request::RunTool { args, .. } => args.clone(),
            Request::RunChain { steps } => steps.clone(),
            _ => return None,
        };
        let message = "the run ended before the call; it may have had effects".to_owned();
        let kind = ErrorKind::Cancelled.name().to_owned();
        Some(Self {
            tool: call.request.name().to_owned(),
            args,
            changes: Vec::new(),
            result: Err(Thrown { kind, message, tool: None, retryable: false, violations: None }),
            backend: None,
            step: None,
            line: call.line,
            start,
            duration: Duration::ZERO,
        })
    }
}

/// Returns the structured result as JSON text, or `null`.
pub(crate) fn structured(result: &RunResult) -> Box<RawValue> {
    let json = result.json().and_then(|json| serde_json::from_slice(json).ok());
    json.unwrap_or_else(|| RawValue::NULL.to_owned())
}

/// The serialized form of a record.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecutionForm {
    tool_id: String,
    args: Box<RawValue>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changes: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    structured: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Thrown>,
    /// `run` or `chain`, for a call that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error_op: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    backend: Option<ToolBackend>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    start_ms: f64,
    duration_ms: f64,
}

impl From<CallRecord> for ExecutionForm {
    fn from(record: CallRecord) -> Self {
        let (structured, error) = match record.result {
            Ok(structured) => (Some(structured), None),
            Err(error) => (None, Some(error)),
        };
        let op = if record.step.is_some() { "chain" } else { "run" };
        Self {
            tool_id: record.tool,
            args: record.args,
            changes: record.changes,
            structured,
            error_op: error.as_ref().map(|_| op.to_owned()),
            error,
            backend: record.backend,
            step: record.step,
            line: record.line,
            start_ms: milliseconds(record.start),
            duration_ms: milliseconds(record.duration),
        }
    }
}

impl From<ExecutionForm> for CallRecord {
    fn from(form: ExecutionForm) -> Self {
        let structured = form.structured.unwrap_or_else(|| RawValue::NULL.to_owned());
        let duration = |milliseconds: f64| Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or_default();
        Self {
            tool: form.tool_id,
            args: form.args,
            changes: form.changes,
            result: form.error.map_or(Ok(structured), Err),
            backend: form.backend,
            step: form.step,
            line: form.line,
            start: duration(form.start_ms),
            duration: duration(form.duration_ms),
        }
    }
}

/// Returns a duration in milliseconds, with fractions.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

// The arguments may contain secrets, and `Debug` output usually ends up in logs.
toolkit::debug_fields!(it, CallRecord { tool, is_ok: it.result.is_ok(), line, duration });
