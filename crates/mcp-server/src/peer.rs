//! The sender of a message, and the access that its token grants.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use http::request::Parts;
use toolkit::call::RequestParts;
use toolkit::{CancelToken, Tool};

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
    /// The HTTP request of the message.
    pub(super) head: Option<&'p Arc<Parts>>,
    /// The address of the client, if the server has accepted its connection.
    pub(super) address: Option<IpAddr>,
}

impl<'p> Peer<'p> {
    /// Returns the identity of the caller, if the server has authenticated it.
    pub(super) fn identity(self) -> Option<String> {
        self.caller.and_then(|caller| caller.identity())
    }

    /// Returns the headers of the HTTP request.
    pub(super) fn headers(self) -> Option<&'p HeaderMap> {
        self.head.map(|head| &head.headers)
    }

    /// Returns a function that reads the parts of the HTTP request for a tool.
    pub(super) fn request_parts(self) -> Option<impl FnOnce() -> RequestParts + Send + 'static> {
        let head = Arc::clone(self.head?);
        let (address, session) = (self.address, self.session.map(str::to_owned));
        // The token is for this server, so that it must not be passed on to others.
        let is_checked = self.caller.is_some();
        Some(move || {
            let parts = RequestParts::new().with_path(head.uri.path());
            let headers = head.headers.iter().filter(|(name, _)| !(is_checked && *name == AUTHORIZATION));
            let parts = headers.fold(parts, |parts, (name, value)| parts.with_header(name.as_str(), value));
            let parts = address.into_iter().fold(parts, RequestParts::with_peer);
            session.iter().fold(parts, |parts, session| parts.with_session(session))
        })
    }

    /// Returns a name for limits per client: its subject, or else its address, or else its session.
    pub(super) fn name(self, session: &str) -> String {
        match (self.identity(), self.address) {
            (Some(identity), _) => format!("subject {identity}"),
            (None, Some(address)) => format!("address {address}"),
            (None, None) => format!("session {session}"),
        }
    }
}

// Access that the token of a caller grants.

/// Decides which tools and resources the token of a caller grants.
#[derive(Clone)]
pub(super) struct Access {
    tools: Arc<dyn Fn(&Tool) -> bool + Send + Sync>,
    resources: Arc<dyn Fn(&str) -> bool + Send + Sync>,
}

impl Access {
    pub(super) fn new(
        tools: impl Fn(&Tool) -> bool + Send + Sync + 'static,
        resources: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { tools: Arc::new(tools), resources: Arc::new(resources) }
    }

    /// Returns true if the caller may call a tool.
    pub(super) fn grants_tool(&self, tool: &Tool) -> bool {
        (self.tools)(tool)
    }

    /// Returns true if the caller may read the resource with this URI.
    pub(super) fn grants_resource(&self, uri: &str) -> bool {
        (self.resources)(uri)
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Access")
    }
}
