//! What becomes of borrowed parameters.

use std::sync::Arc;

use crate::bounds::Borrowed;
use crate::call::{Context, ToolError};
use crate::catalog::Catalog;
use crate::dispatch::Dispatcher;
use crate::dispatch::host::Host;
use crate::state::StateType;

impl Borrowed<Context> {
    /// Every call brings a context along.
    pub const STATE: Option<StateType> = None;

    /// Lends the context.
    pub fn lend(host: Host<'_>) -> Result<&Context, ToolError> {
        Ok(host.context())
    }
}

impl Borrowed<Dispatcher> {
    /// Every call has a dispatcher.
    pub const STATE: Option<StateType> = None;

    /// Lends the dispatcher that runs the call.
    pub fn lend(host: Host<'_>) -> Result<&Dispatcher, ToolError> {
        Ok(host.dispatcher())
    }
}

impl Borrowed<Catalog> {
    /// Every call has a catalog.
    pub const STATE: Option<StateType> = None;

    /// Lends the catalog that the tool belongs to.
    pub fn lend(host: Host<'_>) -> Result<&Catalog, ToolError> {
        Ok(host.catalog())
    }
}

impl<T: ?Sized + Send + Sync + 'static> Borrowed<Arc<T>> {
    /// An `Arc` is state like any other; only what is said where it is missing differs.
    pub const STATE: Option<StateType> = Some(StateType::of_arc::<T>());

    /// Lends the state.
    pub fn lend(host: Host<'_>) -> Result<&Arc<T>, ToolError> {
        host.state()
    }
}

/// Lends state of any other type.
pub trait FromHost<T: ?Sized> {
    /// What the dispatcher must be given.
    const STATE: Option<StateType>;

    /// Lends the state.
    fn lend(host: Host<'_>) -> Result<&T, ToolError>;
}

impl<T: ?Sized + 'static> FromHost<T> for Borrowed<T> {
    const STATE: Option<StateType> = Some(StateType::of::<T>());

    fn lend(host: Host<'_>) -> Result<&T, ToolError> {
        host.state::<T>()
    }
}
