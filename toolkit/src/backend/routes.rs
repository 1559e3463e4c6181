//! Which backends run which tools.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::registry::Registered;
use crate::call::{ErrorKind, ToolError};
use crate::tool::{Tool, ToolBackend, ToolId};

/// Which backends run which tools; see [`Backends::collect`](super::Backends::collect).
#[derive(Clone, Debug, Default)]
pub struct Routes {
    of_tool: HashMap<ToolId, Vec<Route>>,
}

/// One way to run a tool.
#[derive(Clone)]
pub(crate) struct Route {
    pub(crate) backend: Arc<Registered>,
    pub(crate) target: ToolBackend,
}

/// Picks one of several backends of a tool, by its place in the list.
pub(crate) type Selector = dyn Fn(&Tool, &[&ToolBackend]) -> Option<usize> + Send + Sync;

impl Routes {
    /// Whether no tool has a backend.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.of_tool.is_empty()
    }

    /// The backends of a tool, in the order in which they are preferred.
    pub fn of<'r>(&'r self, tool: &ToolId) -> impl Iterator<Item = &'r ToolBackend> {
        self.routes(tool).iter().map(|route| &route.target)
    }

    /// The name of the backend that is preferred for a tool; `None` where no backend runs it.
    #[must_use]
    pub fn owner(&self, tool: &ToolId) -> Option<&str> {
        self.routes(tool).first().map(|route| route.backend.name())
    }

    pub(super) fn add(&mut self, tool: ToolId, route: Route) {
        let routes = self.of_tool.entry(tool).or_default();
        routes.push(route);
        // Stable: of several of one kind, the one that was registered first.
        routes.sort_by_key(|route| route.target.kind());
    }

    fn routes(&self, tool: &ToolId) -> &[Route] {
        self.of_tool.get(tool).map_or(&[], Vec::as_slice)
    }

    /// The way to run `tool`: the first that is enabled, or the one that `selector` picks of those; `None` for the
    /// function that it is.
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
            let message = format!("none of the tool's backends was selected; there are {}", names.join(", "));
            ToolError::new(ErrorKind::NoBackend, message)
        })
    }
}

#[cold]
fn no_backend(routes: &[Route]) -> ToolError {
    let names: Vec<String> = routes.iter().map(|route| format!("`{}`", route.backend.name())).collect();
    match &names[..] {
        [] => {
            let message = "nothing here runs this tool; it is described, and it is no function of this program";
            ToolError::new(ErrorKind::NoBackend, message)
        }
        names => {
            let message = format!("what runs the tool is switched off: {}", names.join(", "));
            ToolError::new(ErrorKind::Unavailable, message)
        }
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Route").field(&self.target).finish()
    }
}
