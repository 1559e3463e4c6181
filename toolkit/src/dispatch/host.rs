//! The parameters that a host injects into a call.

use std::any::type_name;

use super::dispatcher::Dispatcher;
use crate::call::{Context, ToolError};
use crate::catalog::Catalog;
use crate::state::States;
use crate::tool::Tool;

/// The parameters that a host injects into a call: the context, the dispatcher, and state by its type.
#[derive(Clone, Copy, Debug)]
pub struct Host<'a> {
    context: &'a Context,
    dispatcher: &'a Dispatcher,
    /// The state of the tool's instance.
    instance: Option<&'a States>,
}

impl<'a> Host<'a> {
    pub(super) fn new(context: &'a Context, dispatcher: &'a Dispatcher, tool: &'a Tool) -> Self {
        Self { context, dispatcher, instance: tool.instance().map(|instance| &instance.states) }
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
        let own = self.instance.and_then(States::get::<T>);
        own.or_else(|| self.dispatcher.shared.states.get::<T>())
            .ok_or_else(|| ToolError::internal(format!("no state of type `{}` was given", type_name::<T>())))
    }
}
