//! Access that the token of a caller grants.

use std::fmt;
use std::sync::Arc;

use toolkit::Tool;

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
