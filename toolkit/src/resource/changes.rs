//! Reports of changed resources.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

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
/// Clones share their listeners. A provider returns it from [`Resources::changes`](super::Resources::changes) and keeps
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
    #[doc(hidden)]
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
#[doc(hidden)]
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
