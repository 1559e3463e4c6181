//! What a dispatcher is given before it runs anything.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::policy::Policy;
use super::{Dispatcher, Run, Shared, missing};
use crate::backend::{Routes, Selector};
use crate::call::Coercion;
use crate::call::permit::Limiter;
use crate::catalog::{Catalog, Diagnostic, DiagnosticKind, Diagnostics, Instances};
use crate::state::States;
use crate::tool::entry::Entry;
use crate::tool::{Tool, ToolBackend};

/// Sets up a [`Dispatcher`].
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
    pub(super) layers: Vec<super::layer::Wrap>,
}

/// As much as a model ever sends, with room; a host that expects more says so.
const MAX_ARGUMENT_BYTES: usize = 16 << 20;

/// More than any model reads, and little enough for a server to hold several.
const MAX_RESULT_BYTES: usize = 16 << 20;

/// Longer than a model waits for a tool, and short enough to be noticed.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(60);

impl Dispatcher {
    /// A dispatcher for tools that borrow nothing from their host.
    ///
    /// # Errors
    ///
    /// Every tool that borrows something; see [`Dispatcher::builder`].
    pub fn new(catalog: Catalog) -> Result<Self, Diagnostics> {
        Self::builder(catalog).build()
    }

    /// A dispatcher that is given state, limits and policies.
    pub fn builder(catalog: Catalog) -> DispatcherBuilder {
        DispatcherBuilder::new(catalog)
    }

    /// A dispatcher for other tools, and for the same host: the state, the limits, the policies and the layers of this
    /// one hold for both together. This one stays as it is, and so do its calls.
    ///
    /// # Errors
    ///
    /// As for [`DispatcherBuilder::build`].
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
            #[cfg(feature = "tower")]
            layered: self.layered.clone(),
        })
    }
}

impl DispatcherBuilder {
    pub(super) fn new(catalog: Catalog) -> Self {
        Self {
            catalog,
            routes: Routes::default(),
            selector: None,
            states: States::default(),
            instances: Instances::new(),
            policy: Policy {
                validate_input: true,
                validate_output: true,
                coercion: Coercion::default(),
                max_argument_bytes: MAX_ARGUMENT_BYTES,
                max_result_bytes: MAX_RESULT_BYTES,
                timeout: None,
                acquire_timeout: ACQUIRE_TIMEOUT,
            },
            limiter: Limiter::default(),
            #[cfg(feature = "tower")]
            layers: Vec::new(),
        }
    }

