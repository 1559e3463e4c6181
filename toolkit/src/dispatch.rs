//! Runs tools: the only path from a call to a result.

mod blocking;
mod builder;
mod elsewhere;
pub(crate) mod encode;
mod execute;
pub(crate) mod host;
#[cfg(feature = "tower")]
mod layer;
mod limit;
mod missing;
mod policy;
mod prepared;
mod report;
mod result_size;
pub(crate) mod run;
mod scope;
mod select;
mod streaming;
mod typed;

use std::sync::Arc;

#[cfg(feature = "async")]
pub use self::blocking::BlockingThreads;
pub use self::builder::DispatcherBuilder;
use self::encode::Encode;
use self::host::Host;
#[cfg(feature = "tower")]
pub use self::layer::{Call, ToolService};
use self::policy::Policy;
pub use self::prepared::Prepared;
use self::run::{Invocation, Run};
pub(crate) use self::typed::{Typed, TypedCall};
use crate::backend::{Routes, Selector};
pub use crate::call::BoxFuture;
use crate::call::permit::Limiter;
#[cfg(feature = "async")]
pub use crate::call::timer::sleep;
use crate::call::{Arguments, Context, RunResult, ToolError};
use crate::catalog::Catalog;
use crate::state::States;

/// Runs the tools of a catalogue.
///
/// A call goes through the same stages each time: the name is resolved, the arguments are checked against the input
/// schema, the function runs, its result is checked against the output schema. Clones share everything.
#[derive(Clone, Debug)]
pub struct Dispatcher {
    shared: Arc<Shared>,
    /// The layers around it, if there are any.
    #[cfg(feature = "tower")]
    layered: Option<ToolService>,
}

struct Shared {
    catalog: Catalog,
    routes: Routes,
    selector: Option<Arc<Selector>>,
    states: Arc<States>,
    policy: Policy,
    limiter: Limiter,
}

impl Dispatcher {
    /// The tools that it runs.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.shared.catalog
    }

    /// Calls a tool by any of its names.
    ///
    /// A synchronous tool runs on the thread that polls, unless it is marked `blocking`.
    ///
    /// # Errors
    ///
    /// [`ToolError`] says which stage refused: the name did not resolve, the arguments did not fit, the tool failed or
    /// took too long, or it broke its own output schema.
    pub async fn call<'a>(&self, name: &str, arguments: impl Into<Arguments<'a>>) -> Result<RunResult, ToolError> {
        self.call_with(Context::EMPTY, name, arguments).await
    }

    /// Calls a tool with a context of the host's.
    ///
    /// # Errors
    ///
    /// As for [`Dispatcher::call`].
    pub async fn call_with<'a>(
        &self,
        context: &Context,
        name: &str,
        arguments: impl Into<Arguments<'a>>,
    ) -> Result<RunResult, ToolError> {
        self.prepared(name)?.call_with(context, arguments).await
    }

    /// Calls a synchronous tool, on this thread, with no runtime.
    ///
    /// A time limit cannot stop it.
    ///
    /// # Errors
    ///
    /// As for [`Dispatcher::call`]; an asynchronous tool is refused.
    pub fn call_sync<'a>(&self, name: &str, arguments: impl Into<Arguments<'a>>) -> Result<RunResult, ToolError> {
        self.call_sync_with(Context::EMPTY, name, arguments)
    }

    /// Calls a synchronous tool with a context of the host's.
    ///
    /// # Errors
    ///
    /// As for [`Dispatcher::call_sync`].
    pub fn call_sync_with<'a>(
        &self,
        context: &Context,
        name: &str,
        arguments: impl Into<Arguments<'a>>,
    ) -> Result<RunResult, ToolError> {
        self.prepared(name)?.call_sync_with(context, arguments)
    }
}

// A selector is a function, and states are of any type.
impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("catalog", &self.catalog)
            .field("routes", &self.routes)
            .field("states", &self.states)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
