//! Tools that are resolved once and called many times.

use std::time::Duration;

use super::dispatcher::Dispatcher;
use super::execute::{run_layered, run_sync};
use super::report::report;
use crate::call::{Arguments, Context, RunResult, ToolError};
use crate::tool::{Tool, ToolId};

/// A resolved tool of a dispatcher. Calls pass the same stages as calls by name.
///
/// # Examples
///
/// ```standalone_crate
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
    dispatcher: &'d Dispatcher,
    tool: &'d Tool,
}

impl Dispatcher {
    /// Resolves a tool by any of its names, for repeated calls: resolving takes a tenth of the time of a small call.
    ///
    /// ```standalone_crate
    /// use toolkit::{Dispatcher, catalog, tool};
    ///
    /// /// Doubles a number.
    /// #[tool]
    /// fn double(n: i64) -> i64 {
    ///     n * 2
    /// }
    ///
    /// let dispatcher = Dispatcher::new(catalog![double]?)?;
    /// let double = dispatcher.prepared("double")?;
    /// assert_eq!(double.call_sync(r#"{"n": 1}"#)?.value(), 2);
    /// assert_eq!(double.call_sync(r#"{"n": 2}"#)?.value(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the name does not resolve.
    pub fn prepared(&self, name: &str) -> Result<Prepared<'_>, ToolError> {
        Ok(Prepared { dispatcher: self, tool: self.resolve(name)? })
    }

    /// Returns the tool with exactly this id, or `None` if the catalog does not have it.
    #[must_use]
    pub fn prepared_id(&self, id: &ToolId) -> Option<Prepared<'_>> {
        Some(Prepared { dispatcher: self, tool: self.shared.catalog.with_id(id)? })
    }

    /// Returns the tool at a position of [`Catalog::iter`](crate::Catalog::iter), without resolving a name. A server that
    /// stores positions beside the names of its protocol resolves each call once.
    ///
    /// ```standalone_crate
    /// use toolkit::{Dispatcher, catalog, tool};
    ///
    /// /// Doubles a number.
    /// #[tool]
    /// fn double(n: i64) -> i64 {
    ///     n * 2
    /// }
    ///
    /// let dispatcher = Dispatcher::new(catalog![double]?)?;
    /// let position = dispatcher.catalog().iter().position(|tool| tool.name() == "double").unwrap();
    /// assert_eq!(dispatcher.prepared_at(position).call_sync(r#"{"n": 2}"#)?.value(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the catalog has no tool at this position.
    #[must_use]
    pub fn prepared_at(&self, position: usize) -> Prepared<'_> {
        Prepared { dispatcher: self, tool: self.shared.catalog.at(position) }
    }
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
