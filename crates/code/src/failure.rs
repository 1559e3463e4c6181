//! Failures of programs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The reason why a program has no value.
///
/// It is written for the model, which corrects the program: it names the place and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// The message, without the place.
    pub message: String,
    /// The line of the program, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column in that line, in characters from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The text of that line, shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The id of the tool whose call failed, for [`FailureKind::Tool`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

/// The kind of a [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// The text is not a program.
    Syntax,
    /// The program threw an error that it did not catch.
    Exception,
    /// A call of a tool failed, and the program did not catch the error.
    Tool,
    /// The program waits for something that never happens.
    Deadlock,
    /// The value cannot be written as JSON.
    Value,
    /// The time exceeded [`Limits::time`](crate::Limits::time) or [`Limits::run_time`](crate::Limits::run_time).
    Time,
    /// The steps exceeded [`Limits::steps`](crate::Limits::steps).
    Steps,
    /// The memory exceeded [`Limits::memory_bytes`](crate::Limits::memory_bytes), or calls were nested too deeply.
    Memory,
    /// The calls exceeded [`Limits::calls`](crate::Limits::calls), and the program did not catch the error.
    Calls,
    /// A text exceeded [`Limits::code_bytes`](crate::Limits::code_bytes),
    /// [`Limits::value_bytes`](crate::Limits::value_bytes) or
    /// [`Limits::message_bytes`](crate::Limits::message_bytes), or all arguments together
    /// [`Limits::kept_bytes`](crate::Limits::kept_bytes).
    Size,
    /// The sandbox ended the program because it attempted something forbidden.
    Violation,
    /// The sandbox was lost during the run. Calls of the program may have run.
    Unavailable,
    /// The run was canceled.
    Cancelled,
}

impl Failure {
    /// Creates a failure without a place.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), line: None, column: None, source: None, tool: None }
    }

    /// Adds the text of the line, if the line is known and its text is not.
    #[must_use]
    pub(crate) fn in_program(mut self, code: &str) -> Self {
        /// The maximum number of characters of a line.
        const MAX_LEN: usize = 120;

        if let (Some(line), None) = (self.line, &self.source) {
            let text = code.lines().nth((line as usize).saturating_sub(1)).unwrap_or_default().trim();
            self.source = (!text.is_empty()).then(|| text.chars().take(MAX_LEN).collect());
        }
        self
    }

    /// Adds the place, as numbers from 1.
    #[must_use]
    pub fn at(self, line: u32, column: Option<u32>) -> Self {
        Self { line: Some(line), column, ..self }
    }
}

/// Writes the message and the place, such as `x is not defined (line 3, col 7)`.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, " (line {line}, col {column})"),
            (Some(line), None) => write!(f, " (line {line})"),
            (None, _) => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}
