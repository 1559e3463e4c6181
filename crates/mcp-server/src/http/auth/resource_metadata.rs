//! The metadata of the protected resource (RFC 9728).

use serde_json::json;
use toolkit_mcp::json_bytes;

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
