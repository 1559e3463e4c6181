//! Sessions of revisions up to 2025-11-25.

use http::{HeaderMap, HeaderName, HeaderValue};

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// A session, in which messages are sent.
#[derive(Clone, Default)]
pub(super) struct Session {
    pub(super) id: Option<HeaderValue>,
    /// The negotiated revision.
    pub(super) version: Option<HeaderValue>,
    /// The number of sessions before this one.
    pub(super) nth: u64,
}

impl Session {
    /// Returns the headers of a message in the session.
    pub(super) fn headers(&self) -> HeaderMap {
        let id = self.id.iter().map(|id| (SESSION, id.clone()));
        let version = self.version.iter().map(|version| (VERSION, version.clone()));
        id.chain(version).collect()
    }
}
