//! Log messages of tools for their callers.

use std::fmt;

use serde_json::Value;

use super::context::Context;

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

/// A message that a tool logs for its caller with [`Context::log`].
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
struct LogListener {
    least: LogLevel,
    listener: Box<dyn Fn(LogMessage) + Send + Sync>,
}

impl Context {
    /// Sends log messages of the call with at least this level to `listener`, which replaces an earlier listener.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    ///
    /// use toolkit::Context;
    /// use toolkit::call::LogLevel;
    ///
    /// let seen = Arc::new(Mutex::new(Vec::new()));
    /// let listener = Arc::clone(&seen);
    /// let context = Context::new().on_log(LogLevel::Notice, move |message| listener.lock().unwrap().push(message.data));
    /// context.log(LogLevel::Info, "connected");
    /// context.log(LogLevel::Warning, "the cache is full");
    /// assert_eq!(*seen.lock().unwrap(), ["the cache is full"]);
    /// ```
    #[must_use]
    pub fn on_log(self, least: LogLevel, listener: impl Fn(LogMessage) + Send + Sync + 'static) -> Self {
        self.with(LogListener { least, listener: Box::new(listener) })
    }

    /// Returns true if a listener receives log messages of this level.
    #[must_use]
    pub fn logs(&self, level: LogLevel) -> bool {
        self.get::<LogListener>().is_some_and(|log| level >= log.least)
    }

    /// Sends a log message to the caller, such as the client of an MCP server. It is not a part of the result, and must
    /// not contain secrets. A caller that has not requested messages of this level receives none, and a message may be
    /// dropped if there are many.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use serde_json::json;
    /// use toolkit::call::LogLevel;
    /// use toolkit::{Context, tool};
    ///
    /// /// Imports rows.
    /// #[tool]
    /// fn import(rows: Vec<String>, ctx: &Context) -> usize {
    ///     let n_empty = rows.iter().filter(|row| row.is_empty()).count();
    ///     if n_empty > 0 {
    ///         ctx.log(LogLevel::Warning, json!({ "message": "empty rows are skipped", "rows": n_empty }));
    ///     }
    ///     rows.len() - n_empty
    /// }
    /// ```
    pub fn log(&self, level: LogLevel, data: impl Into<Value>) {
        if let Some(log) = self.get::<LogListener>().filter(|log| level >= log.least) {
            (log.listener)(LogMessage { level, data: data.into(), logger: None });
        }
    }

    /// Sends a log message of another program to the caller, for a [`Backend`](crate::backend::Backend) that forwards its
    /// messages. Otherwise it is like [`Context::log`].
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::Context;
    /// use toolkit::call::LogLevel;
    ///
    /// let context = Context::new().on_log(LogLevel::Info, |message| {
    ///     assert_eq!(message.logger.as_deref(), Some("mail/smtp"));
    /// });
    /// context.forward_log(LogLevel::Warning, "mail/smtp", "the server is slow");
    /// ```
    pub fn forward_log(&self, level: LogLevel, logger: impl Into<String>, data: impl Into<Value>) {
        if let Some(log) = self.get::<LogListener>().filter(|log| level >= log.least) {
            (log.listener)(LogMessage { level, data: data.into(), logger: Some(logger.into()) });
        }
    }
}
