//! The readiness of a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The readiness of a server. A server is ready until shutdown is requested, unless the host changes it, for example
/// while a database is not available. Clones share the flag.
///
/// # Examples
///
/// ```
/// # use toolkit::{Catalog, Dispatcher};
/// # use toolkit_otc::Server;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = Server::new(Dispatcher::new(Catalog::new([])?)?);
/// let readiness = server.readiness();
/// assert!(readiness.is_ready());
/// readiness.set(false);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Readiness(Arc<AtomicBool>);

impl Readiness {
    pub(super) fn new() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    /// Sets the readiness. While a server is not ready, it responds to `GET /health` and to calls with 503.
    pub fn set(&self, is_ready: bool) {
        self.0.store(is_ready, Ordering::Release);
    }

    /// Returns true if the server is ready.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
