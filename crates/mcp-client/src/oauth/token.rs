//! Requests to the token endpoint, and the record of a login: the client, its tokens, when they expire and are refreshed, and
//! to which servers they belong.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolkit::call::SecretString;
use url::form_urlencoded::{Serializer, byte_serialize};

use super::fetch::Fetcher;
use super::oauth_error::{OAuthError, untrusted};
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
struct TokenResponse {
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

/// Exchanges the token of a caller (RFC 8693).
pub(super) async fn exchange_caller(
    fetcher: &Fetcher,
    grant: &Grant,
    caller: &str,
    audience: Option<&str>,
    requested: &[String],
) -> Result<Tokens, TokenError> {
    const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
    let scope = requested.join(" ");
    let mut fields = vec![
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("subject_token", caller),
        ("subject_token_type", ACCESS_TOKEN),
        ("requested_token_type", ACCESS_TOKEN),
    ];
    fields.extend(audience.map(|audience| ("audience", audience)));
    if !scope.is_empty() {
        fields.push(("scope", &scope));
    }
    let tokens = request(fetcher, grant, &fields).await?;
    match tokens.access_token == caller {
        true => Err(OAuthError::new("the authorization server returned the token of the caller").into()),
        false => Ok(tokens),
    }
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
    let response: TokenResponse = fetched.json("a token response")?;
    Ok(Tokens::try_from(response)?)
}

/// Returns the form, and the user and password of HTTP Basic authentication.
fn form(grant: &Grant, fields: &[(&str, &str)]) -> (String, Option<(String, String)>) {
    let OAuthClient { id, secret, auth, .. } = &grant.client;
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

impl TryFrom<TokenResponse> for Tokens {
    type Error = OAuthError;

    fn try_from(response: TokenResponse) -> Result<Self, OAuthError> {
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

/// The version of the format.
const VERSION: u32 = 1;

/// The time before the expiry of a token at which it is renewed, in seconds, or a tenth of its lifetime if that is less.
const LEEWAY: u64 = 60;

/// The record of a login. It has no `Debug`, since it contains secrets.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Grant {
    version: u32,
    pub(super) kind: GrantKind,
    /// The URL of the MCP server, the only one that receives the access token.
    pub(super) server: String,
    pub(super) resource: String,
    pub(super) issuer: String,
    /// The only URL that receives the refresh token and the secret of the client.
    pub(super) token_endpoint: String,
    pub(super) client: OAuthClient,
    /// The scopes of the last authorization request.
    pub(super) requested: Vec<String>,
    /// The scopes of the access token.
    pub(super) granted: Vec<String>,
    /// The scopes that the MCP server has asked for since the login.
    #[serde(default)]
    pub(super) required: Vec<String>,
    pub(super) access_token: Option<String>,
    /// The time at which the access token was received, in seconds since 1970.
    obtained_at: u64,
    expires_in: Option<u64>,
    pub(super) refresh_token: Option<String>,
}

/// The owner of the tokens: the tokens of a user are not used for the client itself, and the reverse.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum GrantKind {
    User,
    Client,
}

/// A client of the authorization server.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct OAuthClient {
    pub(super) id: String,
    pub(super) secret: Option<String>,
    pub(super) auth: AuthMethod,
    pub(super) origin: ClientOrigin,
    pub(super) redirect_uri: Option<String>,
    /// The scopes with which the client was registered.
    pub(super) scopes: Vec<String>,
    /// The time at which the secret expires, in seconds since 1970.
    pub(super) secret_expires_at: Option<u64>,
    /// True if another client must be registered for the next login.
    #[serde(default)]
    pub(super) is_rejected: bool,
}

impl OAuthClient {
    /// Returns true for a registered client that the authorization server still has, as far as is known.
    pub(super) fn is_registered(&self) -> bool {
        let is_expired = self.secret_expires_at.is_some_and(|at| at <= now());
        self.origin == ClientOrigin::Registered && !self.is_rejected && !is_expired
    }
}

/// The way a client got its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ClientOrigin {
    Configured,
    Document,
    Registered,
}

