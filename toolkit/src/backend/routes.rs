//! The table of backends for each tool.

use std::collections::HashMap;
use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{self, Poll, Waker};

use super::Backend;
#[cfg(feature = "tower")]
use super::status::HeldBackend;
use super::status::{BackendCalls, Counters};
use crate::call::{Context, Credentials, ErrorKind, ToolError};
use crate::catalog::Catalog;
use crate::prompt::{Completion, CompletionRequest};
use crate::tool::{NameError, Namespace, Tool, ToolBackend, ToolId};

/// A backend in a table of [`Routes`], which can be disabled and counts its calls.
///
/// Dispatchers that were built from the table share it: when it is disabled, none of them calls the backend.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use toolkit::backend::{Backend, BackendCall, BackendResponse, OfferedTools, RoutedBackend, Routes};
/// use toolkit::call::{BoxFuture, ErrorKind};
/// use toolkit::tool::{BackendKind, ToolBackend};
/// use toolkit::{Catalog, Dispatcher, Tool, ToolError};
///
/// struct Clock;
///
/// impl Backend for Clock {
///     # fn name(&self) -> &str {
///     #     "clock"
///     # }
///     # fn kind(&self) -> BackendKind {
///     #     BackendKind::Local
///     # }
///     # fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
///     #     Box::pin(async { Ok(OfferedTools::default()) })
///     # }
///     # fn call<'a>(&'a self, _: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
///     #     Box::pin(async { Ok(serde_json::json!(12).into()) })
///     # }
///     // …
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let clock = Arc::new(RoutedBackend::new(Clock)?);
/// let hour = Tool::builder("hour").namespace("clock").build()?;
/// let mut routes = Routes::default();
/// routes.add(hour.id().clone(), Arc::clone(&clock), ToolBackend::local("hour")?);
/// let dispatcher = Dispatcher::builder(Catalog::new([hour])?).routes(routes).build()?;
/// assert_eq!(dispatcher.call("clock:hour", "{}").await?.value(), 12);
/// assert_eq!(clock.calls().n_ended, 1);
///
/// clock.set_enabled(false);
/// assert_eq!(dispatcher.call("clock:hour", "{}").await.unwrap_err().kind(), ErrorKind::Unavailable);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RoutedBackend {
    backend: Box<dyn Backend>,
    /// The name at the time of registration, in case [`Backend::name`] changes.
    name: Namespace,
    is_enabled: Arc<AtomicBool>,
    pub(crate) calls: Arc<Counters>,
}

impl RoutedBackend {
    /// Creates an enabled backend without calls.
    ///
    /// # Errors
    ///
    /// Returns an error if the name of the backend is not a valid namespace.
    pub fn new(backend: impl Backend) -> Result<Self, NameError> {
        Ok(Self {
            name: Namespace::new(backend.name().to_owned())?,
            is_enabled: Arc::new(AtomicBool::new(true)),
            calls: Arc::default(),
            backend: Box::new(backend),
        })
    }

    /// Returns the name of the backend, which is also the namespace of its tools that have none.
    #[must_use]
    pub fn name(&self) -> &Namespace {
        &self.name
    }

    /// Returns the backend.
    #[must_use]
    pub fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    /// Returns true if dispatchers call the backend.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.is_enabled.load(Ordering::Acquire)
    }

    /// Enables or disables the backend, and returns true if that is a change. Running calls continue.
    pub fn set_enabled(&self, on: bool) -> bool {
        self.is_enabled.swap(on, Ordering::AcqRel) != on
    }

    /// Returns the counts of the calls.
    #[must_use]
    pub fn calls(&self) -> BackendCalls {
        self.calls.snapshot()
    }

    /// Keeps the backend from being [idle](Self::idle) until the guard is dropped, such as for a request that is not a
    /// call.
    #[must_use = "the backend may be idle when the guard is dropped"]
    pub fn hold(&self) -> impl Send + Sync + '_ {
        self.calls.hold()
    }

    /// Waits until no call is running and nothing else holds the backend.
    pub async fn idle(&self) {
        self.calls.idle().await;
    }

    /// Returns values for an argument of a prompt or a resource template of the backend, which does not receive the
    /// credentials of the caller.
    ///
    /// # Errors
    ///
    /// Returns the error of the backend.
    pub async fn complete(&self, request: &CompletionRequest, context: &Context) -> Result<Completion, ToolError> {
        let _held = self.hold();
        self.backend.complete(request, &context.clone().with_credentials(Credentials::new())).await
    }

    /// Returns this backend with [fewer tools](Backend::restricted_to) to call, which counts its calls here and is disabled
    /// with this one.
    fn restricted_to(&self, catalog: &Catalog, routes: &Routes) -> Option<Self> {
        let backend = self.backend.restricted_to(catalog, routes)?;
        let (is_enabled, calls) = (Arc::clone(&self.is_enabled), Arc::clone(&self.calls));
        Some(Self { backend, name: self.name.clone(), is_enabled, calls })
    }
}

