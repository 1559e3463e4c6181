//! Requests to the token endpoint.

use std::fmt;

use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;
use url::form_urlencoded::{Serializer, byte_serialize};

use super::error::{OAuthError, untrusted};
use super::fetch::Fetcher;
use super::grant::{AuthMethod, Client, Grant};
use super::scopes;

/// The maximum length of a token in bytes.
const MAX_TOKEN_LEN: usize = 16 << 10;

/// The maximum lifetime of an access token, in seconds: ten years. A longer one is shortened.
const MAX_LIFETIME: u64 = 10 * 365 * 24 * 60 * 60;

/// The tokens of a response. It has no `Debug`, since it contains secrets.
pub(super) struct Tokens {
    pub(super) access_token: String,
    pub(super) refresh_token: Option<String>,
    /// In seconds.
    pub(super) expires_in: Option<u64>,
    /// The scopes of the access token, if they differ from those of the request.
    pub(super) scopes: Option<Vec<String>>,
}

/// The reason why there are no tokens.
pub(super) struct TokenError {
    pub(super) rejected: Rejected,
    error: OAuthError,
}

/// The part of a request that an authorization server rejects.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rejected {
    /// The code or the refresh token is not valid any longer.
    Grant,
    /// The client is unknown, or must not make the request.
    Client,
    Scope,
    Other,
}

impl TokenError {
    pub(super) fn new(rejected: Rejected, error: OAuthError) -> Self {
        Self { rejected, error }
    }
}

impl From<OAuthError> for TokenError {
    fn from(error: OAuthError) -> Self {
        Self { rejected: Rejected::Other, error }
    }
}

impl From<TokenError> for OAuthError {
    fn from(error: TokenError) -> Self {
        error.error
    }
}

#[derive(Deserialize)]
struct Response {
    access_token: String,
    token_type: String,
    refresh_token: Option<String>,
    expires_in: Option<Value>,
    scope: Option<String>,
}

/// An error response, of this and other endpoints.
#[derive(Deserialize)]
pub(super) struct ErrorResponse {
    pub(super) error: String,
    pub(super) error_description: Option<String>,
}

impl ErrorResponse {
    pub(super) fn rejected(&self) -> Rejected {
        match self.error.as_str() {
            "invalid_grant" => Rejected::Grant,
            "invalid_client" | "unauthorized_client" => Rejected::Client,
            "invalid_scope" => Rejected::Scope,
            _ => Rejected::Other,
        }
    }
}

/// A phrase such as `invalid_scope (unknown scope)`.
impl fmt::Display for ErrorResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&untrusted(&self.error))?;
        match &self.error_description {
            Some(description) => write!(f, " ({})", untrusted(description)),
            None => Ok(()),
        }
    }
}

/// Exchanges an authorization code.
pub(super) async fn exchange(
    fetcher: &Fetcher,
    grant: &Grant,
    code: &str,
    verifier: &str,
    redirect_uri: &str,
) -> Result<Tokens, TokenError> {
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", redirect_uri),
        ("code_verifier", verifier),
    ];
    request(fetcher, grant, &fields).await
}

/// Renews the tokens. The scopes stay those of the login.
pub(super) async fn refresh(fetcher: &Fetcher, grant: &Grant, refresh_token: &str) -> Result<Tokens, TokenError> {
    request(fetcher, grant, &[("grant_type", "refresh_token"), ("refresh_token", refresh_token)]).await
}

/// Requests tokens for the client itself.
pub(super) async fn client_credentials(
    fetcher: &Fetcher,
    grant: &Grant,
    requested: &[String],
) -> Result<Tokens, TokenError> {
    let scope = requested.join(" ");
    let fields = [("grant_type", "client_credentials"), ("scope", &*scope)];
    request(fetcher, grant, if scope.is_empty() { &fields[..1] } else { &fields }).await
}

async fn request(fetcher: &Fetcher, grant: &Grant, fields: &[(&str, &str)]) -> Result<Tokens, TokenError> {
    let invalid = || OAuthError::new("the stored URL of the token endpoint is invalid");
    let url = Url::parse(&grant.token_endpoint).map_err(|_| invalid())?;
    let (form, basic) = form(grant, fields);
    let fetched = fetcher.post_form(&url, form, basic).await?;
    if !fetched.status.is_success() {
        // Some servers repeat the request.
        let secrets = fields.iter().map(|(_, value)| *value).chain(grant.client.secret.as_deref());
        let is_secret = |text: &String| secrets.clone().any(|secret| text.contains(secret));
        let response = fetched.json::<ErrorResponse>("an error of a token endpoint");
        return Err(match response {
            Ok(mut response) if response.rejected() != Rejected::Other || !is_secret(&response.error) => {
                response.error_description = response.error_description.filter(|text| !is_secret(text));
                let error = OAuthError::new(format!("the authorization server rejected the request: {response}"));
                TokenError::new(response.rejected(), error)
            }
            _ => {
                let message = format!("the authorization server rejected the request with status {}", fetched.status);
                OAuthError::new(message).into()
            }
        });
    }
    let response: Response = fetched.json("a token response")?;
    Ok(Tokens::try_from(response)?)
}

/// Returns the form, and the user and password of HTTP Basic authentication.
fn form(grant: &Grant, fields: &[(&str, &str)]) -> (String, Option<(String, String)>) {
    let Client { id, secret, auth, .. } = &grant.client;
    let mut form = Serializer::new(String::new());
    form.extend_pairs(fields).append_pair("resource", &grant.resource);
    let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let basic = match (auth, secret) {
        (AuthMethod::Basic, Some(secret)) => Some((encoded(id), encoded(secret))),
        (AuthMethod::Post, Some(secret)) => {
            form.append_pair("client_id", id).append_pair("client_secret", secret);
            None
        }
        _ => {
            form.append_pair("client_id", id);
            None
        }
    };
    (form.finish(), basic)
}

impl TryFrom<Response> for Tokens {
    type Error = OAuthError;

    fn try_from(response: Response) -> Result<Self, OAuthError> {
        if !response.token_type.eq_ignore_ascii_case("bearer") {
            let kind = untrusted(&response.token_type);
            return Err(OAuthError::new(format!(
                "the authorization server issues tokens of the type `{kind}`, not `Bearer`"
            )));
        }
        // The token becomes the value of a header.
        let is_token = |token: &str| {
            (1..=MAX_TOKEN_LEN).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic())
        };
        if !is_token(&response.access_token) {
            return Err(OAuthError::new("the authorization server issued an access token with invalid characters"));
        }
        Ok(Self {
            access_token: response.access_token,
            refresh_token: response.refresh_token.filter(|token| (1..=MAX_TOKEN_LEN).contains(&token.len())),
            // Some servers send the number as a string.
            expires_in: response
                .expires_in
                .and_then(|seconds| match seconds {
                    Value::String(text) => text.parse().ok(),
                    seconds => seconds.as_u64().or_else(|| seconds.as_f64().map(|seconds| seconds as u64)),
                })
                .map(|seconds| seconds.min(MAX_LIFETIME)),
            scopes: response.scope.as_deref().map(scopes::parse),
        })
    }
}
