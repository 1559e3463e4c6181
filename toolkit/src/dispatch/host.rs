//! The parameters that a host injects into a call.

use std::any::type_name;

use super::dispatcher::Dispatcher;
use super::policy::Policy;
use crate::call::{Context, ToolError};
use crate::catalog::Catalog;
use crate::tool::Tool;

/// The parameters that a host injects into a call: the context, the dispatcher, and state by its type.
#[derive(Clone, Copy, Debug)]
pub struct Host<'a> {
    context: &'a Context,
    dispatcher: &'a Dispatcher,
    tool: &'a Tool,
}

impl<'a> Host<'a> {
    #[inline]
    pub(super) fn new(context: &'a Context, dispatcher: &'a Dispatcher, tool: &'a Tool) -> Self {
        Self { context, dispatcher, tool }
    }

    /// Returns the context of the call.
    #[must_use]
    pub const fn context(self) -> &'a Context {
        self.context
    }

    /// Returns the dispatcher that runs the call.
    #[must_use]
    pub const fn dispatcher(self) -> &'a Dispatcher {
        self.dispatcher
    }

    /// Returns the tool.
    #[inline]
    pub(super) const fn tool(self) -> &'a Tool {
        self.tool
    }

    /// Returns the settings for all calls.
    #[inline]
    pub(super) fn policy(self) -> &'a Policy {
        &self.dispatcher.shared.policy
    }

    /// Returns the catalog that contains the tool.
    #[must_use]
    pub fn catalog(self) -> &'a Catalog {
        self.dispatcher.catalog()
    }

    /// Returns the state of type `T`: that of the tool's instance, or the shared state.
    ///
    /// # Errors
    ///
    /// Returns an error if the host did not provide it. Building a dispatcher checks this for the tools of its
    /// catalog.
    pub fn state<T: ?Sized + 'static>(self) -> Result<&'a T, ToolError> {
        let own = self.tool.instance().and_then(|instance| instance.states.get::<T>());
        own.or_else(|| self.dispatcher.shared.states.get::<T>())
            .ok_or_else(|| ToolError::internal(format!("no state of type `{}` was given", type_name::<T>())))
    }
}
