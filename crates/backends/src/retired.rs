//! Backends that were taken out of the set while their calls may still run.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use toolkit::backend::Backend;
use toolkit::call::ToolError;

use crate::ask::request;
use crate::registered::Registered;

/// A backend that is no longer registered, and whose calls may still run.
///
/// [`Backends::retire`](crate::Backends::retire) and [`Backends::replace`](crate::Backends::replace) return it.
///
/// # Examples
///
/// ```
/// use toolkit_backends::{Backends, LocalBackend};
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
    pub(crate) fn new(backend: Arc<Registered>, timeout: Duration) -> Self {
        Self { backend, timeout }
    }

    /// Returns the name of the backend.
    #[must_use]
    pub fn name(&self) -> &str {
        self.backend.name()
    }

    /// Waits until the running calls and the requests for resources have ended, and stops the backend. A call that waits
    /// in a layer counts as running.
    /// [`Backends::stop`](crate::Backends::stop) stops it without waiting.
    ///
    /// # Errors
    ///
    /// Returns an error if the backend did not stop cleanly.
    pub async fn stop_when_idle(self) -> Result<(), ToolError> {
        self.backend.routed().idle().await;
        request(self.backend.backend(), <dyn Backend>::stop, self.timeout).await
    }
}

impl fmt::Debug for RetiredBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RetiredBackend").field(&self.name()).finish()
    }
}
