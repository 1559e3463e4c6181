//! Log messages of tools for their callers.

use std::fmt;

use serde_json::Value;

/// The severity of a [`LogMessage`], as in syslog (RFC 5424). A more severe level is greater.
///
/// # Examples
///
/// ```
/// use toolkit::call::LogLevel;
///
/// assert!(LogLevel::Error > LogLevel::Info);
/// assert_eq!(LogLevel::from_name("warning"), Some(LogLevel::Warning));
/// assert_eq!(LogLevel::Warning.name(), "warning");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// Details for debugging.
    Debug,
    /// Normal operation.
    Info,
    /// A significant but normal event.
    Notice,
    /// A problem that does not affect the result.
    Warning,
    /// A failed operation.
    Error,
    /// A failed component.
    Critical,
    /// A condition that requires action at once.
    Alert,
    /// The system is unusable.
    Emergency,
}

impl LogLevel {
    /// All levels, the least severe first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// Returns the name in MCP and syslog.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }

    /// Returns the level with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A message that a tool logs for its caller with [`Context::log`](super::Context::log).
///
/// # Examples
///
/// ```
/// use toolkit::call::{LogLevel, LogMessage};
///
/// fn line(message: &LogMessage) -> String {
///     format!("{}: {}", message.level, message.data)
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LogMessage {
    /// The severity.
    pub level: LogLevel,
    /// The content: a text, or any other JSON value.
    pub data: Value,
    /// The name of the program that has logged the message, if it is not the tool.
    pub logger: Option<String>,
}

/// A listener to log messages, which is attached to a context.
pub(super) struct LogListener {
    pub(super) least: LogLevel,
    pub(super) listener: Box<dyn Fn(LogMessage) + Send + Sync>,
}
