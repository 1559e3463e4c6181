//! Resources: data that clients read by URI, such as the files that the results of tools link to.
//!
//! [`Resources`] is the interface of a provider, and a [`Backend`](crate::backend::Backend) may be one too. The crate
//! `toolkit-mcp-server` serves resources, and has providers for texts and bytes in memory, for the URIs that match a
//! template, and for the files of a directory.
//!
//! `records` is what a provider lists and returns, and `changes` is how it reports changes.

mod changes;
mod records;

use std::any::Any;
use std::fmt;

pub use self::changes::{ResourceChange, ResourceChanges, WeakResourceChanges};
pub use self::records::{Resource, ResourceBody, ResourceContents, ResourceTemplate};
use crate::call::{BoxFuture, Context, ToolError};

/// A provider of resources.
///
/// All methods may be called at any time and from several tasks concurrently. They may block: a server calls them on
/// the threads of tools, within its limits for calls. The context contains what the server knows about the caller. A
/// provider decides what the caller may read, and returns `None` for everything else, so that a caller cannot
/// distinguish a resource of another user from one that does not exist.
///
/// # Examples
///
/// Notes that only their owner can read:
///
/// ```
/// use toolkit::call::BoxFuture;
/// use toolkit::resource::{ResourceContents, Resources};
/// use toolkit::{Context, ToolError};
///
/// struct Notes;
///
/// impl Resources for Notes {
///     fn read<'a>(
///         &'a self,
///         uri: &'a str,
///         context: &'a Context,
///     ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
///         Box::pin(async move {
///             let Some(owner) = uri.strip_prefix("notes://") else {
///                 return Ok(None);
///             };
///             let is_own = context.user_id() == Some(owner);
///             Ok(is_own.then(|| vec![ResourceContents::new(uri, format!("The notes of {owner}"))]))
///         })
///     }
/// }
/// ```
pub trait Resources: Send + Sync + 'static {
    /// Returns the resources that clients can browse. A resource that a tool links to need not be listed. Returns an
    /// empty list by default.
    ///
    /// # Errors
    ///
    /// Returns an error if the list cannot be obtained.
    fn list<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        let _ = context;
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Returns the templates of URIs that clients can read. Returns an empty list by default.
    ///
    /// # Errors
    ///
    /// Returns an error if the list cannot be obtained.
    fn templates<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<Vec<ResourceTemplate>, ToolError>> {
        let _ = context;
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Returns the contents of a resource, or `None` if the provider has no resource with this URI for this caller. The
    /// URI is untrusted.
    ///
    /// # Errors
    ///
    /// Returns an error if the resource exists but cannot be read.
    fn read<'a>(
        &'a self,
        uri: &'a str,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>>;

    /// Starts to report the changes of a resource, for a client that subscribes to it and can read it. The client has a
    /// subscription until the watch is dropped. Clients of different callers may watch the same resource.
    ///
    /// Override it if the provider observes its data only on demand, or cannot observe all of it. By default, nothing
    /// has to be started, and all resources can be watched.
    ///
    /// # Errors
    ///
    /// Returns an error if the provider cannot report changes of the resource. The client then has no subscription.
    fn watch<'a>(&'a self, uri: &'a str, context: &'a Context) -> BoxFuture<'a, Result<ResourceWatch, ToolError>> {
        let _ = (uri, context);
        Box::pin(async { Ok(ResourceWatch::default()) })
    }

    /// Returns the connection over which the provider reports changes. Returns `None` by default: the provider reports
    /// no changes.
    fn changes(&self) -> Option<&ResourceChanges> {
        None
    }
}

impl<R: Resources + ?Sized> Resources for std::sync::Arc<R> {
    fn list<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        (**self).list(context)
    }

    fn templates<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<Vec<ResourceTemplate>, ToolError>> {
        (**self).templates(context)
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        (**self).read(uri, context)
    }

    fn watch<'a>(&'a self, uri: &'a str, context: &'a Context) -> BoxFuture<'a, Result<ResourceWatch, ToolError>> {
        (**self).watch(uri, context)
    }

    fn changes(&self) -> Option<&ResourceChanges> {
        (**self).changes()
    }
}

/// A guard while a client is subscribed to a resource. Dropping it ends the watch.
///
/// [`Resources::watch`] returns it.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use toolkit::resource::ResourceWatch;
///
/// let subscription = Arc::new("an open subscription");
/// let watch = ResourceWatch::new(Arc::clone(&subscription));
/// assert_eq!(Arc::strong_count(&subscription), 2);
/// drop(watch);
/// assert_eq!(Arc::strong_count(&subscription), 1);
/// ```
#[derive(Default)]
#[must_use = "dropping it ends the watch"]
pub struct ResourceWatch(Option<Box<dyn Any + Send + Sync>>);

impl ResourceWatch {
    /// Creates a watch that drops `guard` at its end. The default watch has no guard.
    pub fn new(guard: impl Send + Sync + 'static) -> Self {
        Self(Some(Box::new(guard)))
    }
}

impl fmt::Debug for ResourceWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceWatch").field("has_guard", &self.0.is_some()).finish()
    }
}
