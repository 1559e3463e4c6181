//! The record of a dispatcher.

use std::fmt;
use std::sync::Arc;

#[cfg(feature = "tower")]
use super::layer::ToolService;
use super::policy::Policy;
use crate::backend::{Routes, Selector};
use crate::call::permit::Limiter;
use crate::call::{Coercion, ToolError};
use crate::catalog::{Catalog, ExportedNames};
use crate::state::States;
use crate::tool::Tool;

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

impl Dispatcher {
    /// Returns the catalog.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.shared.catalog
    }

    /// Returns true if the tool calls other tools, according to its
    /// [backend](crate::backend::Backend::calls_tools). A server then prepares the contexts of these calls.
    #[must_use]
    pub fn calls_tools(&self, tool: &Tool) -> bool {
        self.shared.routes.call_tools(tool.id())
    }

    /// Returns the changes that the dispatcher may make to arguments.
    #[must_use]
    pub fn coercion(&self) -> Coercion {
        self.shared.policy.coercion
    }

    /// Returns a dispatcher that accepts the names of an export: a model uses them in its calls, and in the chains that
    /// it writes. Ids are accepted as well, but only those of exported tools.
    ///
    /// ```standalone_crate
    /// use toolkit::catalog::{ExportedNames, Naming, WireNames};
    /// use toolkit::{Dispatcher, catalog, tool};
    ///
    /// /// Adds two numbers.
    /// #[tool(namespace = "math")]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let dispatcher = Dispatcher::new(catalog![add]?)?;
    /// let names = ExportedNames::from(&WireNames::new(dispatcher.catalog(), Naming::NamespaceName)?);
    /// let exported = dispatcher.with_names(names);
    /// assert_eq!(exported.call_sync("math_add", r#"{"a": 1, "b": 2}"#)?.value(), 3);
    /// assert!(dispatcher.call_sync("math_add", r#"{"a": 1, "b": 2}"#).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_names(&self, names: ExportedNames) -> Self {
        Self { names: Some(names), ..self.clone() }
    }

    /// Returns the tool that a name refers to.
    #[inline]
    pub(crate) fn resolve(&self, name: &str) -> Result<&Tool, ToolError> {
        match &self.names {
            None => self.shared.catalog.resolve(name),
            Some(names) => self.resolve_exported(names, name),
        }
    }

    #[cold]
    fn resolve_exported(&self, names: &ExportedNames, name: &str) -> Result<&Tool, ToolError> {
        let id = names.resolve(name)?.id();
        self.shared.catalog.with_id(id).ok_or_else(|| names.unknown(name))
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
