//! Configuration of a dispatcher, and the checks that the tools of a catalog can run with it: their state, and the limits and
//! features that they need.

use std::collections::{BTreeMap, HashMap};
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "tower")]
use tower_layer::Layer;
#[cfg(feature = "tower")]
use tower_service::Service;

use super::call_state::CallStates;
use super::function::Run;
#[cfg(feature = "tower")]
use super::layer::{Call, ToolService, Wrap};
#[cfg(feature = "tower")]
use super::pipeline::layered;
use super::shared::{Dispatcher, Policy, Shared};
use crate::backend::{Routes, Selector};
use crate::call::permit::Limiter;
#[cfg(feature = "tower")]
use crate::call::{BoxError, RunResult};
use crate::call::{Coercion, Context, ToolError};
use crate::catalog::{Catalog, Diagnostic, DiagnosticKind, Diagnostics, Instances, namespaces_with};
use crate::state::{StateType, States};
use crate::tool::entry::Entry;
use crate::tool::shared_types::build_schemas;
use crate::tool::{Tool, ToolBackend};

/// A builder of a [`Dispatcher`].
///
/// ```
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
    call_states: CallStates,
    instances: Instances,
    policy: Policy,
    limiter: Limiter,
    #[cfg(feature = "tower")]
    layers: Vec<Wrap>,
}

impl DispatcherBuilder {
    pub(super) fn new(catalog: Catalog) -> Self {
        Self {
            catalog,
            routes: Routes::default(),
            selector: None,
            states: States::default(),
            call_states: CallStates::default(),
            instances: Instances::new(),
            policy: Policy::default(),
            limiter: Limiter::default(),
            #[cfg(feature = "tower")]
            layers: Vec::new(),
        }
    }

    /// Sets the backends that run the tools which are not functions of this program; see
    /// [`Routes`].
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
    /// ```
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

