//! The way in which the steps of a chain are run, and when a failed one is repeated.

use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use toolkit::call::{BoxFuture, Context, ErrorKind, RunResult, ToolError};
use toolkit::dispatch::Dispatcher;
#[cfg(feature = "async")]
use toolkit::internals::timeout;

use super::step::Wait;

/// Runs the steps of a chain.
///
/// [`Chain::run`](super::Chain::run) calls the tool of each step. A runner for
/// [`Chain::run_with`](super::Chain::run_with) can do more, such as record results and return recorded ones. It does not
/// choose the steps or their arguments, so that every runner leads to the same outcome.
///
/// # Examples
///
/// ```
/// use std::sync::Mutex;
/// use toolkit::call::BoxFuture;
/// use toolkit::{Context, Dispatcher, catalog, tool};
/// use toolkit_backends::chain::{Chain, Step, StepCall, StepRun, StepRunner};
///
/// /// Doubles a number.
/// #[tool]
/// fn double(n: u32) -> u32 {
///     n * 2
/// }
///
/// #[derive(Default)]
/// struct Log(Mutex<Vec<String>>);
///
/// impl StepRunner for Log {
///     fn run<'a>(&'a self, call: StepCall<'a>) -> BoxFuture<'a, StepRun> {
///         self.0.lock().unwrap().push(format!("{}: {} {}", call.index, call.tool, call.args));
///         Box::pin(call.run())
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::new(catalog![double]?)?;
/// let chain = Chain::new().then(Step::new("double").arg("n", 1)).then(Step::new("double").arg("n", 5));
/// let log = Log::default();
/// let outcome = chain.run_with(&dispatcher, &Context::new(), &log).await?;
/// assert_eq!(outcome.result().unwrap().value(), 10);
/// assert_eq!(*log.0.lock().unwrap(), [r#"0: double {"n":1}"#, r#"1: double {"n":5}"#]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait StepRunner: Sync {
    /// Runs a step.
    fn run<'a>(&'a self, call: StepCall<'a>) -> BoxFuture<'a, StepRun>;
}

/// A step whose arguments are known.
#[non_exhaustive]
pub struct StepCall<'a> {
    /// The index of the step in the chain.
    pub index: usize,
    /// The name of the tool as written in the chain.
    pub tool: &'a str,
    /// The arguments, including those from earlier steps.
    pub args: &'a Value,
    /// The context of the step, which reports its progress as a part of that of the chain.
    pub context: Context,
    /// The dispatcher that the chain was checked with.
    pub dispatcher: &'a Dispatcher,
    /// The wait before the tool is called, which [`StepCall::run`] leaves to the runner.
    pub wait: Option<Wait>,
    /// The maximum number of calls of the tool; see [`StepCall::repeat_after`].
    pub max_attempts: Option<u32>,
}

/// The first and the last interval between two calls of a tool that fails.
const BACKOFF: Duration = Duration::from_secs(1);
const MAX_BACKOFF: Duration = Duration::from_secs(5 * 60);

/// The longest interval that an error, which may be that of another server, can state.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// The result of a step, and the time that it took.
#[derive(Debug)]
#[non_exhaustive]
pub struct StepRun {
    /// The result of the call.
    pub result: Result<RunResult, ToolError>,
    /// The duration of the call.
    pub duration: Duration,
}

impl StepRun {
    /// Creates the end of a step.
    #[must_use]
    pub fn new(result: Result<RunResult, ToolError>, duration: Duration) -> Self {
        Self { result, duration }
    }
}

impl<'a> StepCall<'a> {
    /// Creates a step, for a runner that calls the tool later or elsewhere.
    #[must_use]
    pub fn new(index: usize, tool: &'a str, args: &'a Value, context: Context, dispatcher: &'a Dispatcher) -> Self {
        Self { index, tool, args, context, dispatcher, wait: None, max_attempts: None }
    }

    /// Returns the time after which the tool is called again after an error, or `None` if the step ends with it: the tool may
    /// not repeat, the error does not pass, or there were too many calls. `default` is the number of calls of a step without
    /// one of its own, and `n_before` that of earlier failures.
    #[must_use]
    pub fn repeat_after(&self, error: &ToolError, n_before: u32, default: u32) -> Option<Duration> {
        let is_left = n_before.saturating_add(1) < self.max_attempts.unwrap_or(default);
        let may_repeat =
            || self.dispatcher.catalog().resolve(self.tool).is_ok_and(|tool| tool.annotations().may_repeat());
        (is_left && error.is_retryable() && may_repeat()).then(|| Self::backoff(error, n_before))
    }

    /// Returns the time between a failure and the next call: at least that which the error states, at most a day.
    #[must_use]
    pub fn backoff(error: &ToolError, n_before: u32) -> Duration {
        let interval = BACKOFF.saturating_mul(4_u32.saturating_pow(n_before)).min(MAX_BACKOFF);
        error.retry_after().unwrap_or(interval).clamp(interval, MAX_RETRY_AFTER)
    }

    /// Calls the tool once.
    pub async fn run(self) -> StepRun {
        self.run_once().await
    }

    async fn run_once(&self) -> StepRun {
        let start = Instant::now();
        let prepared = self.dispatcher.prepared(self.tool);
        let result = match prepared.and_then(|tool| Ok((tool, self.context.nested(tool.tool())?))) {
            Ok((tool, context)) => tool.call_with(&context, self.args).await,
            Err(error) => Err(error),
        };
        StepRun { result, duration: start.elapsed() }
    }
}

/// Calls the tools and keeps nothing.
pub(super) struct InMemory;

impl StepRunner for InMemory {
    fn run<'a>(&'a self, call: StepCall<'a>) -> BoxFuture<'a, StepRun> {
        Box::pin(async move {
            if let Err(error) = pause(&call, call.wait.map(Wait::end)).await {
                return StepRun { result: Err(error), duration: Duration::ZERO };
            }
            for n_failures in 0.. {
                let run = call.run_once().await;
                let again = run.result.as_ref().err().and_then(|error| call.repeat_after(error, n_failures, 1));
                match again {
                    None => return run,
                    Some(time) => {
                        if let Err(error) = pause(&call, Some(SystemTime::now() + time)).await {
                            return StepRun { result: Err(error), duration: run.duration };
                        }
                    }
                }
            }
            unreachable!("the number of calls is limited")
        })
    }
}

/// Waits until the tool of the step may be called.
#[cfg(feature = "async")]
async fn pause(call: &StepCall<'_>, end: Option<SystemTime>) -> Result<(), ToolError> {
    let Some(end) = end else { return Ok(()) };
    let left = end.duration_since(SystemTime::now()).unwrap_or_default();
    match timeout(left, call.context.cancelled()).await? {
        None => Ok(()),
        Some(()) => Err(ToolError::cancelled()),
    }
}

#[cfg(not(feature = "async"))]
async fn pause(_: &StepCall<'_>, end: Option<SystemTime>) -> Result<(), ToolError> {
    end.map_or(Ok(()), |_| Err(no_wait()))
}

/// Returns the error of a step that waits where no timer is.
pub(super) fn no_wait() -> ToolError {
    let message = "the step waits, or may be repeated; run the chain with `run`, and with the feature `async`";
    ToolError::new(ErrorKind::NeedsRuntime, message)
}

// Arguments may contain secrets, and `Debug` output usually ends up in logs.
toolkit::debug_fields!(StepCall<'_> { index, tool });
