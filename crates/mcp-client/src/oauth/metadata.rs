//! The metadata of protected resources (RFC 9728) and authorization servers (RFC 8414, OpenID Connect Discovery).

#[cfg(test)]
mod tests;

use reqwest::Url;
use serde::Deserialize;

use super::fetch::{Fetcher, FoundDocument};
use super::oauth_error::{OAuthError, shown, untrusted};

/// The metadata of a protected resource.
#[derive(Deserialize)]
pub(super) struct ResourceMetadata {
    pub(super) resource: String,
    pub(super) authorization_servers: Option<Vec<String>>,
    pub(super) scopes_supported: Option<Vec<String>>,
}

impl ResourceMetadata {
    /// Checks that this is the metadata of the server: its resource is the URL of the server, or a path above it whose
    /// metadata is at `source` (RFC 9728, section 3.3). Otherwise, a server could get tokens for all servers of its host.
    pub(super) fn check(&self, server: &Url, source: &Url) -> Result<(), OAuthError> {
        let mismatch = || {
            let resource = untrusted(&self.resource);
            OAuthError::new(format!("the metadata of `{}` is for another resource: `{resource}`", shown(server)))
        };
        let resource = Url::parse(&self.resource).map_err(|_| mismatch())?;
        let is_valid = resource.origin() == server.origin() && resource.fragment().is_none();
        let is_at_source = || Self::well_known(&resource) == *source;
        match is_valid && (is_same(&resource, server) || is_above(&resource, server) && is_at_source()) {
            true => Ok(()),
            false => Err(mismatch()),
        }
    }

    /// Returns the URL of the metadata of a resource.
    pub(super) fn well_known(resource: &Url) -> Url {
        let mut url = resource.clone();
        url.set_path(&format!("/.well-known/oauth-protected-resource{}", path(resource)));
        url.set_query(None);
        url.set_fragment(None);
        url
    }
}

fn path(url: &Url) -> &str {
    url.path().trim_end_matches('/')
}

fn is_same(resource: &Url, server: &Url) -> bool {
    path(resource) == path(server) && resource.query() == server.query()
}

fn is_above(resource: &Url, server: &Url) -> bool {
    let rest = path(server).strip_prefix(path(resource));
    resource.query().is_none() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The metadata of an authorization server, as it is published.
#[derive(Deserialize)]
struct Published {
    pub(super) issuer: String,
    authorization_endpoint: Option<String>,
    token_endpoint: String,
    pub(super) registration_endpoint: Option<String>,
    response_types_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    pub(super) scopes_supported: Option<Vec<String>>,
    client_id_metadata_document_supported: Option<bool>,
    authorization_response_iss_parameter_supported: Option<bool>,
}

/// The checked metadata of an authorization server.
pub(super) struct ServerMetadata {
    /// The issuer in its own spelling, for comparison with the `iss` of its responses.
    pub(super) issuer: String,
    pub(super) authorization_endpoint: Option<Url>,
    pub(super) token_endpoint: Url,
    pub(super) registration_endpoint: Option<Url>,
    pub(super) has_codes: bool,
    pub(super) has_pkce: bool,
    pub(super) auth_methods: Option<Vec<String>>,
    pub(super) scopes: Vec<String>,
    pub(super) has_client_documents: bool,
    pub(super) sends_issuer: bool,
}

impl ServerMetadata {
    /// Reads the metadata of the authorization server with this issuer.
    pub(super) async fn fetch(fetcher: &Fetcher, url: &Url, issuer: &str) -> Result<FoundDocument<Self>, OAuthError> {
        let published: Published = match fetcher.find(url, "the metadata of an authorization server").await? {
            FoundDocument::Document(published) => published,
            FoundDocument::Nothing(fault) => return Ok(FoundDocument::Nothing(fault)),
        };
        // A final slash of a URL without a path has no meaning, and some servers publish their issuer in both forms.
        if without_root_slash(&published.issuer) != without_root_slash(issuer) {
            let (found, url) = (untrusted(&published.issuer), untrusted(url.as_str()));
            let message =
                format!("`{url}` is the metadata of another issuer: `{found}` instead of `{}`", untrusted(issuer));
            return Err(OAuthError::new(message));
        }
        let endpoint = |text: &str| {
            let url = Url::parse(text);
            let url = url.map_err(|_| OAuthError::new(format!("the endpoint `{}` is not a URL", untrusted(text))))?;
            fetcher.check(&url)?;
            Ok::<Url, OAuthError>(url)
        };
        let has = |values: &Option<Vec<String>>, value: &str| values.as_ref().map(|all| all.iter().any(|v| v == value));
        Ok(FoundDocument::Document(Self {
            authorization_endpoint: published.authorization_endpoint.as_deref().map(endpoint).transpose()?,
            token_endpoint: endpoint(&published.token_endpoint)?,
            registration_endpoint: published.registration_endpoint.as_deref().map(endpoint).transpose()?,
            has_codes: has(&published.response_types_supported, "code") != Some(false),
            // A server that does not list the method may ignore the challenge.
            has_pkce: has(&published.code_challenge_methods_supported, "S256") == Some(true),
            auth_methods: published.token_endpoint_auth_methods_supported,
            scopes: published.scopes_supported.unwrap_or_default(),
            has_client_documents: published.client_id_metadata_document_supported == Some(true),
            sends_issuer: published.authorization_response_iss_parameter_supported == Some(true),
            issuer: published.issuer,
        }))
    }
}

/// Removes the final slash of a URL without a path.
pub(super) fn without_root_slash(url: &str) -> &str {
    match url.strip_suffix('/') {
        Some(rest) if rest.bytes().filter(|byte| *byte == b'/').count() == 2 => rest,
        _ => url,
    }
}
