//! The access that the token of a caller grants.

use std::fmt;
use std::sync::Arc;

use toolkit::Tool;
use toolkit_mcp::RpcError;

/// Decides which tools and resources the token of a caller grants.
#[derive(Clone)]
pub(super) struct Access {
    tools: Arc<dyn Fn(&Tool) -> bool + Send + Sync>,
    resources: Arc<dyn Fn(&str) -> bool + Send + Sync>,
}

impl Access {
    pub(super) fn new(
        tools: impl Fn(&Tool) -> bool + Send + Sync + 'static,
        resources: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { tools: Arc::new(tools), resources: Arc::new(resources) }
    }

    /// Returns true if the caller may call a tool.
    pub(super) fn grants_tool(&self, tool: &Tool) -> bool {
        (self.tools)(tool)
    }

    /// Returns true if the caller may read the resource with this URI.
    pub(super) fn grants_resource(&self, uri: &str) -> bool {
        (self.resources)(uri)
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Access")
    }
}

/// What a request needs and the token of its caller does not grant.
#[derive(Debug)]
pub(super) enum Denied {
    /// Calls of these tools, or the results of earlier calls.
    Tools(Vec<Tool>),
    Prompt(Box<Tool>),
    /// The resource with this URI.
    Resource(String),
    /// A task whose tool is not served at the moment, so that the scopes that it requires are unknown.
    UnknownTool,
}

/// The reason why a request is not begun.
#[derive(Debug)]
pub(super) enum Rejected {
    Invalid(RpcError),
    Denied(Denied),
}

impl From<RpcError> for Rejected {
    fn from(error: RpcError) -> Self {
        Rejected::Invalid(error)
    }
}

impl From<Denied> for Rejected {
    fn from(denied: Denied) -> Self {
        Rejected::Denied(denied)
    }
}
