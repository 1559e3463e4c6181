//! Resources whose contents are in memory.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use toolkit::call::{BoxFuture, Context, ToolError};
use toolkit::resource::{Resource, ResourceBody, ResourceChanges, ResourceContents, Resources};

/// Resources whose contents are in memory.
///
/// Clones share their resources, so a host can keep one clone and pass another to a server. [`ResourceSet::set`] and
/// [`ResourceSet::remove`] report their changes.
///
/// # Examples
///
/// ```
/// use toolkit::resource::Resource;
/// use toolkit_mcp_server::ResourceSet;
///
/// let resources = ResourceSet::new()
///     .with(Resource::new("config://app", "app").mime_type("application/json"), r#"{"debug": false}"#)
///     .with(Resource::new("icon://app", "icon").mime_type("image/png"), vec![0x89, 0x50, 0x4e, 0x47]);
///
/// resources.set(Resource::new("config://app", "app").mime_type("application/json"), r#"{"debug": true}"#);
/// assert!(resources.remove("icon://app"));
/// ```
#[derive(Clone, Default)]
pub struct ResourceSet {
    resources: Arc<RwLock<BTreeMap<String, (Resource, ResourceBody)>>>,
    changes: ResourceChanges,
}

impl ResourceSet {
    /// Creates an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a resource; see [`ResourceSet::set`].
    #[must_use]
    pub fn with(self, resource: Resource, body: impl Into<ResourceBody>) -> Self {
        self.set(resource, body);
        self
    }

    /// Adds a resource, or replaces the one with the same URI. Its `_meta` is part of its contents too. Sets the size
    /// of the resource.
    pub fn set(&self, resource: Resource, body: impl Into<ResourceBody>) {
        let body = body.into();
        let resource = resource.size(size(&body));
        let uri = resource.uri.clone();
        let mut resources = self.resources.write().unwrap_or_else(PoisonError::into_inner);
        let is_listed = resources.get(&uri).is_some_and(|(other, _)| *other == resource);
        let before = resources.insert(uri.clone(), (resource, body));
        drop(resources);
        if before.is_some() {
            self.changes.updated(&uri);
        }
        if !is_listed {
            self.changes.list_changed();
        }
    }

    /// Removes a resource. Returns `false` if no resource has this URI.
    pub fn remove(&self, uri: &str) -> bool {
        let removed = self.resources.write().unwrap_or_else(PoisonError::into_inner).remove(uri);
        if removed.is_some() {
            self.changes.list_changed();
        }
        removed.is_some()
    }
}

impl Resources for ResourceSet {
    fn list<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        Box::pin(async {
            let resources = self.resources.read().unwrap_or_else(PoisonError::into_inner);
            Ok(resources.values().map(|(resource, _)| resource.clone()).collect())
        })
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        _: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        Box::pin(async move {
            let resources = self.resources.read().unwrap_or_else(PoisonError::into_inner);
            Ok(resources.get(uri).map(|(resource, body)| {
                let mut contents = ResourceContents::new(uri, body.clone());
                (contents.mime_type, contents.meta) = (resource.mime_type.clone(), resource.meta.clone());
                vec![contents]
            }))
        })
    }

    fn changes(&self) -> Option<&ResourceChanges> {
        Some(&self.changes)
    }
}

/// Returns the number of bytes of the text, or of the bytes before their encoding.
fn size(body: &ResourceBody) -> u64 {
    match body {
        ResourceBody::Blob(base64) => base64.trim_end_matches('=').len() as u64 * 3 / 4,
        text => text.encoded_len() as u64,
    }
}

impl fmt::Debug for ResourceSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resources = self.resources.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_set().entries(resources.keys()).finish()
    }
}
