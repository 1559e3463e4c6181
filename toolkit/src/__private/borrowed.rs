//! Resolution of borrowed parameters from the host of a call.

use std::sync::Arc;

use crate::bounds::Borrowed;
use crate::call::{Context, ToolError};
use crate::catalog::Catalog;
use crate::dispatch::Dispatcher;
use crate::dispatch::function::Host;
use crate::state::StateType;

impl Borrowed<Context> {
    /// None: every call has a context.
    pub const STATE: Option<StateType> = None;

    /// Returns the context of the call.
    pub fn from_host(host: Host<'_>) -> Result<&Context, ToolError> {
        Ok(host.context())
    }
}

impl Borrowed<Dispatcher> {
    /// None: every call has a dispatcher.
    pub const STATE: Option<StateType> = None;

    /// Returns the dispatcher that runs the call.
    pub fn from_host(host: Host<'_>) -> Result<&Dispatcher, ToolError> {
        Ok(host.dispatcher())
    }
}

impl Borrowed<Catalog> {
    /// None: every call has a catalog.
    pub const STATE: Option<StateType> = None;

    /// Returns the catalog that contains the tool.
    pub fn from_host(host: Host<'_>) -> Result<&Catalog, ToolError> {
        Ok(host.catalog())
    }
}

impl<T: ?Sized + Send + Sync + 'static> Borrowed<Arc<T>> {
    /// The state type. An `Arc` is state like any other type; only the error message for missing
    /// state differs.
    pub const STATE: Option<StateType> = Some(StateType::new_arc::<T>());

    /// Returns the state.
    pub fn from_host(host: Host<'_>) -> Result<&Arc<T>, ToolError> {
        host.state()
    }
}

/// Resolution of state of any other type.
pub trait FromHost<T: ?Sized> {
    /// The state that the dispatcher requires.
    const STATE: Option<StateType>;

    /// Returns the state.
    fn from_host(host: Host<'_>) -> Result<&T, ToolError>;
}

impl<T: ?Sized + 'static> FromHost<T> for Borrowed<T> {
    const STATE: Option<StateType> = Some(StateType::new::<T>());

    fn from_host(host: Host<'_>) -> Result<&T, ToolError> {
        host.state::<T>()
    }
}
