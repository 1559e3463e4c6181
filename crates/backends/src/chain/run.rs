//! The methods that run a chain.

use toolkit::call::Context;
use toolkit::dispatch::Dispatcher;

use super::definition::Chain;
use super::diagnostic::ChainDiagnostics;
use super::memory::ChainLimits;
use super::outcome::ChainOutcome;
use super::runner::{InMemory, StepRunner};

impl Chain {
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
        self.run_with(dispatcher, context, limits, &InMemory).await
    }

    /// Runs the chain with another way to run its steps, such as one that records their results.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Chain::run`].
    #[doc(hidden)]
    pub async fn run_with(
        &self,
        dispatcher: &Dispatcher,
        context: &Context,
        limits: ChainLimits,
        runner: &dyn StepRunner,
    ) -> Result<ChainOutcome, ChainDiagnostics> {
        Ok(self.prepare(dispatcher)?.run_with(context, limits, runner).await)
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
        Ok(self.prepare(dispatcher)?.run_sync_with_limits(context, limits))
    }
}
