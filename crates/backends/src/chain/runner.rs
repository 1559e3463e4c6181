//! The way in which the steps of a chain are run.

use std::fmt;
#[cfg(feature = "async")]
use std::time::SystemTime;
use std::time::{Duration, Instant};

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
/// use toolkit_backends::chain::{Chain, ChainLimits, Step, StepCall, StepRun, StepRunner};
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
/// let outcome = chain.run_with(&dispatcher, &Context::new(), ChainLimits::new(), &log).await?;
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
}

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
        Self { index, tool, args, context, dispatcher, wait: None }
    }

    /// Calls the tool.
    pub async fn run(self) -> StepRun {
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
            match wait(&call).await {
                Ok(()) => call.run().await,
                Err(error) => StepRun { result: Err(error), duration: Duration::ZERO },
            }
        })
    }
}

/// Waits until the tool of the step may be called.
#[cfg(feature = "async")]
async fn wait(call: &StepCall<'_>) -> Result<(), ToolError> {
    let Some(wait) = call.wait else { return Ok(()) };
    let left = wait.end().duration_since(SystemTime::now()).unwrap_or_default();
    match timeout(left, call.context.cancelled()).await? {
        None => Ok(()),
        Some(()) => Err(ToolError::cancelled()),
    }
}

#[cfg(not(feature = "async"))]
async fn wait(call: &StepCall<'_>) -> Result<(), ToolError> {
    call.wait.map_or(Ok(()), |_| Err(no_wait()))
}

/// Returns the error of a step that waits where no timer is.
pub(super) fn no_wait() -> ToolError {
    let message = "the step waits; run the chain with `run`, and with the feature `async`";
    ToolError::new(ErrorKind::NeedsRuntime, message)
}

// Arguments may contain secrets, and `Debug` output usually ends up in logs.
impl fmt::Debug for StepCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepCall").field("index", &self.index).field("tool", &self.tool).finish_non_exhaustive()
    }
}
