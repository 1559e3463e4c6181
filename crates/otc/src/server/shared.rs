//! The state of a server.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use toolkit::Dispatcher;
use toolkit_http::{BodyReader, CallLimiter, HostGuard, ToolPool};

use super::dedup::Dedup;
use super::limits::Limits;
use super::readiness::Readiness;
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
    pub(super) pool: ToolPool,
    pub(super) bodies: BodyReader,
    pub(super) guard: HostGuard,
    pub(super) dedup: Arc<Dedup>,
}
