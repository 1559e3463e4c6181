//! Chains that are checked once and run many times.

use std::fmt;

use toolkit::call::Context;
use toolkit::dispatch::Dispatcher;

use super::check::check;
use super::definition::Chain;
use super::diagnostic::ChainDiagnostics;
use super::execute::Run;
use super::memory::ChainLimits;
use super::outcome::ChainOutcome;
use super::plan::Plan;
use super::runner::{InMemory, StepRunner};

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
}

impl Chain {
    /// Checks the chain against the tools of a dispatcher, for repeated runs.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Chain::check`].
    pub fn prepare<'a>(&'a self, dispatcher: &'a Dispatcher) -> Result<PreparedChain<'a>, ChainDiagnostics> {
        let (plan, diagnostics) = check(self, dispatcher);
        ChainDiagnostics::none_or(diagnostics)?;
        Ok(PreparedChain { chain: self, plan, dispatcher })
    }
}

impl PreparedChain<'_> {
    /// Runs the chain; see [`Chain::run`].
    pub async fn run(&self, context: &Context) -> ChainOutcome {
        self.run_with(context, ChainLimits::new(), &InMemory).await
    }

    /// Runs the chain with other limits and another way to run its steps; see [`Chain::run_with`].
    #[doc(hidden)]
    pub async fn run_with(&self, context: &Context, limits: ChainLimits, runner: &dyn StepRunner) -> ChainOutcome {
        self.start(context, limits).run(runner).await
    }

    /// Runs a chain of synchronous tools on this thread; see [`Chain::run_sync`].
    #[must_use]
    pub fn run_sync(&self, context: &Context) -> ChainOutcome {
        self.run_sync_with_limits(context, ChainLimits::new())
    }

    /// Runs a chain of synchronous tools with other limits than the default ones.
    #[must_use]
    pub fn run_sync_with_limits(&self, context: &Context, limits: ChainLimits) -> ChainOutcome {
        self.start(context, limits).run_sync()
    }

    fn start<'r>(&'r self, context: &'r Context, limits: ChainLimits) -> Run<'r> {
        Run::new(self.chain, &self.plan, self.dispatcher, context, limits)
    }
}

impl fmt::Debug for PreparedChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedChain").field("chain", &self.chain).finish_non_exhaustive()
    }
}
