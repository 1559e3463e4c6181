//! The sender of a message.

use std::sync::Arc;

use http::HeaderMap;

use super::ask::Modes;
use super::request::Caller;

/// The sender of a message.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Peer<'p> {
    pub(super) caller: Option<&'p Arc<Caller>>,
    /// The scope of request ids: a session, or the other end of a pipe.
    pub(super) session: Option<&'p str>,
    /// The ways in which the client can ask its user, as declared for the session.
    pub(super) modes: Modes,
    /// The HTTP headers of the message.
    pub(super) headers: Option<&'p HeaderMap>,
}
