//! Chains of calls, in which the result of one call is an argument of another.
//!
//! A [`Chain`] is data: a model, a file or code lists the tools to call and the sources of their arguments. The whole
//! chain is checked against the schemas of the tools before its first step runs. If the tools are functions that the
//! program names, [`Handle::then`](crate::Handle::then) connects them by their Rust types instead, and rustc checks
//! that they fit.
//!
//! ```
//! use toolkit::chain::Chain;
//! use toolkit::{Catalog, Context, Dispatcher, tool};
//!
//! /// Splits a text into words.
//! #[tool(namespace = "text")]
//! fn words(text: String) -> Vec<String> {
//!     text.split_whitespace().map(str::to_owned).collect()
//! }
//!
//! /// Greets a person.
//! #[tool(namespace = "text")]
//! fn greet(name: String, greeting: String) -> String {
//!     format!("{greeting}, {name}!")
//! }
//!
//! let dispatcher = Dispatcher::new(Catalog::linked()?)?;
//! let chain = Chain::from_json(r#"[
//!     {"id": "all", "toolId": "text:words", "args": {"text": "Ada Grace"}},
//!     {"toolId": "text:greet", "args": {"greeting": "Hello"}, "from": {"name": {"step": "all", "pointer": "/1"}}}
//! ]"#)?;
//! let outcome = chain.run_sync(&dispatcher, &Context::new())?;
//! assert_eq!(outcome.steps()[1].value(), "Hello, Grace!");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | field of a step | meaning |
//! |---|---|
//! | `toolId` | the tool, by any of its names |
//! | `args` | the constant arguments |
//! | `usePrevious` | passes the structured result of the preceding step as the argument `previous`, replacing any other |
//! | `id` | the name of the step |
//! | `from` | for each argument, the earlier `step` and the JSON `pointer` into its structured result |
//! | `after` | in a parallel chain, earlier steps to wait for |
//!
//! The steps of a list run one after another. `{"parallel": true, "steps": […]}` runs each step as soon as the steps
//! that it refers to have succeeded; the fields have the same meaning. A step can refer to earlier steps only, so that
//! references cannot be circular and the steps can always run in the order of the list.

mod arguments;
mod check;
mod diagnostic;
mod json;
mod memory;
mod meter;
mod outcome;
mod plan;
mod reach;
mod run;
mod step;
mod typed;

pub use self::diagnostic::{ChainDiagnostic, ChainDiagnosticKind, ChainDiagnostics};
pub use self::json::ParseChainError;
pub use self::memory::ChainLimits;
pub use self::outcome::{ChainOutcome, StepResult};
use self::run::Run;
pub use self::step::{Reference, Step};
pub use self::typed::{Feeds, Link, Then};
use crate::call::Context;
use crate::dispatch::Dispatcher;

/// The name of the argument that `usePrevious` passes.
pub const PREVIOUS: &str = "previous";

/// The maximum number of steps of a chain.
pub const MAX_STEPS: usize = 256;

/// The maximum size of the JSON that one step may take from the results of others, in bytes.
///
/// Without this limit, a chain whose steps each take the preceding result twice would double its size with every step.
pub const MAX_TAKEN_BYTES: usize = 16 << 20;

/// A sequence or graph of tool calls.
///
/// ```
/// use toolkit::chain::{Chain, Step};
///
/// let chain = Chain::new()
///     .then(Step::new("geo:find").named("geo").arg("name", "Lima"))
///     .then(Step::new("weather:forecast").take("city", "geo", "/name"));
/// assert_eq!(chain, Chain::from_json(serde_json::to_string(&chain)?)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    steps: Vec<Step>,
    order: Order,
}

/// The order in which steps run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Order {
    /// The order of the list.
    #[default]
    Sequential,
    /// The order given by references.
    Parallel,
}

impl Order {
    /// Returns the JSON Pointer to the steps of the chain.
    fn pointer(self) -> &'static str {
        match self {
            Order::Sequential => "",
            Order::Parallel => "/steps",
        }
    }
}

impl Chain {
    /// Creates an empty chain whose steps run one after another.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty chain whose steps run as soon as the steps that they refer to have succeeded.
    ///
    /// The steps share one task: asynchronous and `blocking` tools run concurrently, other synchronous tools one at a
    /// time.
    #[must_use]
    pub fn parallel() -> Self {
        Self { steps: Vec::new(), order: Order::Parallel }
    }