    /// Adds state for tools with a parameter `&T`, including the `self` of a `#[toolset]`.
    ///
    /// Two values of one type are an error of [`DispatcherBuilder::build`]. Use [`DispatcherBuilder::instance`] for
    /// several instances of a toolset, and [`DispatcherBuilder::shared_state`] for an `Arc<T>`.
    #[track_caller]
    pub fn state<T: Send + Sync + 'static>(self, state: T) -> Self {
        self.shared_state(Arc::new(state))
    }

    /// Adds state that is computed for each call of a tool with a parameter `&T`, before the tool runs.
    ///
    /// `compute` receives the context of the call, with the credentials that the tool requires. Its error is that of the
    /// call. It must not block. In a test, [`state`](Self::state) provides the value instead.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use toolkit::{Catalog, Context, Dispatcher, ToolError, tool};
    ///
    /// struct Tenant(String);
    ///
    /// struct User {
    ///     tenant: String,
    /// }
    ///
    /// /// Returns the tenant of the caller.
    /// #[tool]
    /// fn tenant(user: &User) -> String {
    ///     user.tenant.clone()
    /// }
    ///
    /// let user = |context: &Context| match context.get::<Tenant>() {
    ///     Some(tenant) => Ok(User { tenant: tenant.0.clone() }),
    ///     None => Err(ToolError::failed("log in first")),
    /// };
    /// let dispatcher = Dispatcher::builder(Catalog::linked()?).state_per_call(user).build()?;
    /// let context = Context::new().with(Tenant("acme".to_owned()));
    /// assert_eq!(dispatcher.call_sync_with(&context, "tenant", "{}")?.value(), "acme");
    /// assert_eq!(dispatcher.call_sync("tenant", "{}").unwrap_err().message(), "log in first");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn state_per_call<T: Send + Sync + 'static>(
        mut self,
        compute: impl Fn(&Context) -> Result<T, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.states.declare::<T>(Location::caller());
        self.call_states.insert(compute);
        self
    }

    /// Adds shared state, such as an `Arc<dyn Trait>`, for tools with a parameter `&T`.
    ///
    /// ```standalone_crate
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

    /// Adds an instance of a toolset: its tools are also available in `namespace`, where they borrow `state`.
    ///
    /// If there are only instances, the tools are no longer available in the namespace of the toolset; with
    /// [`DispatcherBuilder::state`] for the same type, they are. [`Dispatcher::catalog`](crate::Dispatcher::catalog)
    /// lists the tools under their new ids. [`Instances`] does the same for a catalog
    /// without a dispatcher.
    ///
    /// ```standalone_crate
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

    /// Adds a shared instance, such as an `Arc<dyn Trait>`; see [`DispatcherBuilder::instance`].
    #[track_caller]
    pub fn shared_instance<T: ?Sized + Send + Sync + 'static>(
        mut self,
        namespace: impl Into<String>,
        state: Arc<T>,
    ) -> Self {
        self.instances = self.instances.with_shared(namespace, state);
        self
    }

    /// Sets the default timeout of a call, which applies to tools without a timeout. No timeout by default.
    ///
    /// A thread of this crate measures real time, so timeouts work on any executor. A synchronous tool cannot be
    /// stopped before it returns; mark a slow one `blocking`.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use toolkit::call::ErrorKind;
    /// use toolkit::dispatch::sleep;
    /// use toolkit::{Dispatcher, ToolError, catalog, tool};
    ///
    /// /// Waits for an hour.
    /// #[tool]
    /// async fn wait() -> Result<(), ToolError> {
    ///     sleep(Duration::from_secs(3600)).await
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let dispatcher = Dispatcher::builder(catalog![wait]?).timeout(Duration::from_millis(10)).build()?;
    /// assert_eq!(dispatcher.call("wait", "{}").await.unwrap_err().kind(), ErrorKind::TimedOut);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.policy.timeout = Some(limit);
        self
    }

    /// Sets the number of calls that run at the same time. Further calls wait for a permit, up to the
    /// [`acquire_timeout`](Self::acquire_timeout); [`Dispatcher::call_sync`](crate::Dispatcher::call_sync) does not
    /// wait and fails. No limit by default, and a limit of zero is an error of [`build`](Self::build).
    ///
    /// A call that a tool makes runs under the permit of that tool, so that it cannot wait for its caller. This
    /// includes calls with the tool's [`Context`](crate::Context) from any task or thread, and calls with any context
    /// from the tool's own future or function. A tool should pass its context to tasks and threads that it spawns;
    /// otherwise their calls need permits of their own.
    ///
    /// A permit is released when the call and every call made under the permit have ended. A `blocking` tool that
    /// exceeds its timeout holds its permit until the function returns.
    pub fn concurrency(mut self, n_calls: usize) -> Self {
        self.limiter = Limiter::new(n_calls);
        self
    }

    /// Sets the time that a call waits for a permit before it fails with
    /// [`ErrorKind::Overloaded`](crate::call::ErrorKind::Overloaded). The default is 60 seconds. The timeout of the
    /// call includes this wait.
    pub fn acquire_timeout(mut self, timeout: Duration) -> Self {
        self.policy.acquire_timeout = timeout;
        self
    }

    /// Sets the maximum size of the arguments in bytes of JSON. The default is 16 MiB.
    pub fn max_argument_bytes(mut self, n_bytes: usize) -> Self {
        self.policy.max_argument_bytes = n_bytes;
        self
    }

    /// Sets the maximum size of a result, in bytes of JSON and of content each. The default is 16 MiB. Serialization
    /// stops at the limit, and the call fails with an error that contains it.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::call::ErrorKind;
    /// use toolkit::{Dispatcher, catalog, tool};
    ///
    /// /// Repeats a text.
    /// #[tool]
    /// fn repeat(text: String, times: usize) -> String {
    ///     text.repeat(times)
    /// }
    ///
    /// let dispatcher = Dispatcher::builder(catalog![repeat]?).max_result_bytes(100).build()?;
    /// let error = dispatcher.call_sync("repeat", r#"{"text": "ab", "times": 1000}"#).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::ResultTooLarge);
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    pub fn max_result_bytes(mut self, n_bytes: usize) -> Self {
        self.policy.max_result_bytes = n_bytes;
        self
    }

    /// Sets the coercion of arguments that do not match the input schema, of all calls, including those of servers and
    /// replies. By default, it is [`Coercion::NullAsAbsent`] for calls of this program, and [`Coercion::Lossless`] for
    /// those of models; see [`Dispatcher::with_default_coercion`](crate::Dispatcher::with_default_coercion).
    pub fn coercion(mut self, coercion: Coercion) -> Self {
        self.policy.coercion = Some(coercion);
        self
    }

    /// Sets whether arguments are validated against the input schema. The default is `true`.
    pub fn validate_input(mut self, check: bool) -> Self {
        self.policy.validate_input = check;
        self
    }

    /// Sets whether results are validated against the output schema. The default is `true`.
    pub fn validate_output(mut self, check: bool) -> Self {
        self.policy.validate_output = check;
        self
    }

    #[cfg(feature = "tower")]
    /// Adds a layer around every call with JSON arguments. The first layer added is the outermost.
    ///
    /// A layer receives a call after its tool is resolved. An error other than [`ToolError`](crate::ToolError) is
    /// masked like any unexpected error. Calls without a runtime are rejected, because layers are asynchronous. A
    /// [`Handle`](crate::Handle), which calls a function with Rust types, bypasses the layers.
    pub fn layer<L>(mut self, layer: L) -> Self
    where
        L: Layer<ToolService> + Send + 'static,
        L::Service: Service<Call, Response = RunResult> + Clone + Send + Sync + 'static,
        <L::Service as Service<Call>>::Future: Send,
        <L::Service as Service<Call>>::Error: Into<BoxError>,
    {
        self.layers.push(Box::new(|inner| inner.wrapped_by(layer)));
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
    /// ```
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
        Ok(Dispatcher {
            shared: Arc::new(Shared {
                catalog,
                routes: self.routes,
                selector: self.selector,
                states: Arc::new(self.states),
                call_states: Arc::new(self.call_states),
                policy: self.policy,
                limiter: self.limiter,
            }),
            names: None,
            default_coercion: Coercion::default(),
            #[cfg(feature = "tower")]
            layered: layered(self.layers),
        })
    }
}

