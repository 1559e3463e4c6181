//! Discovery of the authorization server of an MCP server.

use reqwest::Url;

use super::challenge::Challenge;
use super::error::{OAuthError, shown, untrusted};
use super::fetch::{Fetcher, Found};
use super::metadata::{ResourceMetadata, ServerMetadata, without_root_slash};
use super::scopes;

/// The authorization server of an MCP server.
pub(super) struct Discovered {
    /// The identifier of the MCP server, exactly as it is published.
    pub(super) resource: String,
    /// The scopes that the MCP server publishes.
    pub(super) scopes: Vec<String>,
    pub(super) server: ServerMetadata,
}

/// Finds the authorization server of `server`. `challenge` is that of a rejected request, and `issuer` the configured
/// issuer.
pub(super) async fn discover(
    fetcher: &Fetcher,
    server: &Url,
    challenge: &Challenge,
    issuer: Option<&str>,
) -> Result<Discovered, OAuthError> {
    fetcher.check(server)?;
    let resource = match resource_metadata(fetcher, server, challenge).await? {
        Found::Document(resource) => resource,
        // Metadata that is unavailable may contain another authorization server.
        Found::Nothing(Some(fault)) if fault.is_temporary() => return Err(fault),
        Found::Nothing(fault) => {
            let found = without_resource_metadata(fetcher, server, issuer).await;
            return found.map_err(|error| fault.unwrap_or(error));
        }
    };
    let listed = resource.authorization_servers.unwrap_or_default();
    let chosen = match issuer {
        Some(issuer) => listed.iter().find(|listed| without_root_slash(listed) == without_root_slash(issuer)),
        None => listed.first(),
    };
    let Some(chosen) = chosen else {
        let server = shown(server);
        return Err(OAuthError::new(match (issuer, listed.first()) {
            (Some(issuer), Some(other)) => {
                format!("`{server}` uses the authorization server `{}` instead of `{issuer}`", untrusted(other))
            }
            _ => format!("the metadata of `{server}` names no authorization server"),
        }));
    };
    Ok(Discovered {
        resource: resource.resource,
        scopes: scopes::union([], resource.scopes_supported.iter().flatten().map(String::as_str)),
        server: server_metadata(fetcher, chosen).await?,
    })
}

/// Requests the metadata of the MCP server, at the URL of the challenge or at the well-known ones.
async fn resource_metadata(
    fetcher: &Fetcher,
    server: &Url,
    challenge: &Challenge,
) -> Result<Found<ResourceMetadata>, OAuthError> {
    let mut urls = Vec::new();
    if let Some(advertised) = &challenge.resource_metadata {
        let url = server.join(advertised);
        urls.push(url.map_err(|_| {
            OAuthError::new(format!("the URL of the metadata, `{}`, is invalid", untrusted(advertised)))
        })?);
    }
    for resource in [server, &at(server, "")] {
        let url = ResourceMetadata::well_known(resource);
        if !urls.contains(&url) {
            urls.push(url);
        }
    }
    let mut first_fault = None;
    for url in urls {
        match fetcher.find::<ResourceMetadata>(&url, "the metadata of a protected resource").await? {
            Found::Document(metadata) => {
                metadata.check(server, &url)?;
                return Ok(Found::Document(metadata));
            }
            Found::Nothing(fault) => first_fault = first_fault.or(fault),
        }
    }
    Ok(Found::Nothing(first_fault))
}

/// Returns the authorization server of an MCP server before revision 2025-06-18, which is its own one.
async fn without_resource_metadata(
    fetcher: &Fetcher,
    server: &Url,
    issuer: Option<&str>,
) -> Result<Discovered, OAuthError> {
    let origin = server.origin().ascii_serialization();
    if issuer.is_some_and(|issuer| without_root_slash(issuer) != origin) {
        return Err(OAuthError::new(format!("`{}` has no metadata", shown(server))));
    }
    let found = server_metadata(fetcher, &origin).await.map_err(|error| match error.is_temporary() {
        true => error,
        false => OAuthError::new(format!("`{}` has no metadata for logins: {error}", shown(server))),
    })?;
    let mut resource = server.clone();
    resource.set_query(None);
    Ok(Discovered { resource: resource.into(), scopes: Vec::new(), server: found })
}

/// Requests the metadata of an authorization server.
async fn server_metadata(fetcher: &Fetcher, issuer: &str) -> Result<ServerMetadata, OAuthError> {
    let invalid = || OAuthError::new(format!("the issuer `{}` is not a valid URL", untrusted(issuer)));
    let url = Url::parse(issuer).map_err(|_| invalid())?;
    if url.query().is_some() || url.fragment().is_some() {
        let message = format!("the issuer `{}` must not have a query or a fragment", shown(&url));
        return Err(OAuthError::new(message));
    }
    fetcher.check(&url)?;
    let path = url.path().trim_end_matches('/');
    let mut paths = vec![
        format!("/.well-known/oauth-authorization-server{path}"),
        format!("/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        paths.push(format!("{path}/.well-known/openid-configuration"));
    }
    let mut first_fault = None;
    for path in paths {
        match ServerMetadata::fetch(fetcher, &at(&url, &path), issuer).await? {
            Found::Document(metadata) => return Ok(metadata),
            Found::Nothing(fault) => first_fault = first_fault.or(fault),
        }
    }
    let none = || OAuthError::new(format!("the authorization server `{}` has no metadata", untrusted(issuer)));
    Err(first_fault.unwrap_or_else(none))
}

/// Returns the URL of a path on the same server.
fn at(url: &Url, path: &str) -> Url {
    let mut url = url.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url
}