impl fmt::Debug for RoutedBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backend")
            .field("name", &&*self.name)
            .field("kind", &self.backend.kind())
            .field("enabled", &self.is_enabled())
            .finish()
    }
}

/// The backends of each tool.
///
/// Pass the table to [`DispatcherBuilder::routes`](crate::dispatch::DispatcherBuilder::routes). A registry, such as
/// `Backends` of the crate `toolkit-backends`, fills it; see [`RoutedBackend`] for a table of one backend.
///
/// # Examples
///
/// ```
/// use toolkit::backend::Routes;
/// use toolkit::tool::ToolId;
///
/// fn place(routes: &Routes, tool: &ToolId) -> String {
///     match routes.owner(tool) {
///         Some(owner) => format!("{tool} runs in the backend `{owner}`"),
///         None => format!("{tool} is a function of this program"),
///     }
/// }
///
/// assert_eq!(place(&Routes::default(), &"math:add".parse()?), "math:add is a function of this program");
/// # Ok::<(), toolkit::tool::NameError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Routes {
    of_tool: HashMap<ToolId, Vec<Route>>,
    of_prompt: HashMap<ToolId, Route>,
}

/// A backend that runs a tool.
#[derive(Clone)]
pub(crate) struct Route {
    pub(crate) backend: Arc<RoutedBackend>,
    pub(crate) target: ToolBackend,
    pub(crate) is_prompt: bool,
}

/// Selects one of several backends of a tool, by its index in the list.
pub(crate) type Selector = dyn Fn(&Tool, &[&ToolBackend]) -> Option<usize> + Send + Sync;

