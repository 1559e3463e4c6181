//! The methods that check a chain and run it, once or prepared for many runs.

use toolkit::call::Context;
use toolkit::dispatch::Dispatcher;

use super::check::check;
use super::definition::Chain;
use super::diagnostic::ChainDiagnostics;
use super::execute::ChainRun;
use super::memory::ChainLimits;
use super::outcome::ChainOutcome;
use super::plan::Plan;
use super::runner::{InMemory, StepRunner};

impl Chain {
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
    /// ```standalone_crate
    /// # use toolkit::{Catalog, Dispatcher};
    /// use toolkit_backends::chain::{Chain, Step};
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
        ChainDiagnostics::none_or(check(self, dispatcher).1)
    }

    /// Checks the chain against the tools of a dispatcher, for repeated runs.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Chain::check`].
    pub fn prepare<'a>(&'a self, dispatcher: &'a Dispatcher) -> Result<PreparedChain<'a>, ChainDiagnostics> {
        let (plan, diagnostics) = check(self, dispatcher);
        ChainDiagnostics::none_or(diagnostics)?;
        Ok(PreparedChain { chain: self, plan, dispatcher, limits: ChainLimits::new() })
    }

    /// Runs the chain until a step fails or `context` is cancelled.
    ///
    /// Every step receives the context. Its progress listener receives reports in units of steps: `0/n started`, then
    /// `i/n step_completed` or `i/n step_error`, and reports of the tools as fractions of their steps. If a step of a
    /// parallel chain fails, the steps that are running are completed. Any executor can run a chain, unless a tool
    /// requires tokio. The memory of arguments and results is limited by [`ChainLimits`]. To run a chain many times, check it
    /// once with [`Chain::prepare`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Chain::check`], before any step runs. The failure of a step is not an error of this
    /// method: the outcome contains it, together with the steps before.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    ///
    /// use toolkit::{Context, Dispatcher, catalog, tool};
    /// use toolkit_backends::chain::{Chain, Step};
    ///
    /// /// Translates a word.
    /// #[tool]
    /// async fn translate(word: String) -> String {
    ///     word.to_uppercase()
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let dispatcher = Dispatcher::new(catalog![translate]?)?;
    /// let chain = Chain::new()
    ///     .then(Step::new("translate").arg("word", "one"))
    ///     .then(Step::new("translate").arg("word", "two"));
    ///
    /// let reports = Arc::new(Mutex::new(Vec::new()));
    /// let listener = Arc::clone(&reports);
    /// let context = Context::new().on_progress(move |progress| {
    ///     listener.lock().unwrap().push((progress.done, progress.message));
    /// });
    /// let outcome = chain.run(&dispatcher, &context).await?;
    /// assert_eq!(outcome.result().unwrap().value(), "TWO");
    /// assert_eq!(reports.lock().unwrap()[0], (0.0, "started".to_owned()));
    /// assert_eq!(reports.lock().unwrap()[2], (2.0, "step_completed".to_owned()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn run(&self, dispatcher: &Dispatcher, context: &Context) -> Result<ChainOutcome, ChainDiagnostics> {
        Ok(self.prepare(dispatcher)?.run(context).await)
    }

    /// Runs the chain with another way to run its steps, such as one that records their results.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Chain::run`].
    pub async fn run_with(
        &self,
        dispatcher: &Dispatcher,
        context: &Context,
        runner: &dyn StepRunner,
    ) -> Result<ChainOutcome, ChainDiagnostics> {
        Ok(self.prepare(dispatcher)?.start(context).run(runner).await)
    }

    /// Runs a chain of synchronous tools on this thread, in the order of the list, without a runtime.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Chain::run`]. A step with an asynchronous tool fails.
    pub fn run_sync(&self, dispatcher: &Dispatcher, context: &Context) -> Result<ChainOutcome, ChainDiagnostics> {
        Ok(self.prepare(dispatcher)?.run_sync(context))
    }
}

/// A chain that was checked against the tools of a dispatcher. Its runs are those of [`Chain::run`] without the check,
/// which takes longer than the calls of small tools.
///
/// # Examples
///
/// ```
/// use toolkit::{Context, Dispatcher, catalog, tool};
/// use toolkit_backends::chain::{Chain, Step};
///
/// /// Doubles a number.
/// #[tool]
/// fn double(n: i64) -> i64 {
///     n * 2
/// }
///
/// let dispatcher = Dispatcher::new(catalog![double]?)?;
/// let chain = Chain::new()
///     .then(Step::new("double").named("twice").arg("n", 3))
///     .then(Step::new("double").take("n", "twice", ""));
/// let prepared = chain.prepare(&dispatcher)?;
/// for _ in 0..10 {
///     assert_eq!(prepared.run_sync(&Context::new()).result().unwrap().value(), 12);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PreparedChain<'a> {
    chain: &'a Chain,
    plan: Plan<'a>,
    dispatcher: &'a Dispatcher,
    limits: ChainLimits,
}

impl PreparedChain<'_> {
    /// Sets other limits of each run than the default ones.
    #[must_use]
    pub fn with_limits(self, limits: ChainLimits) -> Self {
        Self { limits, ..self }
    }

    /// Runs the chain; see [`Chain::run`].
    pub async fn run(&self, context: &Context) -> ChainOutcome {
        self.start(context).run(&InMemory).await
    }

    /// Runs a chain of synchronous tools on this thread; see [`Chain::run_sync`].
    #[must_use]
    pub fn run_sync(&self, context: &Context) -> ChainOutcome {
        self.start(context).run_sync()
    }

    fn start<'r>(&'r self, context: &'r Context) -> ChainRun<'r> {
        ChainRun::new(self.chain, &self.plan, self.dispatcher, context, self.limits)
    }
}

toolkit::debug_fields!(PreparedChain<'_> { chain });
