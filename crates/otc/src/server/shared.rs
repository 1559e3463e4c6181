//! The state of a server, and its readiness.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use toolkit::Dispatcher;
use toolkit_runtime::{BodyReader, CallLimiter, HostGuard};

use super::dedup::Dedup;
use super::limits::Limits;
use crate::{Auth, Published};

/// The state that all requests share.
pub(super) struct Shared {
    pub(super) dispatcher: Dispatcher,
    pub(super) published: Published,
    pub(super) auth: Auth,
    pub(super) limits: Limits,
    pub(super) readiness: Readiness,
    /// True when the server announces its end, and still accepts calls.
    pub(super) is_draining: AtomicBool,
    /// The response to `GET /tools`.
    pub(super) listed: Bytes,
    pub(super) calls: CallLimiter,
    pub(super) bodies: BodyReader,
    pub(super) guard: HostGuard,
    pub(super) dedup: Arc<Dedup>,
}

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