    /// Adds a step.
    #[must_use]
    pub fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Returns the steps in the order in which they were added.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns true if the steps run as soon as their references allow.
    #[must_use]
    pub fn is_parallel(&self) -> bool {
        self.order == Order::Parallel
    }

    /// Checks the chain without running it.
    ///
    /// The constant arguments are validated against the input schemas. An argument from an earlier step must be
    /// declared by the tool, must be possible according to the output schema of that step, and must have a matching
    /// type. A `null` for an optional argument counts as absent. Apart from that, arguments are not coerced, whatever
    /// the setting of the dispatcher.
    ///
    /// # Errors
    ///
    /// Returns every defect (at most 100), each with its step and a JSON Pointer into the JSON of the chain: too many
    /// steps, duplicate ids, invalid references, unknown tools, invalid arguments.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolkit::{Catalog, Dispatcher};
    /// use toolkit::chain::{Chain, Step};
    ///
    /// # /// Adds two integers.
    /// # #[toolkit::tool(namespace = "math")]
    /// # fn add(a: i64, b: i64) -> i64 { a + b }
    /// let dispatcher = Dispatcher::new(Catalog::linked()?)?;
    /// let chain = Chain::new()
    ///     .then(Step::new("math:add").named("sum").arg("a", 1).arg("b", "two"))
    ///     .then(Step::new("math:ad").take("a", "some", ""));
    /// assert_eq!(
    ///     chain.check(&dispatcher).unwrap_err().to_string(),
    ///     r#"the chain cannot run:
    /// /0/args/b (`sum`): must be an integer, got "two"
    /// /1/from/a/step (`math:ad`): no earlier step is named `some`; did you mean `sum`?
    /// /1/toolId (`math:ad`): no tool is named `math:ad`; did you mean `math:add`?"#
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check(&self, dispatcher: &Dispatcher) -> Result<(), ChainDiagnostics> {
        ChainDiagnostics::none_or(check::check(self, dispatcher.catalog()).1)
    }

    /// Runs the chain until a step fails or `context` is cancelled.
    ///
    /// Every step receives the context. Its progress listener receives reports in units of steps: `0/n started`, then
    /// `i/n step_completed` or `i/n step_error`, and reports of the tools as fractions of their steps. If a step of a
    /// parallel chain fails, the steps that are running are completed. Any executor can run a chain, unless a tool
    /// requires tokio. The memory of arguments and results is limited by [`ChainLimits`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Chain::check`], before any step runs. The failure of a step is not an error of this
    /// method: the outcome contains it, together with the steps before.
    pub async fn run(&self, dispatcher: &Dispatcher, context: &Context) -> Result<ChainOutcome, ChainDiagnostics> {
        self.run_with_limits(dispatcher, context, ChainLimits::new()).await
    }

    /// Runs the chain with other limits than the default ones.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Chain::run`].
    pub async fn run_with_limits(
        &self,
        dispatcher: &Dispatcher,
        context: &Context,
        limits: ChainLimits,
    ) -> Result<ChainOutcome, ChainDiagnostics> {
        Ok(self.start(dispatcher, context, limits)?.run().await)
    }

    /// Runs a chain of synchronous tools on this thread, in the order of the list, without a runtime.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Chain::run`]. A step with an asynchronous tool fails.
    pub fn run_sync(&self, dispatcher: &Dispatcher, context: &Context) -> Result<ChainOutcome, ChainDiagnostics> {
        self.run_sync_with_limits(dispatcher, context, ChainLimits::new())
    }

    /// Runs a chain of synchronous tools with other limits than the default ones.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Chain::run_sync`].
    pub fn run_sync_with_limits(
        &self,
        dispatcher: &Dispatcher,
        context: &Context,
        limits: ChainLimits,
    ) -> Result<ChainOutcome, ChainDiagnostics> {
        Ok(self.start(dispatcher, context, limits)?.run_sync())
    }

    fn start<'a>(
        &'a self,
        dispatcher: &'a Dispatcher,
        context: &'a Context,
        limits: ChainLimits,
    ) -> Result<Run<'a>, ChainDiagnostics> {
        let (plan, diagnostics) = check::check(self, dispatcher.catalog());
        ChainDiagnostics::none_or(diagnostics)?;
        Ok(Run::new(self, plan, dispatcher, context, limits))
    }
}

impl FromIterator<Step> for Chain {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self { steps: Vec::from_iter(steps), order: Order::Sequential }
    }
}
