//! Resources: data that clients read by URI, such as the files that the results of tools link to.
//!
//! [`Resources`] is the interface of a provider, and a [`Backend`](crate::backend::Backend) may be one too. The crate
//! `toolkit-mcp-server` serves resources, and has providers for texts and bytes in memory, for the URIs that match a
//! template, and for the files of a directory.
//!
//! `records` is what a provider lists and returns.

mod records;

use std::any::Any;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

pub use self::records::{Resource, ResourceBody, ResourceContents, ResourceTemplate, Skill, SkillFile};
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
///             let is_own = context.user_id().is_ok_and(|user| user == owner);
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

    /// Returns true if the provider has [skills](Skill), which a server then declares. Returns false by default.
    fn has_skills(&self) -> bool {
        false
    }

    /// Returns the skills that clients can browse. Their files are read like other resources. Returns an empty list by
    /// default.
    ///
    /// # Errors
    ///
    /// Returns an error if the list cannot be obtained.
    fn skills<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<Vec<Skill>, ToolError>> {
        let _ = context;
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Returns the skill whose `SKILL.md` has this URI, or `None` if there is none for this caller. The URI is untrusted.
    /// Looks for it in [`skills`](Resources::skills) by default.
    ///
    /// # Errors
    ///
    /// Returns an error if the skill cannot be obtained.
    fn skill<'a>(&'a self, uri: &'a str, context: &'a Context) -> BoxFuture<'a, Result<Option<Skill>, ToolError>> {
        Box::pin(async move { Ok(self.skills(context).await?.into_iter().find(|skill| skill.uri == uri)) })
    }

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

    fn has_skills(&self) -> bool {
        (**self).has_skills()
    }

    fn skills<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<Vec<Skill>, ToolError>> {
        (**self).skills(context)
    }

    fn skill<'a>(&'a self, uri: &'a str, context: &'a Context) -> BoxFuture<'a, Result<Option<Skill>, ToolError>> {
        (**self).skill(uri, context)
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

type Listener = dyn Fn(ResourceChange<'_>) -> ControlFlow<()> + Send + Sync;

/// A change of resources, as a provider reports it.
///
/// # Examples
///
/// ```
/// use toolkit::resource::ResourceChange;
///
/// fn describe(change: ResourceChange<'_>) -> String {
///     match change {
///         ResourceChange::Updated(uri) => format!("{uri} has changed"),
///         _ => "the list has changed".to_owned(),
///     }
/// }
///
/// assert_eq!(describe(ResourceChange::Updated("notes://7")), "notes://7 has changed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceChange<'a> {
    /// The contents of the resource with this URI have changed.
    Updated(&'a str),
    /// The list of resources or templates has changed.
    List,
}

/// The connection between a provider, which reports changes, and the servers that pass them on.
///
/// Clones share their listeners. A provider returns it from [`Resources::changes`] and keeps
/// a clone where the data change.
///
/// # Examples
///
/// ```
/// use std::ops::ControlFlow;
/// use std::sync::{Arc, Mutex};
///
/// use toolkit::resource::{ResourceChange, ResourceChanges};
///
/// let updated = Arc::new(Mutex::new(Vec::new()));
/// let changes = ResourceChanges::new();
/// let uris = Arc::clone(&updated);
/// changes.listen(move |change| {
///     if let ResourceChange::Updated(uri) = change {
///         uris.lock().unwrap().push(uri.to_owned());
///     }
///     ControlFlow::Continue(())
/// });
/// changes.updated("notes://7");
/// changes.list_changed();
/// assert_eq!(*updated.lock().unwrap(), ["notes://7"]);
/// ```
#[derive(Clone, Default)]
pub struct ResourceChanges(Arc<Mutex<Vec<Arc<Listener>>>>);

impl ResourceChanges {
    /// Creates a connection without listeners.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reports that the contents of a resource have changed.
    pub fn updated(&self, uri: &str) {
        self.report(ResourceChange::Updated(uri));
    }

    /// Reports that the list of resources or templates has changed.
    pub fn list_changed(&self) {
        self.report(ResourceChange::List);
    }

    /// Adds a listener. It must not block, and is removed when it returns [`ControlFlow::Break`].
    pub fn listen(&self, listener: impl Fn(ResourceChange<'_>) -> ControlFlow<()> + Send + Sync + 'static) {
        self.listeners().push(Arc::new(listener));
    }

    /// Returns true if both are clones of one connection.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns a reference for a listener that reports changes of another provider as its own.
    #[must_use]
    pub fn downgrade(&self) -> WeakResourceChanges {
        WeakResourceChanges(Arc::downgrade(&self.0))
    }

    fn report(&self, change: ResourceChange<'_>) {
        // A listener may add another one, so the lock is not held while it runs.
        let listeners = self.listeners().clone();
        for listener in listeners {
            if listener(change).is_break() {
                self.listeners().retain(|other| !Arc::ptr_eq(other, &listener));
            }
        }
    }

    fn listeners(&self) -> MutexGuard<'_, Vec<Arc<Listener>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reference to [`ResourceChanges`] that does not keep the listeners.
#[derive(Clone)]
pub struct WeakResourceChanges(Weak<Mutex<Vec<Arc<Listener>>>>);

impl WeakResourceChanges {
    /// Returns the connection while a clone of it exists.
    #[must_use]
    pub fn upgrade(&self) -> Option<ResourceChanges> {
        self.0.upgrade().map(ResourceChanges)
    }
}

impl fmt::Debug for WeakResourceChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakResourceChanges")
    }
}

impl fmt::Debug for ResourceChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceChanges").field("listeners", &self.listeners().len()).finish()
    }
}
