//! Tools that are resolved once and called many times.

use std::time::Duration;

use super::pipeline::{report, run_layered, run_sync};
use super::shared::Dispatcher;
use crate::call::{Arguments, Context, RunResult, ToolError};
use crate::tool::Tool;

/// A resolved tool of a dispatcher. Calls pass the same stages as calls by name.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use serde_json::json;
/// use toolkit::{Dispatcher, catalog, tool};
///
/// /// Squares a number.
/// #[tool(namespace = "math", timeout = "5s")]
/// fn square(n: u32) -> u32 {
///     n * n
/// }
///
/// let dispatcher = Dispatcher::new(catalog![square]?)?;
/// let square = dispatcher.prepared("square")?;
/// assert_eq!(square.tool().id().to_string(), "math:square");
/// assert_eq!(square.timeout(), Some(Duration::from_secs(5)));
/// for n in 0..10 {
///     assert_eq!(square.call_sync(json!({ "n": n }))?.value(), n * n);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Prepared<'d> {
    pub(super) dispatcher: &'d Dispatcher,
    pub(super) tool: &'d Tool,
}

impl<'d> Prepared<'d> {
    /// Returns the tool.
    #[must_use]
    pub fn tool(&self) -> &'d Tool {
        self.tool
    }

    /// Returns the timeout of a call: that of the tool, or the default of the dispatcher.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.tool.timeout().or(self.dispatcher.shared.policy.timeout)
    }

    /// Calls the tool; see [`Dispatcher::call`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Dispatcher::call`], except those of resolving the name.
    pub async fn call<'a>(&self, arguments: impl Into<Arguments<'a>>) -> Result<RunResult, ToolError> {
        self.call_with(Context::EMPTY, arguments).await
    }

    /// Calls the tool with a context.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Prepared::call`].
    pub async fn call_with<'a>(
        &self,
        context: &Context,
        arguments: impl Into<Arguments<'a>>,
    ) -> Result<RunResult, ToolError> {
        let outcome = run_layered(self.dispatcher, context, self.tool, arguments.into(), None).await;
        outcome.map_err(|error| report(self.tool, error))
    }

    /// Calls a synchronous tool on this thread, without a runtime; see [`Dispatcher::call_sync`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Prepared::call`], and an error if the tool is asynchronous.
    pub fn call_sync<'a>(&self, arguments: impl Into<Arguments<'a>>) -> Result<RunResult, ToolError> {
        self.call_sync_with(Context::EMPTY, arguments)
    }

    /// Calls a synchronous tool with a context.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Prepared::call_sync`].
    pub fn call_sync_with<'a>(
        &self,
        context: &Context,
        arguments: impl Into<Arguments<'a>>,
    ) -> Result<RunResult, ToolError> {
        let outcome = run_sync(self.dispatcher, context, self.tool, &arguments.into());
        outcome.map_err(|error| report(self.tool, error))
    }
}
