//! The record of a dispatcher.

use std::fmt;
use std::sync::Arc;

#[cfg(feature = "tower")]
use super::layer::ToolService;
use super::policy::Policy;
use crate::backend::{Routes, Selector};
use crate::call::permit::Limiter;
use crate::catalog::Catalog;
use crate::state::States;

/// The dispatcher, which runs the tools of a catalog.
///
/// Each call passes the same stages: the name is resolved, the arguments are validated against the input schema, the
/// function or backend runs, and its result is validated against the output schema. Clones share all state.
///
/// ```standalone_crate
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

impl Dispatcher {
    /// Returns the catalog.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.shared.catalog
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
