//! Outcomes of chains.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolkit::call::{RunResult, ToolError};

/// The outcome of a chain: every step that was started, and the error that stopped the chain.
///
/// ```
/// use toolkit::{Context, Dispatcher, catalog, tool};
/// use toolkit_backends::chain::{Chain, Step};
///
/// /// Divides two numbers.
/// #[tool]
/// fn divide(a: i64, b: i64) -> Result<i64, String> {
///     a.checked_div(b).ok_or_else(|| "division by zero".to_owned())
/// }
///
/// let dispatcher = Dispatcher::new(catalog![divide]?)?;
/// let chain = Chain::new()
///     .then(Step::new("divide").named("first").arg("a", 4).arg("b", 2))
///     .then(Step::new("divide").take("a", "first", "").arg("b", 0));
/// let outcome = chain.run_sync(&dispatcher, &Context::new())?;
/// assert_eq!(outcome.steps()[0].value(), 2);
/// assert_eq!(outcome.error().unwrap().message(), "division by zero");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A host can record an outcome: what is deserialized equals what was serialized, except for the causes of errors, which
/// are not recorded.
#[derive(Debug, Serialize, Deserialize)]
#[serde(try_from = "Recorded")]
pub struct ChainOutcome {
    pub(super) steps: Vec<StepResult>,
    /// The index in `steps` of the step that failed first.
    pub(super) failed: Option<usize>,
    /// Set if the chain was cancelled while no step ran.
    pub(super) cancelled: Option<ToolError>,
}

impl ChainOutcome {
    /// Returns the steps that were started, in the order of the chain. In a sequential chain, a failed step is the
    /// last.
    #[must_use]
    pub fn steps(&self) -> &[StepResult] {
        &self.steps
    }

    /// Returns the result of the last step, if all steps succeeded.
    #[must_use]
    pub fn result(&self) -> Option<&RunResult> {
        if self.error().is_some() {
            return None;
        }
        self.steps.last()?.result.as_ref().ok()
    }

    /// Returns the error that stopped the chain: that of the step that failed first, or the cancellation between two
    /// steps.
    #[must_use]
    pub fn error(&self) -> Option<&ToolError> {
        match self.failed {
            Some(failed) => self.steps[failed].result.as_ref().err(),
            None => self.cancelled.as_ref(),
        }
    }

    /// Returns the result of the last step, or `None` if there are no steps.
    ///
    /// # Errors
    ///
    /// Returns the error that stopped the chain; see [`ChainOutcome::error`].
    pub fn into_result(mut self) -> Result<Option<RunResult>, ToolError> {
        if let Some(error) = self.cancelled {
            return Err(error);
        }
        let last = match self.failed {
            Some(failed) => Some(self.steps.swap_remove(failed)),
            None => self.steps.pop(),
        };
        last.map(|step| step.result).transpose()
    }

    /// Returns the steps that were started.
    #[must_use]
    pub fn into_steps(self) -> Vec<StepResult> {
        self.steps
    }
}

/// A step that was started.
///
/// # Examples
///
/// ```
/// use toolkit::{Context, Dispatcher, catalog, tool};
/// use toolkit_backends::chain::{Chain, Step};
///
/// /// Doubles a number.
/// #[tool]
/// fn double(n: u32) -> u32 {
///     n * 2
/// }
///
/// let dispatcher = Dispatcher::new(catalog![double]?)?;
/// let chain = Chain::new()
///     .then(Step::new("double").named("two").arg("n", 1))
///     .then(Step::new("double").named("four").take("n", "two", ""));
/// let outcome = chain.run_sync(&dispatcher, &Context::new())?;
///
/// let second = &outcome.steps()[1];
/// assert_eq!(second.id.as_deref(), Some("four"));
/// assert_eq!(second.args["n"], 2);
/// assert_eq!(second.result.as_ref().unwrap().value(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct StepResult {
    /// The index of the step in the chain.
    pub index: usize,
    /// The id of the step.
    pub id: Option<String>,
    /// The name of the tool as written in the chain.
    pub tool: String,
    /// The arguments of the call, including those from earlier steps.
    pub args: Map<String, Value>,
    /// The result of the call.
    pub result: Result<RunResult, ToolError>,
    /// The duration of the call.
    pub duration: Duration,
}

impl StepResult {
    /// Returns the structured result, or `null` if there is none.
    #[must_use]
    pub fn value(&self) -> Value {
        self.result.as_ref().map_or(Value::Null, RunResult::value)
    }
}

// Arguments may contain secrets, and `Debug` output usually ends up in logs.
impl fmt::Debug for StepResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepResult")
            .field("index", &self.index)
            .field("id", &self.id)
            .field("tool", &self.tool)
            .field("args", &self.args.keys().collect::<Vec<_>>())
            .field("result", &self.result)
            .field("duration", &self.duration)
            .finish()
    }
}

/// The serialized form of an outcome.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    steps: Vec<StepResult>,
    failed: Option<usize>,
    cancelled: Option<ToolError>,
}

impl TryFrom<Recorded> for ChainOutcome {
    type Error = &'static str;

    fn try_from(recorded: Recorded) -> Result<Self, Self::Error> {
        let Recorded { steps, failed, cancelled } = recorded;
        match failed {
            Some(failed) if steps.get(failed).is_none_or(|step| step.result.is_ok()) => {
                Err("the step that failed is not one of the steps with an error")
            }
            _ => Ok(Self { steps, failed, cancelled }),
        }
    }
}
