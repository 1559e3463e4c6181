//! The scopes that operations need.

use std::fmt;
use std::sync::Arc;

use http::{HeaderValue, StatusCode, header};
use serde_json::json;
use toolkit::Tool;
use toolkit_mcp::{Code, json_bytes};

use super::TokenError;
use crate::http::response::Rejection;
use crate::metrics::RejectReason;
use crate::proxy_uri::decode;
use crate::request::Caller;
use crate::state::Shared;

/// Returns the scopes that a call of a tool needs.
type OfTool = dyn Fn(&Tool) -> Vec<String> + Send + Sync;

/// Returns the scopes that reading a resource needs, by its URI.
type OfResource = dyn Fn(&str) -> Vec<String> + Send + Sync;

/// Returns true if the first scope, which was granted, covers the second one.
type Covers = dyn Fn(&str, &str) -> bool + Send + Sync;

/// A scope that a client adds itself if it wants refresh tokens. No operation needs it.
const OFFLINE_ACCESS: &str = "offline_access";

/// The rules of a server about scopes.
#[derive(Clone, Default)]
pub(in super::super) struct Scopes {
    /// The scopes that every request needs.
    base: Vec<String>,
    of_tool: Option<Arc<OfTool>>,
    of_resource: Option<Arc<OfResource>>,
    covers: Option<Arc<Covers>>,
}

impl Scopes {
    pub(in super::super) fn set_base(&mut self, scopes: impl Iterator<Item = String>) {
        self.base = scopes.filter(|scope| scope != OFFLINE_ACCESS).collect();
    }

    pub(in super::super) fn set_of_tool(&mut self, of_tool: impl Fn(&Tool) -> Vec<String> + Send + Sync + 'static) {
        self.of_tool = Some(Arc::new(of_tool));
    }

    pub(in super::super) fn set_of_resource(&mut self, of: impl Fn(&str) -> Vec<String> + Send + Sync + 'static) {
        self.of_resource = Some(Arc::new(of));
    }

    pub(in super::super) fn set_covers(&mut self, covers: impl Fn(&str, &str) -> bool + Send + Sync + 'static) {
        self.covers = Some(Arc::new(covers));
    }

    /// Returns the scopes that every request needs.
    pub(super) fn base(&self) -> &[String] {
        &self.base
    }

    /// Returns all scopes that a call of these tools needs, without duplicates.
    pub(super) fn of_calls<'t>(&self, tools: impl Iterator<Item = &'t Tool>) -> Vec<String> {
        let of_tool = |tool: &Tool| match &self.of_tool {
            Some(of_tool) => of_tool(tool),
            None => tool.requirements().scopes.iter().map(ToString::to_string).collect(),
        };
        self.with_base(tools.flat_map(of_tool))
    }

    /// Returns the scopes that reading a resource needs. A token has to grant those of one of the alternatives: by
    /// default, a caller of a tool of a backend may read the resources of the backend. There is no alternative if the tools
    /// of the backend have never been known.
    pub(super) fn of_resource(&self, uri: &str, shared: &Arc<Shared>) -> Vec<Vec<String>> {
        if let Some(of_resource) = &self.of_resource {
            return vec![self.with_base(of_resource(uri).into_iter())];
        }
        let Some(backend) = self.backend_of(uri, shared) else { return vec![self.base.clone()] };
        match shared.tools_of(backend) {
            Some(tools) if tools.is_empty() => vec![self.base.clone()],
            Some(tools) => tools.iter().map(|tool| self.of_calls(std::iter::once(tool))).collect(),
            None => Vec::new(),
        }
    }

    /// Returns the backend whose tools decide about a resource.
    pub(super) fn backend_of<'u>(&self, uri: &'u str, shared: &Arc<Shared>) -> Option<&'u str> {
        let (backend, _) = decode(uri).filter(|_| self.of_resource.is_none())?;
        shared.has_backend(backend).then_some(backend)
    }

    fn with_base(&self, own: impl Iterator<Item = String>) -> Vec<String> {
        let mut needed = self.base.clone();
        for scope in own {
            if scope != OFFLINE_ACCESS && !needed.contains(&scope) {
                needed.push(scope);
            }
        }
        needed
    }

    /// Returns true if the token of the caller grants all of these scopes.
    pub(super) fn are_granted(&self, needed: &[String], caller: &Caller) -> bool {
        let covers = |granted: &String, needed: &String| {
            granted == needed || self.covers.as_ref().is_some_and(|covers| covers(granted, needed))
        };
        caller.has_all_scopes()
            || needed.iter().all(|needed| caller.scopes().iter().any(|granted| covers(granted, needed)))
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scopes").field("base", &self.base).finish_non_exhaustive()
    }
}

