//! Results of runs.

use std::time::Duration;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use toolkit::Content;

use super::engine::{Printed, Usage};
use super::failure::Failure;
use super::record::{CallRecord, milliseconds};
use super::sandbox::{Enforced, SandboxInfo};

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
