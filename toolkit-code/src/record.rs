//! Records of calls.

use std::fmt;
use std::time::Duration;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use toolkit::call::Change;
use toolkit::tool::ToolBackend;
use toolkit::{RunResult, ToolError};

use super::engine::Thrown;

/// A call that a program made.
///
/// It is serialized for logs with the arguments as the program passed them, which may contain secrets.
#[derive(Clone)]
#[non_exhaustive]
pub struct CallRecord {
    /// The id of the tool, or its name if no tool has it.
    pub tool: String,
    /// The arguments as the program passed them.
    pub args: Box<RawValue>,
    /// The changes that the dispatcher made to the arguments.
    pub changes: Vec<Change>,
    /// The structured result as JSON (`null` if the tool returned none), or the error that the program saw.
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
    /// Creates the record of a call that ran.
    pub(crate) fn new(
        tool: &str,
        args: Box<RawValue>,
        result: &Result<RunResult, ToolError>,
        start: Duration,
        duration: Duration,
    ) -> Self {
        let (tool, backend) = match result {
            Ok(result) => (result.tool(), Some(result.backend())),
            Err(error) => (error.tool().unwrap_or(tool), error.backend().cloned()),
        };
        Self {
            tool: tool.to_owned(),
            args,
            changes: result.as_ref().map(|result| result.changes().to_vec()).unwrap_or_default(),
            result: result.as_ref().map(structured).map_err(Thrown::from),
            backend,
            step: None,
            line: None,
            start,
            duration,
        }
    }
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

/// Returns the structured result as JSON text, or `null`.
pub(crate) fn structured(result: &RunResult) -> Box<RawValue> {
    let json = result.json().and_then(|json| serde_json::from_slice(json).ok());
    json.unwrap_or_else(|| RawValue::NULL.to_owned())
}

impl Serialize for CallRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut record = serializer.serialize_struct("CallRecord", 10)?;
        record.serialize_field("toolId", &self.tool)?;
        record.serialize_field("args", &self.args)?;
        match &self.result {
            Ok(structured) => record.serialize_field("structured", structured)?,
            Err(error) => {
                record.serialize_field("error", &error.message)?;
                record.serialize_field("errorKind", &error.kind)?;
                record.serialize_field("errorOp", if self.step.is_some() { "chain" } else { "run" })?;
            }
        }
        if let Some(backend) = &self.backend {
            record.serialize_field("backendKind", backend.kind().as_str())?;
        }
        if let Some(line) = self.line {
            record.serialize_field("line", &line)?;
        }
        record.serialize_field("startMs", &milliseconds(self.start))?;
        record.serialize_field("durationMs", &milliseconds(self.duration))?;
        record.end()
    }
}

/// Returns a duration in milliseconds, with fractions.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

// The arguments may contain secrets, and `Debug` output usually ends up in logs.
impl fmt::Debug for CallRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallRecord")
            .field("tool", &self.tool)
            .field("is_ok", &self.result.is_ok())
            .field("line", &self.line)
            .field("duration", &self.duration)
            .finish_non_exhaustive()
    }
}
