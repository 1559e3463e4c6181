//! Chains of calls: the result of one is an argument of the next.
//!
//! A [`Chain`] is data: a model, a file or code says which tools to call, and where their arguments come from. It is
//! checked against the tools' schemas as a whole before its first step runs. Where the tools are known to the program,
//! [`Handle::then`](crate::Handle::then) joins them with their Rust types instead, and rustc checks that they fit.
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
//! /// Greets somebody.
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
//! | field of a step | what it says |
//! |---|---|
//! | `toolId` | the tool, by any of its names |
//! | `args` | arguments that are known beforehand |
//! | `usePrevious` | the structured result of the step before is the argument `previous`, in place of any other |
//! | `id` | a name for the step |
//! | `from` | for each argument, the earlier `step` and the JSON `pointer` into its structured result |
//! | `after` | in a parallel chain: earlier steps to wait for |
//!
//! A list of steps runs one after another. `{"parallel": true, "steps": […]}` runs each step as soon as the steps that it
//! refers to have succeeded; what the fields mean is the same. A step refers to earlier ones only, so that there is no
//! circle, and the order of the list always works.

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
pub use self::json::InvalidChain;
pub use self::memory::ChainLimits;
pub use self::outcome::{ChainOutcome, StepResult};
use self::run::Run;
pub use self::step::{Reference, Step};
pub use self::typed::{Feeds, Link, Then};
use crate::call::Context;
use crate::dispatch::Dispatcher;

/// The argument that `usePrevious` gives.
pub const PREVIOUS: &str = "previous";

/// How many steps a chain may have.
pub const MAX_STEPS: usize = 256;

/// How many bytes of JSON one step may take from the results of others.
///
/// Without a bound, a chain whose steps each take the result before twice would double it step by step.
pub const MAX_TAKEN_BYTES: usize = 16 << 20;

/// Calls of tools, one after another or side by side.
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

/// What decides when a step runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Order {
    /// The list.
    #[default]
    Sequential,
    /// What the step refers to.
    Parallel,
}

impl Order {
    /// Where the steps stand in the chain's JSON.
    fn pointer(self) -> &'static str {
        match self {
            Order::Sequential => "",
            Order::Parallel => "/steps",
        }
    }
}

impl Chain {
    /// A chain without steps, which run one after another.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A chain without steps, each of which runs as soon as those that it refers to have succeeded.
    ///
    /// The steps share one task: asynchronous and `blocking` tools run side by side, and other synchronous ones one at
    /// a time.
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

    /// The steps, in the order in which they were given.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether only what a step refers to decides when it runs.
    #[must_use]
    pub fn is_parallel(&self) -> bool {
        self.order == Order::Parallel
    }

    /// Checks, before anything runs, all that is known beforehand.
    ///
    /// The arguments given are checked against the input schemas. An argument from an earlier step must be one that the
    /// tool takes, must be something that the earlier result can have, and must be of a type that fits. A `null` for an
    /// optional argument counts as absent; beyond that, nothing is coerced, whatever the dispatcher would do to a call.
    ///
    /// # Errors
    ///
    /// Every problem at once (of very many the first hundred), each with its step and a JSON Pointer into the chain's
    /// JSON: too many steps, an id twice, a reference that leads nowhere, a tool that is not found, arguments that do
    /// not fit.
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
    /// The context goes along with every step. Its listener is told of progress in units of a step: `0/n started`, then
    /// `i/n step_completed` or `i/n step_error`; what the tools report moves the chain within their steps. In a parallel
    /// chain the steps that run when one fails come to their end. Any executor will do, unless a tool asks for tokio.
    /// Arguments and results are kept within [`ChainLimits`].
    ///
    /// # Errors
    ///
    /// As for [`Chain::check`], and then nothing has run. That a step failed is no error of this kind: the outcome has
    /// it, with the steps before.
    pub async fn run(&self, dispatcher: &Dispatcher, context: &Context) -> Result<ChainOutcome, ChainDiagnostics> {
        self.run_with_limits(dispatcher, context, ChainLimits::new()).await
    }

    /// Runs the chain within other limits than the default ones.
    ///
    /// # Errors
    ///
    /// As for [`Chain::run`].
    pub async fn run_with_limits(
        &self,
        dispatcher: &Dispatcher,
        context: &Context,
        limits: ChainLimits,
    ) -> Result<ChainOutcome, ChainDiagnostics> {
        Ok(self.start(dispatcher, context, limits)?.run().await)
    }

    /// Runs a chain of synchronous tools, in the order of the list, on this thread, with no runtime.
    ///
    /// # Errors
    ///
    /// As for [`Chain::run`]. A step whose tool is asynchronous fails.
    pub fn run_sync(&self, dispatcher: &Dispatcher, context: &Context) -> Result<ChainOutcome, ChainDiagnostics> {
        self.run_sync_with_limits(dispatcher, context, ChainLimits::new())
    }

    /// Runs a chain of synchronous tools within other limits than the default ones.
    ///
    /// # Errors
    ///
    /// As for [`Chain::run_sync`].
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
