//! Watches of single resources.

use std::any::Any;
use std::fmt;

/// A guard while a client is subscribed to a resource. Dropping it ends the watch.
///
/// [`Resources::watch`](super::Resources::watch) returns it.
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