    /// Adds state for the tools that borrow a `&T`. The `self` of a `#[toolset]` is such state.
    ///
    /// Two values of one type are an error of [`DispatcherBuilder::build`]; several instances of one toolset are added
    /// with [`DispatcherBuilder::instance`]. An `Arc<T>` that the host keeps a clone of goes to
    /// [`DispatcherBuilder::shared_state`].
    #[track_caller]
    pub fn state<T: Send + Sync + 'static>(self, state: T) -> Self {
        self.shared_state(Arc::new(state))
    }

    /// Adds state that the host keeps a reference to, or that is a `dyn Trait`, for the tools that borrow a `&T`.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use toolkit::{Catalog, Dispatcher, tool};
    ///
    /// trait Clock: Send + Sync {
    ///     fn now(&self) -> u64;
    /// }
    ///
    /// struct Stopped;
    /// impl Clock for Stopped {
    ///     fn now(&self) -> u64 {
    ///         7
    ///     }
    /// }
    ///
    /// /// Returns the time.
    /// #[tool]
    /// fn time(clock: &dyn Clock) -> u64 {
    ///     clock.now()
    /// }
    ///
    /// let clock: Arc<dyn Clock> = Arc::new(Stopped);
    /// let dispatcher = Dispatcher::builder(Catalog::linked()?).shared_state(clock).build()?;
    /// assert_eq!(dispatcher.call_sync("time", "{}")?.value(), 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn shared_state<T: ?Sized + Send + Sync + 'static>(mut self, state: Arc<T>) -> Self {
        self.states.insert(state, Location::caller());
        self
    }

    /// Adds an instance of a toolset: its tools answer in `namespace` too, and borrow `state` there.
    ///
    /// With instances alone, the tools leave the namespace that their author gave them; with
    /// [`DispatcherBuilder::state`] for the same type, they stay there as well. [`Dispatcher::catalog`] has the tools
    /// under their new ids. [`Instances`] does the same for a catalog that is not called.
    ///
    /// ```
    /// use toolkit::{Catalog, Dispatcher, toolset};
    ///
    /// struct Tracker { site: &'static str }
    ///
    /// #[toolset(namespace = "tracker")]
    /// impl Tracker {
    ///     /// Returns the address of an issue.
    ///     #[tool(read_only)]
    ///     fn address(&self, issue: u32) -> String {
    ///         format!("{}/issues/{issue}", self.site)
    ///     }
    /// }
    ///
    /// let dispatcher = Dispatcher::builder(Catalog::linked()?)
    ///     .instance("tracker_eu", Tracker { site: "https://eu.example.com" })
    ///     .instance("tracker_us", Tracker { site: "https://us.example.com" })
    ///     .build()?;
    /// let result = dispatcher.call_sync("tracker_eu:address", r#"{"issue": 7}"#)?;
    /// assert_eq!(result.value(), "https://eu.example.com/issues/7");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn instance<T: Send + Sync + 'static>(self, namespace: impl Into<String>, state: T) -> Self {
        self.shared_instance(namespace, Arc::new(state))
    }

    /// Adds an instance that the host keeps a reference to, or that is a `dyn Trait`; see
    /// [`DispatcherBuilder::instance`].
    #[track_caller]
    pub fn shared_instance<T: ?Sized + Send + Sync + 'static>(
        mut self,
        namespace: impl Into<String>,
        state: Arc<T>,
    ) -> Self {
        self.instances = self.instances.with_shared(namespace, state);
        self
    }

    /// Says which backends run the tools that are no functions of this program; see
    /// [`Backends::collect`](crate::backend::Backends::collect).
    pub fn routes(mut self, routes: Routes) -> Self {
        self.routes = routes;
        self
    }

    /// Picks, by its place in the list, what runs a tool that several things could run; `None` refuses the call.
    ///
    /// By default it is the nearest: a function of this program, then backends in the order of
    /// [`BackendKind`](crate::tool::BackendKind), of one kind the one that was registered first. Backends that are
    /// switched off are not in the list.
    pub fn select(
        mut self,
        selector: impl Fn(&Tool, &[&ToolBackend]) -> Option<usize> + Send + Sync + 'static,
    ) -> Self {
        self.selector = Some(Arc::new(selector));
        self
    }

    /// Sets the timeout of calls whose tool sets none. No timeout by default.
    ///
    /// A timeout is measured in real time by a thread of this crate, so it works on any executor. A synchronous tool
    /// cannot be stopped before it returns; one that takes long is marked `blocking`.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.policy.timeout = Some(limit);
        self
    }

    /// Limits how many calls run at once. Further calls wait for a permit, up to the
    /// [`acquire_timeout`](Self::acquire_timeout); [`Dispatcher::call_sync`] does not wait and fails. No limit by
    /// default, and a limit of zero is an error of [`build`](Self::build).
    ///
    /// A call that a tool makes runs under the permit of that tool, so that it cannot wait for its caller: a call with
    /// the tool's [`Context`](crate::Context) from any task or thread, and a call with any context from the tool's own
    /// future or function. A task or thread that a tool spawns should therefore be given the context; without it, its
    /// calls need permits of their own.
    ///
    /// A permit is returned once the call has ended, and with it every call made under the permit. A `blocking` tool
    /// that has run into its timeout keeps the permit until its function returns.
    pub fn concurrency(mut self, n_calls: usize) -> Self {
        self.limiter = Limiter::new(n_calls);
        self
    }

    /// Sets how long a call waits for a permit before it fails with
    /// [`ErrorKind::Overloaded`](crate::call::ErrorKind::Overloaded): 60 seconds by default. The timeout of the call
    /// includes this wait.
    pub fn acquire_timeout(mut self, timeout: Duration) -> Self {
        self.policy.acquire_timeout = timeout;
        self
    }

    /// How many bytes of arguments are looked at; 16 MiB by default.
    pub fn max_argument_bytes(mut self, n_bytes: usize) -> Self {
        self.policy.max_argument_bytes = n_bytes;
        self
    }

    /// Sets the size of a result, in bytes of JSON and of content each: 16 MiB by default. Writing stops there, and the call
    /// fails with an error that names the limit.
    pub fn max_result_bytes(mut self, n_bytes: usize) -> Self {
        self.policy.max_result_bytes = n_bytes;
        self
    }

    /// How far to go to meet arguments that the schema refuses.
    pub fn coercion(mut self, coercion: Coercion) -> Self {
        self.policy.coercion = coercion;
        self
    }

    /// Whether arguments are checked against the input schema; they are by default.
    pub fn validate_input(mut self, check: bool) -> Self {
        self.policy.validate_input = check;
        self
    }

    /// Whether results are checked against the output schema; they are by default.
    pub fn validate_output(mut self, check: bool) -> Self {
        self.policy.validate_output = check;
        self
    }

    /// Builds the dispatcher.
    ///
    /// # Errors
    ///
    /// Every problem at once: state that tools borrow and the host has not passed, two values of one type, an instance
    /// without tools or in a namespace that is taken, tools that need a feature which is switched off, and a concurrency
    /// limit of zero.
    pub fn build(self) -> Result<Dispatcher, Diagnostics> {
        let duplicates = missing::duplicate_states(&self.catalog, &self.states);
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

/// Checks that a host with these states and this limit can run these tools.
pub(super) fn check(catalog: &Catalog, states: &States, limiter: &Limiter) -> Result<(), Diagnostics> {
    let mut diagnostics = missing::missing_states(catalog, states);
    if limiter.is_zero() {
        let message = "the concurrency limit is 0, so that no call could ever run; it must be at least 1";
        diagnostics.push(Diagnostic::new(DiagnosticKind::InvalidSetting, message, []));
    }
    if cfg!(not(feature = "async")) {
        let needs = |tool: &&Tool| {
            let blocks = |entry: &Entry| matches!(Run::of(entry), Run::Blocking(_));
            tool.timeout().is_some() || tool.entry().is_some_and(blocks)
        };
        diagnostics.extend(catalog.iter().filter(needs).map(|tool| {
            let message = "`timeout` and `blocking` need the feature `async` of `toolkit`";
            Diagnostic::new(DiagnosticKind::MissingFeature, message, [tool])
        }));
    }
    Diagnostics::none_or(diagnostics)
}