toolkit::named! {
    /// The authentication of a client at the token endpoint.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub(super) enum AuthMethod {
        #[serde(rename = "none")]
        None = "none",
        #[serde(rename = "client_secret_post")]
        Post = "client_secret_post",
        #[serde(rename = "client_secret_basic")]
        Basic = "client_secret_basic",
    }
}

impl Grant {
    /// Creates a record without tokens.
    pub(super) fn new(
        kind: GrantKind,
        server: &str,
        resource: &str,
        issuer: &str,
        token_endpoint: &str,
        client: OAuthClient,
    ) -> Self {
        Self {
            version: VERSION,
            kind,
            server: server.to_owned(),
            resource: resource.to_owned(),
            issuer: issuer.to_owned(),
            token_endpoint: token_endpoint.to_owned(),
            client,
            requested: Vec::new(),
            granted: Vec::new(),
            required: Vec::new(),
            access_token: None,
            obtained_at: 0,
            expires_in: None,
            refresh_token: None,
        }
    }

    /// Adds the tokens of a response. `requested` are the scopes of the request.
    pub(super) fn set_tokens(&mut self, tokens: Tokens, requested: Vec<String>) {
        self.granted = tokens.scopes.unwrap_or_else(|| requested.clone());
        self.requested = requested;
        self.access_token = Some(tokens.access_token);
        self.obtained_at = now();
        self.expires_in = tokens.expires_in;
        // Without a new one, the old one remains valid (RFC 6749, section 6).
        self.refresh_token = tokens.refresh_token.or(self.refresh_token.take());
    }

    /// Removes what the authorization server has rejected, so that the next login does not repeat it.
    pub(super) fn reject(&mut self, rejected: Rejected) {
        match rejected {
            Rejected::Client => self.client.is_rejected = self.client.origin == ClientOrigin::Registered,
            // The scopes of a later request are more likely to be the cause.
            Rejected::Scope if self.required.is_empty() => self.requested.clear(),
            Rejected::Scope => self.required.clear(),
            Rejected::Grant | Rejected::Other => {}
        }
    }

    /// Removes the tokens and keeps the client.
    pub(super) fn clear_tokens(&mut self) {
        self.access_token = None;
        self.refresh_token = None;
    }

    /// Returns true if its tokens were received after those of the other record.
    pub(super) fn is_newer_than(&self, other: &Self) -> bool {
        self.obtained_at > other.obtained_at
    }

    /// Returns the access token unless it has expired.
    pub(super) fn valid_token(&self) -> Option<SecretString> {
        let is_valid = self.expires_at().is_none_or(|at| now() < at);
        self.access_token.as_deref().filter(|_| is_valid).map(SecretString::from)
    }

    /// Returns the access token unless it expires soon.
    pub(super) fn fresh_token(&self) -> Option<SecretString> {
        let leeway = self.expires_in.map_or(0, |lifetime| LEEWAY.min(lifetime / 10));
        let is_fresh = self.expires_at().is_none_or(|at| now().saturating_add(leeway) < at);
        self.access_token.as_deref().filter(|_| is_fresh).map(SecretString::from)
    }

    /// Returns the time at which the access token expires, in seconds since 1970.
    pub(super) fn expires_at(&self) -> Option<u64> {
        self.expires_in.map(|lifetime| self.obtained_at.saturating_add(lifetime))
    }

    /// Serializes the record, without a configured secret, which stays in the configuration.
    pub(super) fn to_record(&self) -> Result<SecretString, OAuthError> {
        let mut record = self.clone();
        if record.client.origin == ClientOrigin::Configured {
            record.client.secret = None;
        }
        let json = serde_json::to_string(&record);
        json.map(SecretString::from).map_err(|_| OAuthError::new("the record of the login cannot be written"))
    }

    /// Reads a record of the login at this server.
    pub(super) fn from_record(record: &SecretString, server: &str) -> Result<Self, OAuthError> {
        let grant: Result<Self, _> = serde_json::from_str(record.expose());
        match grant {
            Ok(grant) if grant.version == VERSION && grant.server == server => Ok(grant),
            // The message of the parser may quote a secret.
            _ => Err(OAuthError::new("the stored record of the login is invalid; log out and in again")),
        }
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
