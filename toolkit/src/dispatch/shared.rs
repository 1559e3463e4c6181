//! The dispatcher itself, and what its clones share.

use std::fmt;
use std::sync::Arc;

#[cfg(feature = "tower")]
use super::layer::ToolService;
use super::policy::Policy;
use crate::backend::{Route, Routes, Selector};
use crate::call::permit::Limiter;
use crate::call::{Coercion, ErrorKind, ToolError};
use crate::catalog::{Catalog, ExportedNames};
use crate::state::States;
use crate::tool::Tool;
use crate::tool::entry::Entry;
use crate::unwind;

/// The dispatcher, which runs the tools of a catalog.
///
/// Each call passes the same stages: the name is resolved, the arguments are validated against the input schema, the
/// function or backend runs, and its result is validated against the output schema. Clones share all state.
///
/// ```
/// use toolkit::{Dispatcher, catalog, tool};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let dispatcher = Dispatcher::new(catalog![add]?)?;
/// assert_eq!(dispatcher.call_sync("add", r#"{"a": 1, "b": 2}"#)?.value(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dispatcher {
    pub(super) shared: Arc<Shared>,
    /// The names of an export, if only these are accepted.
    pub(super) names: Option<ExportedNames>,
    /// The layers, if there are any.
    #[cfg(feature = "tower")]
    pub(super) layered: Option<ToolService>,
}

/// The parts of a dispatcher that its clones share.
pub(super) struct Shared {
    pub(super) catalog: Catalog,
    pub(super) routes: Routes,
    pub(super) selector: Option<Arc<Selector>>,
    pub(super) states: Arc<States>,
    pub(super) policy: Policy,
    pub(super) limiter: Limiter,
}

/// The executor of a tool.
#[derive(Clone, Copy)]
pub(super) enum Executor<'s> {
    Function(&'static Entry),
    Backend(&'s Route),
}

impl Shared {
    /// Selects the executor of a tool.
    #[inline]
    pub(super) fn select<'s>(&'s self, tool: &'s Tool) -> Result<Executor<'s>, ToolError> {
        match tool.entry() {
            Some(entry) if self.selector.is_none() => Ok(Executor::Function(entry)),
            entry => self.select_of_several(tool, entry),
        }
    }

    /// Returns the changes that may be made to the arguments of a tool.
    pub(super) fn coercion(&self, tool: &Tool) -> Coercion {
        match self.select(tool) {
            Ok(Executor::Backend(route)) => route.backend.backend().coercion(),
            _ => None,
        }
        .unwrap_or(self.policy.coercion)
    }

    #[cold]
    fn select_of_several<'s>(
        &'s self,
        tool: &'s Tool,
        entry: Option<&'static Entry>,
    ) -> Result<Executor<'s>, ToolError> {
        let selected = unwind::catch(|| self.routes.select(tool, self.selector.as_deref()));
        match (selected.map_err(unwind::Panic::into_host_error)??, entry) {
            (Some(route), _) => Ok(Executor::Backend(route)),
            (None, Some(entry)) => Ok(Executor::Function(entry)),
            (None, None) => Err(ToolError::new(ErrorKind::NoBackend, "no backend runs this tool")),
        }
    }
}

// A selector is a function, and states have arbitrary types.
impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("catalog", &self.catalog)
            .field("routes", &self.routes)
            .field("states", &self.states)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
