//! The record of a login: the client, its tokens, when they expire and are refreshed, and to which servers they belong.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use toolkit::call::SecretString;

use super::error::OAuthError;
use super::token::{Rejected, Tokens};

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
    pub(super) client: Client,
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
pub(super) struct Client {
    pub(super) id: String,
    pub(super) secret: Option<String>,
    pub(super) auth: AuthMethod,
    pub(super) origin: ClientOrigin,
    pub(super) redirect_uri: Option<String>,
    /// The scopes with which the client was registered.
    pub(super) scopes: Vec<String>,
    /// The time at which the secret expires, in seconds since 1970.
    #[serde(default)]
    pub(super) secret_expires_at: Option<u64>,
    /// True if another client must be registered for the next login.
    #[serde(default)]
    pub(super) is_rejected: bool,
}

impl Client {
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

/// The authentication of a client at the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum AuthMethod {
    #[serde(rename = "none")]
    None,
    #[serde(rename = "client_secret_post")]
    Post,
    #[serde(rename = "client_secret_basic")]
    Basic,
}

impl AuthMethod {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "none" => Self::None,
            "client_secret_post" => Self::Post,
            "client_secret_basic" => Self::Basic,
            _ => return None,
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Post => "client_secret_post",
            Self::Basic => "client_secret_basic",
        }
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
        client: Client,
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
