//! A tool found once, to be called many times.

use std::time::Duration;

use super::Dispatcher;
use super::report::report;
use crate::call::{Arguments, Context, RunResult, ToolError};
use crate::tool::Tool;

/// A tool of a dispatcher, its name resolved. It is called as by name, through the same stages.
#[derive(Clone, Copy, Debug)]
pub struct Prepared<'d> {
    dispatcher: &'d Dispatcher,
    tool: &'d Tool,
}

impl Dispatcher {
    /// Finds a tool by any of its names, for who calls it often: finding it is a tenth of what a small call costs.
    ///
    /// # Errors
    ///
    /// The name did not resolve.
    pub fn prepared(&self, name: &str) -> Result<Prepared<'_>, ToolError> {
        Ok(Prepared { dispatcher: self, tool: self.shared.catalog.resolve(name)? })
    }
}

impl<'d> Prepared<'d> {
    /// The tool.
    #[must_use]
    pub fn tool(&self) -> &'d Tool {
        self.tool
    }

    /// Returns the timeout of a call: the tool's own, or else that of the dispatcher.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.tool.timeout().or(self.dispatcher.shared.policy.timeout)
    }

    /// Calls the tool; see [`Dispatcher::call`].
    ///
    /// # Errors
    ///
    /// As for [`Dispatcher::call`], but that the name has been resolved.
    pub async fn call<'a>(&self, arguments: impl Into<Arguments<'a>>) -> Result<RunResult, ToolError> {
        self.call_with(Context::EMPTY, arguments).await
    }

    /// Calls the tool with a context of the host's.
    ///
    /// # Errors
    ///
    /// As for [`Prepared::call`].
    pub async fn call_with<'a>(
        &self,
        context: &Context,
        arguments: impl Into<Arguments<'a>>,
    ) -> Result<RunResult, ToolError> {
        let outcome = self.dispatcher.run_layered(context, self.tool, arguments.into(), None).await;
        outcome.map_err(|error| report(self.tool, error))
    }

    /// Calls a synchronous tool, on this thread, with no runtime; see [`Dispatcher::call_sync`].
    ///
    /// # Errors
    ///
    /// As for [`Prepared::call`]; an asynchronous tool is refused.
    pub fn call_sync<'a>(&self, arguments: impl Into<Arguments<'a>>) -> Result<RunResult, ToolError> {
        self.call_sync_with(Context::EMPTY, arguments)
    }

    /// Calls a synchronous tool with a context of the host's.
    ///
    /// # Errors
    ///
    /// As for [`Prepared::call_sync`].
    pub fn call_sync_with<'a>(
        &self,
        context: &Context,
        arguments: impl Into<Arguments<'a>>,
    ) -> Result<RunResult, ToolError> {
        let outcome = self.dispatcher.run_sync(context, self.tool, &arguments.into());
        outcome.map_err(|error| report(self.tool, error))
    }
}
