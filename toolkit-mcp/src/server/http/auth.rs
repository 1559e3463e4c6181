//! Authentication with bearer tokens (RFC 6750), and the metadata of the protected resource (RFC 9728).

#[cfg(feature = "jwt")]
mod algorithm;
#[cfg(feature = "jwt")]
mod jwks;
#[cfg(feature = "jwt")]
mod jwt;

use std::fmt;
use std::future::ready;
use std::sync::Arc;

use http::HeaderMap;
use serde_json::json;
use toolkit::dispatch::BoxFuture;
use toolkit_http::bearer;

#[cfg(feature = "jwt")]
pub use self::algorithm::Algorithm;
#[cfg(feature = "jwt")]
pub use self::jwks::{Jwks, JwksError};
#[cfg(feature = "jwt")]
pub use self::jwt::{Jwt, JwtIssuer};
use crate::server::reply::json_bytes;
use crate::server::request::Caller;

/// Authenticates callers by their token.
///
/// # Examples
///
/// ```
/// use toolkit::dispatch::BoxFuture;
/// use toolkit_mcp::server::{Caller, TokenError, Verify};
///
/// struct Guests;
///
/// impl Verify for Guests {
///     fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
///         Box::pin(async move {
///             let name = token.strip_prefix("guest-").ok_or(TokenError::Invalid)?;
///             Ok(Caller::named(name))
///         })
///     }
/// }
/// ```
pub trait Verify: Send + Sync + 'static {
    /// Returns the caller that the token belongs to.
    ///
    /// # Errors
    ///
    /// Returns an error if the token is invalid or does not grant access.
    fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>>;
}

/// The reason why a token was rejected.
///
/// # Examples
///
/// ```
/// # use toolkit::{Catalog, Dispatcher};
/// # use toolkit_mcp::server::Server;
/// use http::Request;
/// use toolkit::dispatch::BoxFuture;
/// use toolkit_mcp::server::{Caller, TokenError, Verify};
/// use tower_service::Service as _;
///
/// struct ReadOnlyTokens;
///
/// impl Verify for ReadOnlyTokens {
///     fn verify<'v>(&'v self, _token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
///         Box::pin(async { Err(TokenError::InsufficientScope) })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = Server::new(Dispatcher::new(Catalog::new([])?)?)?;
/// let mut service = server.http().verify(ReadOnlyTokens).scopes(["tools:call"]).into_service();
/// let request = Request::post("/mcp").header("host", "localhost").header("authorization", "Bearer abc");
/// let response = service.call(request.body(String::new())?).await?;
/// assert_eq!(response.status(), 403);
/// assert_eq!(response.headers()["www-authenticate"], r#"Bearer error="insufficient_scope", scope="tools:call""#);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenError {
    /// The token is unknown or expired: `401`.
    Invalid,
    /// The token does not grant the required scopes: `403`.
    InsufficientScope,
    /// The token cannot be verified at the moment, such as when its issuer is not reachable: `503`.
    Unavailable,
}

/// The authentication settings of a server.
#[derive(Clone, Default)]
pub(super) struct Auth {
    pub(super) verify: Option<Arc<dyn Verify>>,
    pub(super) resource: Option<Resource>,
    /// The scopes that a token must grant.
    pub(super) scopes: Vec<String>,
}

/// The response to a rejected token.
pub(super) struct Challenge {
    pub(super) refusal: TokenError,
    /// The value of `WWW-Authenticate`, if another token could help.
    pub(super) header: Option<String>,
}

impl Auth {
    /// Authenticates the caller of a request. Returns `None` if the server requires no token.
    pub(super) async fn caller(&self, headers: &HeaderMap) -> Result<Option<Arc<Caller>>, Challenge> {
        let Some(verify) = &self.verify else {
            return Ok(None);
        };
        let Some(token) = bearer(headers) else {
            return Err(self.challenge(TokenError::Invalid, None));
        };
        match verify.verify(token).await {
            Ok(caller) => Ok(Some(Arc::new(caller))),
            Err(refusal @ TokenError::Invalid) => Err(self.challenge(refusal, Some("invalid_token"))),
            Err(refusal @ TokenError::InsufficientScope) => Err(self.challenge(refusal, Some("insufficient_scope"))),
            Err(refusal @ TokenError::Unavailable) => Err(Challenge { refusal, header: None }),
        }
    }

    fn challenge(&self, refusal: TokenError, error: Option<&str>) -> Challenge {
        let mut header = "Bearer".to_owned();
        let error = error.map(|error| format!("error=\"{error}\""));
        let metadata =
            self.resource.as_ref().map(|resource| format!("resource_metadata=\"{}\"", resource.metadata_url));
        let scope = (!self.scopes.is_empty()).then(|| format!("scope=\"{}\"", self.scopes.join(" ")));
        let params: Vec<String> = error.into_iter().chain(scope).chain(metadata).collect();
        if !params.is_empty() {
            header = format!("{header} {}", params.join(", "));
        }
        Challenge { refusal, header: Some(header) }
    }
}

/// This server as a protected resource.
#[derive(Clone, Debug)]
pub(super) struct Resource {
    name: String,
    servers: Vec<String>,
    metadata_url: String,
}

impl Resource {
    pub(super) fn new(name: String, servers: Vec<String>) -> Self {
        // The well-known path is inserted between the host and the path of the resource.
        let authority_at = name.find("://").map_or(0, |at| at + 3);
        let path_at = name[authority_at..].find('/').map_or(name.len(), |at| authority_at + at);
        let (origin, path) = name.split_at(path_at);
        let metadata_url = format!("{origin}{WELL_KNOWN}{}", path.trim_end_matches('/'));
        Self { name, servers, metadata_url }
    }

    /// Returns the protected resource metadata (RFC 9728).
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

/// The path of the protected resource metadata.
pub(super) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// A token that all callers share.
pub(super) struct Token(String);

impl Token {
    pub(super) fn new(token: String) -> Self {
        Self(token)
    }

    /// Compares tokens in constant time.
    fn is(&self, token: &str) -> bool {
        let (mine, theirs) = (self.0.as_bytes(), token.as_bytes());
        let differs = std::iter::zip(mine, theirs).fold(0, |differs, (a, b)| std::hint::black_box(differs | (a ^ b)));
        !mine.is_empty() && mine.len() == theirs.len() && differs == 0
    }
}

impl Verify for Token {
    fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
        Box::pin(ready(match self.is(token) {
            true => Ok(Caller::anonymous()),
            false => Err(TokenError::Invalid),
        }))
    }
}

// Tokens are secrets, and a verifier may hold some.
impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Auth").field("asks", &self.verify.is_some()).field("resource", &self.resource).finish()
    }
}
