//! Backends that were taken out of the set while their calls may still run.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::ask::request;
use super::interface::Backend;
use super::registered::Registered;
use crate::call::ToolError;

/// A backend that is no longer registered, and whose calls may still run.
///
/// [`Backends::retire`](super::Backends::retire) and [`Backends::replace`](super::Backends::replace) return it.
///
/// # Examples
///
/// ```
/// use toolkit::backend::{Backends, LocalBackend};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let backends = Backends::new();
/// backends.register(LocalBackend::new("plugins"))?;
/// let retired = backends.retire("plugins").unwrap();
/// assert_eq!(retired.name(), "plugins");
/// retired.stop_when_idle().await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the backend runs until it is stopped"]
pub struct RetiredBackend {
    backend: Arc<Registered>,
    timeout: Duration,
}

impl RetiredBackend {
    pub(super) fn new(backend: Arc<Registered>, timeout: Duration) -> Self {
        Self { backend, timeout }
    }

    /// Returns the name of the backend.
    #[must_use]
    pub fn name(&self) -> &str {
        self.backend.name()
    }

    /// Waits until the running calls and the requests for resources have ended, and stops the backend. A call that waits
    /// in a layer counts as running.
    /// [`Backends::stop`](super::Backends::stop) stops it without waiting.
    ///
    /// # Errors
    ///
    /// Returns an error if the backend did not stop cleanly.
    pub async fn stop_when_idle(self) -> Result<(), ToolError> {
        self.backend.calls().idle().await;
        request(self.backend.backend(), <dyn Backend>::stop, self.timeout).await
    }
}

impl fmt::Debug for RetiredBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RetiredBackend").field(&self.name()).finish()
    }
}
