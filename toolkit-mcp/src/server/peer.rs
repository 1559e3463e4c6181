//! The sender of a message.

use std::net::IpAddr;
use std::sync::Arc;

use http::HeaderMap;
use toolkit::CancelToken;

use super::access::Access;
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
    /// The access that the token of the caller grants, or `None` for everything.
    pub(super) access: Option<&'p Access>,
    /// Cancelled when the client can send no more messages, such as answers of its user.
    pub(super) end: Option<&'p CancelToken>,
    /// The HTTP headers of the message.
    pub(super) headers: Option<&'p HeaderMap>,
    /// The address of the client, if the server has accepted its connection.
    pub(super) address: Option<IpAddr>,
}

impl Peer<'_> {
    /// Returns a name for limits per client: its subject, or else its address, or else its session.
    pub(super) fn name(self, session: &str) -> String {
        match (self.caller.and_then(|caller| caller.identity()), self.address) {
            (Some(identity), _) => format!("subject {identity}"),
            (None, Some(address)) => format!("address {address}"),
            (None, None) => format!("session {session}"),
        }
    }
}
