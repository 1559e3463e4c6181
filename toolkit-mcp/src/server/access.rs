//! The resources that the token of a caller grants.

use std::fmt;
use std::sync::Arc;

/// Decides by their URIs which resources the token of a caller grants.
#[derive(Clone)]
pub(super) struct ResourceAccess(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl ResourceAccess {
    pub(super) fn new(grants: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(grants))
    }

    /// Returns true if the caller may read a resource.
    pub(super) fn grants(&self, uri: &str) -> bool {
        (self.0)(uri)
    }
}

impl fmt::Debug for ResourceAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResourceAccess")
    }
}