// Challenges: the responses to a request whose token does not suffice (RFC 6750, 3).

/// The time after which a client may try again if its token cannot be verified, in seconds.
const RETRY_AFTER: u16 = 5;

/// The contents of a challenge.
#[derive(Default)]
pub(super) struct Challenge<'c> {
    /// The code of RFC 6750. Absent if the request has no token.
    pub(super) error: Option<&'static str>,
    /// All scopes that the request needs.
    pub(super) scopes: &'c [String],
    pub(super) metadata_url: Option<&'c str>,
    pub(super) description: Option<&'c str>,
}

impl Challenge<'_> {
    /// Creates the rejection of a request.
    pub(super) fn reject(&self, error: TokenError) -> Rejection {
        let (status, message) = match error {
            TokenError::Invalid => (StatusCode::UNAUTHORIZED, "a valid token is required (`Authorization: Bearer …`)"),
            TokenError::InsufficientScope => (StatusCode::FORBIDDEN, "the token does not grant the required scope"),
            TokenError::Unavailable => {
                let message = "the token cannot be verified at the moment; try again later";
                let rejection = Rejection::new(RejectReason::Unauthorized, StatusCode::SERVICE_UNAVAILABLE, message);
                return rejection
                    .with_code(Code::Internal)
                    .with_header(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER));
            }
        };
        let message = self.description.map_or_else(|| message.to_owned(), str::to_owned);
        let rejection = Rejection::new(RejectReason::Unauthorized, status, message);
        match HeaderValue::from_str(&self.header()) {
            Ok(value) => rejection.with_header(header::WWW_AUTHENTICATE, value),
            Err(_) => rejection,
        }
    }

    /// Returns the value of `WWW-Authenticate`.
    fn header(&self) -> String {
        // A scope that OAuth does not allow cannot be granted, and could add parameters to the challenge.
        let scopes: Vec<&str> = self.scopes.iter().map(String::as_str).filter(|scope| is_scope(scope)).collect();
        let scopes = scopes.join(" ");
        let description = self.description.map(quotable);
        let params = [
            ("error", self.error),
            ("scope", (!scopes.is_empty()).then_some(&*scopes)),
            ("resource_metadata", self.metadata_url),
            ("error_description", description.as_deref()),
        ];
        let params = params.iter().filter_map(|(name, value)| Some(format!("{name}=\"{}\"", (*value)?)));
        format!("Bearer {}", params.collect::<Vec<_>>().join(", ")).trim_end().to_owned()
    }
}

/// Returns true for a scope of RFC 6749, 3.3.
fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5B | 0x5D..=0x7E))
}

/// Replaces the characters that RFC 6750 does not allow in a description.
fn quotable(text: &str) -> String {
    text.chars().map(|c| if matches!(c, ' '..='!' | '#'..='[' | ']'..='~') { c } else { '?' }).collect()
}

// The metadata of the protected resource (RFC 9728).

/// The path of the metadata.
pub(in crate::http) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// This server as a protected resource.
#[derive(Clone, Debug)]
pub(in crate::http) struct Resource {
    name: String,
    servers: Vec<String>,
    metadata_url: String,
}

impl Resource {
    pub(in crate::http) fn new(name: String, servers: Vec<String>) -> Self {
        // The well-known path is inserted between the host and the path of the resource.
        let authority_at = name.find("://").map_or(0, |at| at + 3);
        let path_at = name[authority_at..].find('/').map_or(name.len(), |at| authority_at + at);
        let (origin, path) = name.split_at(path_at);
        let metadata_url = format!("{origin}{WELL_KNOWN}{}", path.trim_end_matches('/'));
        Self { name, servers, metadata_url }
    }

    pub(super) fn metadata_url(&self) -> &str {
        &self.metadata_url
    }

    /// Returns the metadata. Its scopes are those that every request needs, since clients request all of them at once;
    /// they learn the scopes of a tool from the challenge to its first call.
    pub(super) fn metadata(&self, scopes: &[String]) -> Vec<u8> {
        let mut metadata = json!({
            "resource": self.name,
            "authorization_servers": self.servers,
            "bearer_methods_supported": ["header"],
        });
        if !scopes.is_empty() {
            metadata["scopes_supported"] = scopes.into();
        }
        json_bytes(&metadata)
    }
}
