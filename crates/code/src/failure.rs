//! Failures of programs, and the errors before a program runs.

use std::fmt;

use serde::{Deserialize, Serialize};
use toolkit::call::BoxError;

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

/// The reason why a program was not started.
///
/// A program that was started has an [`Execution`](crate::Execution), also if it failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum CodeError {
    /// The program is empty.
    MissingCode,
    /// The program exceeds [`Limits::code_bytes`](crate::Limits::code_bytes), which is given.
    TooLong(u64),
    /// A program called a tool that runs programs.
    Nested,
    /// The journal is one of another version of this library.
    UnknownJournal,
    /// The text is not a journal that was sealed with the key for the purpose, or was changed.
    InvalidSeal,
    /// The sandbox cannot be started.
    Unavailable(SandboxError),
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingCode => f.write_str("the program is empty"),
            Self::TooLong(max) => write!(f, "the program exceeds {max} bytes"),
            Self::Nested => f.write_str("a program cannot run another program; call the tools directly"),
            Self::UnknownJournal => f.write_str("the journal is one of another version of this library"),
            Self::InvalidSeal => {
                f.write_str("the text is not a journal that was sealed with this key for this purpose")
            }
            Self::Unavailable(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CodeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unavailable(error) => Some(error),
            Self::MissingCode | Self::TooLong(_) | Self::Nested | Self::UnknownJournal | Self::InvalidSeal => None,
        }
    }
}

/// The error of a [`Sandbox`](crate::sandbox::Sandbox).
///
/// # Examples
///
/// ```
/// use std::error::Error;
/// use std::io;
///
/// use toolkit_code::sandbox::SandboxError;
///
/// let cause = io::Error::from(io::ErrorKind::NotFound);
/// let error = SandboxError::unavailable("the engine is not installed").with_source(cause);
/// assert_eq!(error.to_string(), "the sandbox is not available: the engine is not installed");
/// assert!(error.source().unwrap().is::<io::Error>());
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum SandboxError {
    /// The sandbox cannot be started or reached. The program has not run.
    #[non_exhaustive]
    Unavailable {
        /// The reason, with its cause.
        reason: String,
        /// The error of the operating system, the connection or the protocol, if there is one.
        source: Option<BoxError>,
    },
    /// The sandbox ended the program: it exceeded a limit that the engine could not report, or attempted something
    /// forbidden.
    Ended(FailureKind, String),
    /// The URL, the certificates or the profile of a sandbox are not valid.
    #[non_exhaustive]
    Configuration {
        /// The reason, with its cause.
        reason: String,
        /// The error of the certificates, if there is one.
        source: Option<BoxError>,
    },
    /// The other side sent something that is not the protocol.
    #[non_exhaustive]
    Protocol {
        /// The reason, with its cause.
        reason: String,
        /// The error of the message, if there is one.
        source: Option<BoxError>,
    },
}

impl SandboxError {
    /// Creates the error of a sandbox that cannot be started or reached.
    #[must_use]
    pub fn unavailable(reason: impl Into<String>) -> Self {
        Self::Unavailable { reason: reason.into(), source: None }
    }

    /// Creates the error of an invalid setting.
    #[must_use]
    pub fn configuration(reason: impl Into<String>) -> Self {
        Self::Configuration { reason: reason.into(), source: None }
    }

    /// Creates the error of a message that breaks the protocol.
    #[must_use]
    pub fn protocol(reason: impl Into<String>) -> Self {
        Self::Protocol { reason: reason.into(), source: None }
    }

    /// Adds the cause. Has no effect on [`SandboxError::Ended`], whose cause is the program.
    #[must_use]
    pub fn with_source(mut self, cause: impl Into<BoxError>) -> Self {
        match &mut self {
            Self::Unavailable { source, .. } | Self::Configuration { source, .. } | Self::Protocol { source, .. } => {
                *source = Some(cause.into());
            }
            Self::Ended(..) => {}
        }
        self
    }
}

impl fmt::Display for SandboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable { reason, .. } => write!(f, "the sandbox is not available: {reason}"),
            Self::Ended(_, reason) | Self::Configuration { reason, .. } => f.write_str(reason),
            Self::Protocol { reason, .. } => write!(f, "the sandbox sent an invalid message: {reason}"),
        }
    }
}

impl std::error::Error for SandboxError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unavailable { source, .. } | Self::Configuration { source, .. } | Self::Protocol { source, .. } => {
                source.as_deref().map(|source| source as _)
            }
            Self::Ended(..) => None,
        }
    }
}
