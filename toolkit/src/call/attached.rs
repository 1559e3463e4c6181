//! Values that hosts attach to a context: cancellation, listeners to log messages, the step of a durable run, and the trace
//! of a call.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

/// A handle that cancels calls.
///
/// Clones share one flag. Dropping a token cancels nothing; [`drop_guard`](Self::drop_guard) returns a guard that does.
///
/// ```
/// use toolkit::Context;
/// use toolkit::call::CancelToken;
///
/// let token = CancelToken::new();
/// let context = Context::new().with_cancel(token.clone());
/// token.cancel();
/// assert!(context.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    shared: Arc<CancelState>,
}

#[derive(Debug, Default)]
struct CancelState {
    cancelled: AtomicBool,
    #[cfg(feature = "async")]
    wake: tokio::sync::Notify,
}

impl CancelToken {
    /// Creates a token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels every call that carries this token or a clone of it.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Release);
        #[cfg(feature = "async")]
        self.shared.wake.notify_waiters();
    }

    /// Returns a guard that cancels the token when it is dropped, also by a panic or with the future that owns it.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::CancelToken;
    ///
    /// let token = CancelToken::new();
    /// {
    ///     let _guard = token.drop_guard();
    ///     assert!(!token.is_cancelled());
    /// }
    /// assert!(token.is_cancelled());
    /// ```
    pub fn drop_guard(&self) -> DropGuard {
        DropGuard { token: self.clone() }
    }

    /// Returns true if both are clones of one token.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Returns true if the token is cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::Acquire)
    }

    /// Completes when the token is cancelled.
    #[cfg(feature = "async")]
    pub async fn cancelled(&self) {
        loop {
            // Listening starts before the flag is read, so that a cancellation in between is not missed.
            let mut woken = std::pin::pin!(self.shared.wake.notified());
            woken.as_mut().enable();
            if self.is_cancelled() {
                return;
            }
            woken.await;
        }
    }
}

/// A guard that cancels a [`CancelToken`] when it is dropped, created by [`CancelToken::drop_guard`].
#[derive(Debug)]
#[must_use = "a guard that is not bound to a variable cancels its token at once"]
pub struct DropGuard {
    token: CancelToken,
}

impl Drop for DropGuard {
    fn drop(&mut self) {
        self.token.cancel();
    }
}

/// The identity of a step of a durable run: the same in every attempt to run it.
///
/// The host of a durable run attaches it to the [`Context`](super::Context) of each call. A tool with effects passes [`key`](Self::key) to
/// the system that it changes as an idempotency key, which then recognizes a repetition.
///
/// # Examples
///
/// ```
/// use toolkit::call::StepId;
/// use toolkit::{Context, Dispatcher, catalog, tool};
///
/// /// Pays an invoice.
/// #[tool(idempotent)]
/// fn pay(invoice: u64, ctx: &Context) -> String {
///     match ctx.step() {
///         Some(step) => format!("invoice {invoice} with the key {}", step.key()),
///         None => format!("invoice {invoice} without a key"),
///     }
/// }
///
/// let dispatcher = Dispatcher::new(catalog![pay]?)?;
/// let context = Context::new().with(StepId::new("order-42", 3, 1));
/// let result = dispatcher.call_sync_with(&context, "pay", r#"{"invoice": 7}"#)?;
/// assert_eq!(result.value(), "invoice 7 with the key order-42/3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StepId {
    run: Arc<str>,
    step: usize,
    attempt: u32,
}

impl StepId {
    /// Creates the identity of a step by the id of its run, its index, and the number of the attempt, from 1.
    #[must_use]
    pub fn new(run: impl Into<Arc<str>>, step: usize, attempt: u32) -> Self {
        Self { run: run.into(), step, attempt }
    }

    /// Returns the id of the run.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Returns the index of the step in its chain.
    #[must_use]
    pub fn step(&self) -> usize {
        self.step
    }

    /// Returns the number of the attempt, from 1. It grows when a person decides to repeat the step, not when a process
    /// continues the run of another one.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Returns `RUN/STEP`, which identifies the step in all attempts.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}/{}", self.run, self.step)
    }
}

impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} (attempt {})", self.run, self.step, self.attempt)
    }
}

/// The W3C Trace Context of a call, which backends send to their servers if it is in the [`Context`](super::Context) of the
/// call.
///
/// A server adds the trace context of an incoming call, so that it is forwarded by default.
///
/// # Examples
///
/// ```
/// use toolkit::Context;
/// use toolkit::call::TraceContext;
///
/// let trace = TraceContext::new("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").tracestate("vendor=1");
/// let context = Context::new().with(trace);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceContext {
    /// The value of `traceparent`.
    pub traceparent: String,
    /// The value of `tracestate`.
    pub tracestate: Option<String>,
    /// The value of `baggage`.
    pub baggage: Option<String>,
}

impl TraceContext {
    /// Creates a trace context from the value of `traceparent`.
    #[must_use]
    pub fn new(traceparent: impl Into<String>) -> Self {
        Self { traceparent: traceparent.into(), ..Self::default() }
    }

    /// Sets `tracestate`.
    #[must_use]
    pub fn tracestate(mut self, tracestate: impl Into<String>) -> Self {
        self.tracestate = Some(tracestate.into());
        self
    }

    /// Sets `baggage`.
    #[must_use]
    pub fn baggage(mut self, baggage: impl Into<String>) -> Self {
        self.baggage = Some(baggage.into());
        self
    }

    /// The names of the fields in messages.
    pub const FIELDS: [&str; 3] = ["traceparent", "tracestate", "baggage"];

    /// Creates a trace context from the values of its [fields](Self::FIELDS) in a message, or `None` without `traceparent`.
    #[must_use]
    pub fn from_values<T: Into<String>>(values: [Option<T>; 3]) -> Option<Self> {
        let [traceparent, tracestate, baggage] = values.map(|value| value.map(Into::into));
        Some(Self { traceparent: traceparent?, tracestate, baggage })
    }

    /// Returns the names and the values of the fields that are set.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let values = [Some(&*self.traceparent), self.tracestate.as_deref(), self.baggage.as_deref()];
        std::iter::zip(Self::FIELDS, values).filter_map(|(name, value)| Some((name, value?)))
    }
}

crate::named! {
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
        Debug = "debug",
        /// Normal operation.
        Info = "info",
        /// A significant but normal event.
        Notice = "notice",
        /// A problem that does not affect the result.
        Warning = "warning",
        /// A failed operation.
        Error = "error",
        /// A failed component.
        Critical = "critical",
        /// A condition that requires action at once.
        Alert = "alert",
        /// The system is unusable.
        Emergency = "emergency",
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