crate::debug_fields!(DispatcherBuilder { catalog, routes, states, instances, policy });

/// Checks that these tools can run with these states and this limit.
pub(super) fn check(catalog: &Catalog, states: &States, limiter: &Limiter) -> Result<(), Diagnostics> {
    let mut diagnostics = missing_states(catalog, states);
    if limiter.is_zero() {
        let message = "the concurrency limit is 0, so no call could run; it must be at least 1";
        diagnostics.push(Diagnostic::new(DiagnosticKind::InvalidSetting, message, []));
    }
    if cfg!(not(feature = "async")) {
        let needs = |tool: &&Tool| {
            let blocks = |entry: &Entry| matches!(Run::from_entry(entry), Run::Blocking(_));
            tool.timeout().is_some() || tool.entry().is_some_and(blocks)
        };
        diagnostics.extend(catalog.records().filter(needs).map(|tool| {
            let message = "`timeout` and `blocking` need the feature `async` of `toolkit-core`";
            Diagnostic::new(DiagnosticKind::MissingFeature, message, [tool])
        }));
    }
    // This generates all schemas, which a build with the feature leaves to the first call of each tool. Schemas of other
    // programs are listed as they are.
    if cfg!(not(feature = "jsonschema")) {
        let mut built = HashMap::new();
        for tool in catalog.records().filter(|tool| tool.entry().is_some()) {
            build_schemas(tool, &mut built);
            let schemas = [("input", Some(tool.input())), ("output", tool.output())];
            let missing = schemas.into_iter().filter_map(|(which, schema)| Some((which, schema?.missing_feature()?)));
            diagnostics.extend(missing.map(|(which, missing)| {
                Diagnostic::new(DiagnosticKind::MissingFeature, format!("the {which} schema: {missing}"), [tool])
            }));
        }
    }
    Diagnostics::none_or(diagnostics)
}

/// Returns one diagnostic for each missing type, with all tools that borrow it.
fn missing_states(catalog: &Catalog, states: &States) -> Vec<Diagnostic> {
    let mut missing: BTreeMap<&str, (StateType, Vec<&Tool>)> = BTreeMap::new();
    for tool in catalog.records() {
        let own = tool.instance().map(|instance| &instance.states);
        for state in state_types(tool) {
            if !states.has(&state) && !own.is_some_and(|own| own.has(&state)) {
                missing.entry(state.info().name).or_insert_with(|| (state, Vec::new())).1.push(tool);
            }
        }
    }
    let diagnostic = |(name, (state, tools)): (&str, (StateType, Vec<&Tool>))| {
        let advice = advice(catalog, states, state);
        let message = format!("missing state of type `{name}`, which tools borrow; {advice}");
        Diagnostic::new(DiagnosticKind::MissingState, message, tools)
    };
    missing.into_iter().map(diagnostic).collect()
}

fn state_types(tool: &Tool) -> impl Iterator<Item = StateType> {
    tool.entry().into_iter().flat_map(|entry| entry.states).flatten().copied()
}

/// Returns a suggestion for providing the type.
fn advice(catalog: &Catalog, states: &States, wanted: StateType) -> String {
    let wanted = wanted.info();
    let name = wanted.name;
    if let Some(there) = states.location_of(wanted.arc) {
        return format!("pass the `Arc<{name}>` of {there} with `shared_state(arc)` instead of `state(arc)`");
    }
    if let Some(there) = states.location_of(wanted.boxed) {
        return format!(
            "pass the `Box<{name}>` of {there} with `shared_state(Arc::<{name}>::from(boxed))` instead of `state(boxed)`"
        );
    }
    if let Some((inner, inner_name)) = wanted.inner
        && let Some(there) = states.location_of(inner)
    {
        return format!("borrow the `{inner_name}` of {there} as `&{inner_name}`, without the `Arc`");
    }
    let instances = namespaces_with(catalog, wanted.id);
    if !instances.is_empty() {
        return format!(
            "the instances `{}` have one; add one to the instances of these tools, or provide one for all with \
             `DispatcherBuilder::state`",
            instances.join("`, `")
        );
    }
    match wanted.is_unsized {
        true => format!("provide it with `DispatcherBuilder::shared_state`, as an `Arc<{name}>`"),
        false => "provide it with `DispatcherBuilder::state`".to_owned(),
    }
}

/// Returns one diagnostic for each type of which the host provided two values.
pub(super) fn duplicate_states(catalog: &Catalog, states: &States) -> Vec<Diagnostic> {
    let diagnostic = |duplicate: &crate::state::Duplicate| {
        let [first, second] = duplicate.locations;
        let message = format!(
            "two values of state of type `{}`, at {first} and at {second}; tools borrow one value of each type. For \
             several instances of a toolset, put each into its own namespace with `DispatcherBuilder::instance`",
            duplicate.type_name
        );
        let tools = catalog.records().filter(|tool| state_types(tool).any(|state| state.info().id == duplicate.id));
        Diagnostic::new(DiagnosticKind::DuplicateState, message, tools)
    };
    states.duplicates.iter().map(diagnostic).collect()
}
