//! Configuration of a dispatcher.

#[cfg(feature = "tower")]
mod layer;
mod policy;
mod state;

use std::fmt;
use std::sync::Arc;

use super::check::{check, duplicate_states};
use super::dispatcher::{Dispatcher, Shared};
#[cfg(feature = "tower")]
use super::layer::Wrap;
use super::policy::Policy;
use crate::backend::{Routes, Selector};
use crate::call::permit::Limiter;
use crate::catalog::{Catalog, Diagnostics, Instances};
use crate::state::States;
use crate::tool::{Tool, ToolBackend};

/// A builder of a [`Dispatcher`].
///
/// ```standalone_crate
/// use std::time::Duration;
///
/// use toolkit::{Dispatcher, catalog, tool};
///
/// struct Greeting(&'static str);
///
/// /// Greets a person.
/// #[tool]
/// fn greet(name: String, greeting: &Greeting) -> String {
///     format!("{}, {name}!", greeting.0)
/// }
///
/// let dispatcher = Dispatcher::builder(catalog![greet]?)
///     .state(Greeting("Hello"))
///     .timeout(Duration::from_secs(30))
///     .concurrency(100)
///     .build()?;
/// assert_eq!(dispatcher.call_sync("greet", r#"{"name": "Ada"}"#)?.value(), "Hello, Ada!");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct DispatcherBuilder {
    catalog: Catalog,
    routes: Routes,
    selector: Option<Arc<Selector>>,
    states: States,
    instances: Instances,
    policy: Policy,
    limiter: Limiter,
    #[cfg(feature = "tower")]
    layers: Vec<Wrap>,
}

impl Dispatcher {
    /// Creates a dispatcher for tools without injected state.
    ///
    /// # Errors
    ///
    /// Returns a diagnostic for every tool that borrows state; see [`Dispatcher::builder`].
    pub fn new(catalog: Catalog) -> Result<Self, Diagnostics> {
        Self::builder(catalog).build()
    }

    /// Creates a builder, which sets state, limits and policies.
    pub fn builder(catalog: Catalog) -> DispatcherBuilder {
        DispatcherBuilder::new(catalog)
    }

    /// Creates a dispatcher for another catalog that shares the state, limits, policies and layers of this one. The
    /// limits apply to the calls of both together. This dispatcher and its calls are not affected.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`DispatcherBuilder::build`].
    ///
    /// # Examples
    ///
    /// A host replaces its dispatcher when the tools of its backends change:
    ///
    /// ```standalone_crate
    /// use toolkit::backend::Routes;
    /// use toolkit::{Catalog, Dispatcher, catalog, tool};
    ///
    /// struct Greeting(&'static str);
    ///
    /// /// Greets a person.
    /// #[tool]
    /// fn greet(name: String, greeting: &Greeting) -> String {
    ///     format!("{}, {name}!", greeting.0)
    /// }
    ///
    /// let without_tools = Dispatcher::builder(Catalog::new([])?).state(Greeting("Hello")).build();
    /// let dispatcher = without_tools?.with_catalog(catalog![greet]?, Routes::default())?;
    /// assert_eq!(dispatcher.call_sync("greet", r#"{"name": "Ada"}"#)?.value(), "Hello, Ada!");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_catalog(&self, catalog: Catalog, routes: Routes) -> Result<Self, Diagnostics> {
        check(&catalog, &self.shared.states, &self.shared.limiter)?;
        let Shared { selector, states, policy, limiter, .. } = &*self.shared;
        let shared = Shared {
            catalog,
            routes,
            selector: selector.clone(),
            states: Arc::clone(states),
            policy: *policy,
            limiter: limiter.clone(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            names: self.names.clone(),
            #[cfg(feature = "tower")]
            layered: self.layered.clone(),
        })
    }
}

impl DispatcherBuilder {
    fn new(catalog: Catalog) -> Self {
        Self {
            catalog,
            routes: Routes::default(),
            selector: None,
            states: States::default(),
            instances: Instances::new(),
            policy: Policy::default(),
            limiter: Limiter::default(),
            #[cfg(feature = "tower")]
            layers: Vec::new(),
        }
    }

    /// Sets the backends that run the tools which are not functions of this program; see
    /// [`Backends::collect`](crate::backend::Backends::collect).
    pub fn routes(mut self, routes: Routes) -> Self {
        self.routes = routes;
        self
    }

    /// Sets the selector of a tool with several backends. It returns an index into the list, or `None` to reject the
    /// call.
    ///
    /// By default the closest backend is selected: a function of this program, then backends in the order of
    /// [`BackendKind`](crate::tool::BackendKind), and of one kind the first registered. The list contains only enabled
    /// backends.
    ///
    /// ```standalone_crate
    /// use toolkit::{Dispatcher, Tool, catalog, tool};
    ///
    /// /// Returns the time.
    /// #[tool]
    /// fn now() -> u64 {
    ///     7
    /// }
    ///
    /// let dispatcher = Dispatcher::builder(catalog![now]?).select(|_: &Tool, backends| backends.len().checked_sub(1)).build()?;
    /// assert_eq!(dispatcher.call_sync("now", "{}")?.value(), 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn select(
        mut self,
        selector: impl Fn(&Tool, &[&ToolBackend]) -> Option<usize> + Send + Sync + 'static,
    ) -> Self {
        self.selector = Some(Arc::new(selector));
        self
    }

    /// Builds the dispatcher.
    ///
    /// # Errors
    ///
    /// Returns every defect: missing state, two values of one type, an instance without tools or in a namespace that
    /// is taken, tools that need a disabled feature, and a concurrency limit of zero.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use toolkit::{Dispatcher, catalog, tool};
    ///
    /// struct Database;
    ///
    /// /// Counts the rows of a table.
    /// #[tool]
    /// fn count(table: String, _db: &Database) -> usize {
    ///     table.len()
    /// }
    ///
    /// let diagnostics = Dispatcher::builder(catalog![count]?).build().unwrap_err();
    /// assert!(diagnostics.to_string().contains("Database"), "{diagnostics}");
    /// assert!(Dispatcher::builder(catalog![count]?).state(Database).build().is_ok());
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    pub fn build(self) -> Result<Dispatcher, Diagnostics> {
        let duplicates = duplicate_states(&self.catalog, &self.states);
        let catalog = match self.instances.is_empty() {
            true => Ok(self.catalog),
            false => self.catalog.with_instances_beside(self.instances, &self.states),
        };
        let catalog = match (catalog, Diagnostics::none_or(duplicates)) {
            (Ok(catalog), Ok(())) => catalog,
            (Err(diagnostics), Ok(())) | (Ok(_), Err(diagnostics)) => return Err(diagnostics),
            (Err(first), Err(second)) => return Err(first.and(second)),
        };
        check(&catalog, &self.states, &self.limiter)?;
        let dispatcher = Dispatcher {
            shared: Arc::new(Shared {
                catalog,
                routes: self.routes,
                selector: self.selector,
                states: Arc::new(self.states),
                policy: self.policy,
                limiter: self.limiter,
            }),
            names: None,
            #[cfg(feature = "tower")]
            layered: None,
        };
        #[cfg(feature = "tower")]
        let dispatcher = dispatcher.wrapped_by(self.layers);
        Ok(dispatcher)
    }
}

impl fmt::Debug for DispatcherBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DispatcherBuilder")
            .field("catalog", &self.catalog)
            .field("routes", &self.routes)
            .field("states", &self.states)
            .field("instances", &self.instances)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
