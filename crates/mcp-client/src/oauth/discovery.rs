//! Discovery of the authorization server of an MCP server, and the client of a login there: configured, described by a
//! document, or registered (dynamic client registration, RFC 7591).

use reqwest::Url;
use serde::Deserialize;
use serde_json::json;

use super::fetch::{Fetcher, FoundDocument};
use super::metadata::{ResourceMetadata, ServerMetadata, without_root_slash};
use super::oauth_error::{OAuthError, shown, untrusted};
use super::scopes;
use super::scopes::Challenge;
use super::settings::OAuth;
use super::token::{AuthMethod, ClientOrigin, ErrorResponse, OAuthClient};

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
        FoundDocument::Document(resource) => resource,
        // Metadata that is unavailable may contain another authorization server.
        FoundDocument::Nothing(Some(fault)) if fault.is_temporary() => return Err(fault),
        FoundDocument::Nothing(fault) => {
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
) -> Result<FoundDocument<ResourceMetadata>, OAuthError> {
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
            FoundDocument::Document(metadata) => {
                metadata.check(server, &url)?;
                return Ok(FoundDocument::Document(metadata));
            }
            FoundDocument::Nothing(fault) => first_fault = first_fault.or(fault),
        }
    }
    Ok(FoundDocument::Nothing(first_fault))
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
            FoundDocument::Document(metadata) => return Ok(metadata),
            FoundDocument::Nothing(fault) => first_fault = first_fault.or(fault),
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

const DEFAULT_NAME: &str = "toolkit";

/// Returns the client of a login. `known` is that of an earlier login at the same issuer.
pub(super) async fn client(
    fetcher: &Fetcher,
    server: &ServerMetadata,
    settings: &OAuth,
    known: Option<&OAuthClient>,
    redirect_uri: Option<&str>,
    scopes: &[String],
) -> Result<OAuthClient, OAuthError> {
    if let Some(client) = configured(server, settings)? {
        return Ok(client);
    }
    if let (Some(url), true) = (&settings.client_metadata_url, server.has_client_documents) {
        return Ok(OAuthClient { origin: ClientOrigin::Document, ..public(url.clone()) });
    }
    let is_usable = |known: &&OAuthClient| {
        known.is_registered()
            && known.redirect_uri.as_deref() == redirect_uri
            && super::scopes::covers(&known.scopes, scopes)
    };
    if let Some(known) = known.filter(is_usable) {
        return Ok(known.clone());
    }
    match (&server.registration_endpoint, redirect_uri) {
        (Some(_), Some(redirect_uri)) => register(fetcher, server, settings, redirect_uri, scopes).await,
        _ => Err(OAuthError::new(format!(
            "the authorization server `{}` does not register clients; register one there and configure its client id",
            untrusted(&server.issuer)
        ))),
    }
}

fn configured(server: &ServerMetadata, settings: &OAuth) -> Result<Option<OAuthClient>, OAuthError> {
    let Some(id) = &settings.client_id else {
        return Ok(None);
    };
    let client = OAuthClient { origin: ClientOrigin::Configured, ..public(id.clone()) };
    let Some(secret) = &settings.client_secret else {
        return Ok(Some(client));
    };
    // Basic authentication is the default of RFC 8414.
    let supports = |name: &str| server.auth_methods.as_ref().map(|all| all.iter().any(|method| method == name));
    let auth = match (supports(AuthMethod::Basic.name()), supports(AuthMethod::Post.name())) {
        (None | Some(true), _) => AuthMethod::Basic,
        (_, Some(true)) => AuthMethod::Post,
        _ => {
            let issuer = untrusted(&server.issuer);
            return Err(OAuthError::new(format!("the authorization server `{issuer}` does not accept client secrets")));
        }
    };
    Ok(Some(OAuthClient { secret: Some(secret.expose().to_owned()), auth, ..client }))
}

fn public(id: String) -> OAuthClient {
    OAuthClient {
        id,
        secret: None,
        auth: AuthMethod::None,
        origin: ClientOrigin::Configured,
        redirect_uri: None,
        scopes: Vec::new(),
        secret_expires_at: None,
        is_rejected: false,
    }
}

#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<String>,
    /// In seconds since 1970, or 0.
    client_secret_expires_at: Option<u64>,
    token_endpoint_auth_method: Option<String>,
}

async fn register(
    fetcher: &Fetcher,
    server: &ServerMetadata,
    settings: &OAuth,
    redirect_uri: &str,
    scopes: &[String],
) -> Result<OAuthClient, OAuthError> {
    let Some(url) = &server.registration_endpoint else {
        return Err(OAuthError::new("the authorization server does not register clients"));
    };
    let is_supported = |method: &AuthMethod| {
        server.auth_methods.as_ref().is_none_or(|all| all.iter().any(|name| name == method.name()))
    };
    let wanted = [AuthMethod::None, AuthMethod::Basic, AuthMethod::Post].into_iter().find(is_supported);
    let wanted = wanted.ok_or_else(|| {
        OAuthError::new(
            "the authorization server supports none of the methods of client authentication: `none`, \
             `client_secret_basic` and `client_secret_post`",
        )
    })?;
    let mut metadata = json!({
        "client_name": settings.client_name.as_deref().unwrap_or(DEFAULT_NAME),
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": wanted.name(),
        "application_type": "native",
    });
    if !scopes.is_empty() {
        metadata["scope"] = scopes.join(" ").into();
    }
    let fetched = fetcher.post_json(url, metadata.to_string()).await?;
    if !fetched.status.is_success() {
        let reason = match fetched.json::<ErrorResponse>("an error of a registration endpoint") {
            Ok(response) => response.to_string(),
            Err(_) => format!("status {}", fetched.status),
        };
        let message = format!(
            "the authorization server did not register this client: {reason}; register one there and configure its \
             client id"
        );
        return Err(OAuthError::new(message));
    }
    let registered: Registered = fetched.json("a registration of a client")?;
    let auth = match registered.token_endpoint_auth_method.as_deref() {
        Some(name) => AuthMethod::from_name(name).ok_or_else(|| {
            OAuthError::new(format!("the authorization server requires `{}` for this client", untrusted(name)))
        })?,
        None => wanted,
    };
    let secret = registered.client_secret.filter(|secret| !secret.is_empty() && auth != AuthMethod::None);
    if auth != AuthMethod::None && secret.is_none() {
        return Err(OAuthError::new(
            "the authorization server registered a client without the secret that it requires",
        ));
    }
    Ok(OAuthClient {
        id: registered.client_id,
        secret,
        auth,
        origin: ClientOrigin::Registered,
        redirect_uri: Some(redirect_uri.to_owned()),
        scopes: scopes.to_vec(),
        secret_expires_at: registered.client_secret_expires_at.filter(|at| *at > 0),
        is_rejected: false,
    })
}