impl Routes {
    /// Returns true if no tool has a backend.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.of_tool.is_empty()
    }

    /// Returns the backends of a tool in the order of preference.
    pub fn backends<'r>(&'r self, tool: &ToolId) -> impl Iterator<Item = &'r ToolBackend> {
        self.routes(tool).iter().map(|route| &route.target)
    }

    /// Returns the name of the preferred backend of a tool, or `None` if no backend runs it.
    #[must_use]
    pub fn owner(&self, tool: &ToolId) -> Option<&str> {
        self.routes(tool).first().map(|route| &**route.backend.name())
    }

    /// Returns true if a backend of the tool [calls tools](Backend::calls_tools).
    #[must_use]
    pub fn calls_tools(&self, tool: &ToolId) -> bool {
        self.routes(tool).iter().any(|route| route.backend.backend().calls_tools())
    }

    /// Restricts the backends that [call tools](Backend::calls_tools) to the tools of `catalog`. Returns the tools of these
    /// backends as they are then. Those that are not among them have no backend any longer.
    ///
    /// # Errors
    ///
    /// Returns an error if a backend cannot list them at once.
    pub fn restrict(&mut self, catalog: &Catalog) -> Result<Vec<Tool>, ToolError> {
        let ids: Vec<ToolId> = self.of_tool.keys().filter(|id| self.calls_tools(id)).cloned().collect();
        let mut callers: Vec<Arc<RoutedBackend>> = Vec::new();
        for id in &ids {
            let backends = self.of_tool.remove(id).into_iter().flatten().map(|route| route.backend);
            callers.extend(backends.filter(|backend| backend.backend().calls_tools()));
        }
        callers.sort_by(|a, b| a.name().cmp(b.name()));
        callers.dedup_by(|a, b| Arc::ptr_eq(a, b));
        let mut tools = Vec::new();
        for backend in callers {
            let Some(backend) = backend.restricted_to(catalog, self).map(Arc::new) else { continue };
            let listed = pin!(backend.backend().tools()).poll(&mut task::Context::from_waker(Waker::noop()));
            let Poll::Ready(offered) = listed else {
                let message = format!("the backend `{}` does not list its tools at once", backend.name());
                return Err(ToolError::new(ErrorKind::Unavailable, message));
            };
            for (tool, target) in offered?.tools {
                let tool = match tool.id().namespace() {
                    Some(_) => tool,
                    None => tool.in_namespace(backend.name().clone()),
                };
                if ids.contains(tool.id()) {
                    self.add(tool.id().clone(), Arc::clone(&backend), target);
                    tools.push(tool);
                }
            }
        }
        Ok(tools)
    }

    /// Adds a backend of a tool, and the identity of the tool in the backend. Closer kinds are preferred, and otherwise
    /// the backend that was added first.
    pub fn add(&mut self, tool: ToolId, backend: Arc<RoutedBackend>, target: ToolBackend) {
        let routes = self.of_tool.entry(tool).or_default();
        routes.push(Route { backend, target, is_prompt: false });
        // The sort is stable: backends of one kind stay in the order in which they were added.
        routes.sort_by_key(|route| route.target.kind());
    }

    /// Adds the backend of a prompt.
    pub fn add_prompt(&mut self, prompt: ToolId, backend: Arc<RoutedBackend>, target: ToolBackend) {
        self.of_prompt.insert(prompt, Route { backend, target, is_prompt: true });
    }

    /// Returns the backend of a prompt.
    pub(crate) fn of_prompt(&self, prompt: &ToolId) -> Result<&Route, ToolError> {
        let route = self.of_prompt.get(prompt);
        route.filter(|route| route.backend.is_enabled()).ok_or_else(|| no_backend(route))
    }

    fn routes(&self, tool: &ToolId) -> &[Route] {
        self.of_tool.get(tool).map_or(&[], Vec::as_slice)
    }

    /// Keeps the backends of a tool from being idle until the guards are dropped.
    #[cfg(feature = "tower")]
    pub(crate) fn hold(&self, tool: &ToolId) -> Vec<HeldBackend<'_>> {
        self.routes(tool).iter().map(|route| route.backend.calls.hold()).collect()
    }

    /// Selects the backend for `tool`: the first enabled one, or the choice of `selector`. `None` stands for the
    /// function that the tool is.
    pub(crate) fn select(&self, tool: &Tool, selector: Option<&Selector>) -> Result<Option<&Route>, ToolError> {
        let routes = self.routes(tool.id());
        let mut enabled = routes.iter().filter(|route| route.backend.is_enabled());
        let Some(selector) = selector else {
            return match (tool.entry(), enabled.next()) {
                (Some(_), _) => Ok(None),
                (None, Some(route)) => Ok(Some(route)),
                (None, None) => Err(no_backend(routes)),
            };
        };
        let function = tool.function_backend();
        let ways: Vec<Option<&Route>> = function.iter().map(|_| None).chain(enabled.map(Some)).collect();
        if ways.is_empty() {
            return Err(no_backend(routes));
        }
        let targets: Vec<&ToolBackend> =
            ways.iter().filter_map(|way| way.map(|route| &route.target).or(function.as_ref())).collect();
        selector(tool, &targets).and_then(|picked| ways.get(picked).copied()).ok_or_else(|| {
            let names: Vec<String> = targets.iter().map(|target| target.to_string()).collect();
            let message = format!("the selector chose none of the tool's backends: {}", names.join(", "));
            ToolError::new(ErrorKind::NoBackend, message)
        })
    }
}

#[cold]
fn no_backend<'r>(routes: impl IntoIterator<Item = &'r Route>) -> ToolError {
    let names: Vec<String> = routes.into_iter().map(|route| format!("`{}`", route.backend.name())).collect();
    match &names[..] {
        [] => {
            let message = "no backend runs this tool, and it is not a function of this program";
            ToolError::new(ErrorKind::NoBackend, message)
        }
        names => {
            let message = format!("the backends of this tool are disabled: {}", names.join(", "));
            ToolError::new(ErrorKind::Unavailable, message)
        }
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Route").field(&self.target).finish()
    }
}
