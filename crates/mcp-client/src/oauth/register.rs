//! The client of a login: configured, described by a document, or registered (RFC 7591).

use serde::Deserialize;
use serde_json::json;

use super::discovery::ServerMetadata;
use super::error::{OAuthError, untrusted};
use super::fetch::Fetcher;
use super::grant::{AuthMethod, Client, ClientOrigin};
use super::settings::OAuth;
use super::token::ErrorResponse;

const DEFAULT_NAME: &str = "toolkit";

/// Returns the client of a login. `known` is that of an earlier login at the same issuer.
pub(super) async fn client(
    fetcher: &Fetcher,
    server: &ServerMetadata,
    settings: &OAuth,
    known: Option<&Client>,
    redirect_uri: Option<&str>,
    scopes: &[String],
) -> Result<Client, OAuthError> {
    if let Some(client) = configured(server, settings)? {
        return Ok(client);
    }
    if let (Some(url), true) = (&settings.client_metadata_url, server.has_client_documents) {
        return Ok(Client { origin: ClientOrigin::Document, ..public(url.clone()) });
    }
    let is_usable = |known: &&Client| {
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

fn configured(server: &ServerMetadata, settings: &OAuth) -> Result<Option<Client>, OAuthError> {
    let Some(id) = &settings.client_id else {
        return Ok(None);
    };
    let client = Client { origin: ClientOrigin::Configured, ..public(id.clone()) };
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
    Ok(Some(Client { secret: Some(secret.expose().to_owned()), auth, ..client }))
}

fn public(id: String) -> Client {
    Client {
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
) -> Result<Client, OAuthError> {
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
    Ok(Client {
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
