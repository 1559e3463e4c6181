//! The table of backends for each tool.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

#[cfg(feature = "tower")]
use super::counters::Held;
use super::routed::RoutedBackend;
use crate::call::{ErrorKind, ToolError};
use crate::tool::{Tool, ToolBackend, ToolId};

/// The backends of each tool.
///
/// Pass the table to [`DispatcherBuilder::routes`](crate::dispatch::DispatcherBuilder::routes). The registry of backends,
/// `Backends` of the crate `toolkit-backends`, fills it.
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
}

/// A backend that runs a tool.
#[derive(Clone)]
pub(crate) struct Route {
    pub(crate) backend: Arc<RoutedBackend>,
    pub(crate) target: ToolBackend,
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

    /// Returns true if a backend of the tool [calls tools](super::Backend::calls_tools).
    pub(crate) fn call_tools(&self, tool: &ToolId) -> bool {
        self.routes(tool).iter().any(|route| route.backend.backend().calls_tools())
    }

    /// Adds a backend of a tool, and the identity of the tool in the backend. Closer kinds are preferred, and otherwise
    /// the backend that was added first.
    #[doc(hidden)]
    pub fn add(&mut self, tool: ToolId, backend: Arc<RoutedBackend>, target: ToolBackend) {
        let routes = self.of_tool.entry(tool).or_default();
        routes.push(Route { backend, target });
        // The sort is stable: backends of one kind stay in the order in which they were added.
        routes.sort_by_key(|route| route.target.kind());
    }

    fn routes(&self, tool: &ToolId) -> &[Route] {
        self.of_tool.get(tool).map_or(&[], Vec::as_slice)
    }

    /// Keeps the backends of a tool from being idle until the guards are dropped.
    #[cfg(feature = "tower")]
    pub(crate) fn hold(&self, tool: &ToolId) -> Vec<Held<'_>> {
        self.routes(tool).iter().map(|route| route.backend.counters().hold()).collect()
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
fn no_backend(routes: &[Route]) -> ToolError {
    let names: Vec<String> = routes.iter().map(|route| format!("`{}`", route.backend.name())).collect();
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
