//! Admission of requests: authentication with bearer tokens (RFC 6750), the scopes that they need, and the rate limit.
//!
//! | module | contains |
//! | --- | --- |
//! | this file | the token of a request, its caller, what it may do, and how often |
//! | `scopes`, `challenge` | the scopes of operations, and challenges for more |
//! | `resource_metadata` | the metadata of the protected resource |
//! | `jwt`, `jwt_header`, `claims` | JWT access tokens |
//! | `jwks`, `key_cache`, `fetch` | the keys of the issuer |
//! | `key`, `algorithm` | one key, and its algorithms |

#[cfg(feature = "jwt")]
mod algorithm;
mod challenge;
#[cfg(feature = "jwt")]
mod claims;
#[cfg(feature = "jwt")]
mod fetch;
#[cfg(feature = "jwt")]
mod jwks;
#[cfg(feature = "jwt")]
mod jwt;
#[cfg(feature = "jwt")]
mod jwt_header;
#[cfg(feature = "jwt")]
mod key;
#[cfg(feature = "jwt")]
mod key_cache;
mod resource_metadata;
mod scopes;

use std::collections::HashMap;
use std::fmt;
use std::future::ready;
use std::sync::Arc;

use http::header::{self, HeaderValue};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use toolkit::Tool;
use toolkit::dispatch::BoxFuture;
use toolkit_mcp::Code;
use toolkit_runtime::{Mutex, RequestHead, bearer, client_network, is_token};

#[cfg(feature = "jwt")]
pub use self::algorithm::Algorithm;
use self::challenge::Challenge;
#[cfg(feature = "jwt")]
pub use self::jwks::{Jwks, JwksError};
#[cfg(feature = "jwt")]
pub use self::jwt::{Jwt, JwtIssuer};
pub(super) use self::resource_metadata::{Resource, WELL_KNOWN};
use self::scopes::Scopes;
use super::rate::Rate;
use super::rejection::Rejection;
use crate::access::{Access, Denied};
use crate::headers::is_modern;
use crate::metrics::RejectReason;
use crate::peer::extensions;
use crate::request::Caller;
use crate::state::ServerState;

/// Authenticates callers by their token.
///
/// # Examples
///
/// ```
/// use toolkit::dispatch::BoxFuture;
/// use toolkit_mcp_server::{Caller, TokenError, Verify};
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
/// # use toolkit_mcp_server::Server;
/// use http::Request;
/// use toolkit::dispatch::BoxFuture;
/// use toolkit_mcp_server::{Caller, TokenError, Verify};
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

/// The settings by which a server admits requests.
#[derive(Default)]
pub(super) struct Auth {
    pub(super) verify: Option<Arc<dyn Verify>>,
    pub(super) resource: Option<Resource>,
    pub(super) scopes: Scopes,
    pub(super) rate: Option<Rate>,
}

impl Auth {
    /// Authenticates the caller of a request, and applies the rate limit.
    pub(super) async fn admit(&self, head: &RequestHead) -> Result<Option<Arc<Caller>>, Rejection> {
        let caller = self.caller(&head.parts).await;
        if !matches!(caller, Ok(Some(_))) {
            head.check_reserve()?;
        }
        // Rejected requests count too, which slows down guessing of tokens.
        self.throttle(&caller, head)?;
        caller
    }

    /// Applies the rate limit to a request that needs no token.
    pub(super) fn admit_everyone(&self, head: &RequestHead) -> Result<(), Rejection> {
        head.check_reserve()?;
        self.throttle(&Ok(None), head)
    }

    fn throttle(&self, caller: &Result<Option<Arc<Caller>>, Rejection>, head: &RequestHead) -> Result<(), Rejection> {
        let Some(rate) = &self.rate else {
            return Ok(());
        };
        let subject = caller.as_ref().ok().and_then(|caller| caller.as_ref()?.identity());
        let client = match (subject, head.client()) {
            (Some(subject), _) => format!("subject {subject}"),
            (None, Some(address)) => format!("address {}", client_network(address)),
            // Rejected clients do not share a bucket with authenticated ones.
            (None, None) if caller.is_err() => "unauthenticated".to_owned(),
            (None, None) => String::new(),
        };
        rate.take(&client).map_err(|wait| {
            let seconds = wait.as_secs_f64().ceil().max(1.0);
            let message = "rate limit reached; try again later";
            let rejection =
                Rejection::new(RejectReason::Rate, StatusCode::TOO_MANY_REQUESTS, message).with_code(Code::Internal);
            rejection.with_header(header::RETRY_AFTER, HeaderValue::from(seconds as u64))
        })
    }

    /// Authenticates the caller of a request. A server that requires no token has the caller that a layer of the host has
    /// inserted, or none.
    async fn caller(&self, head: &Parts) -> Result<Option<Arc<Caller>>, Rejection> {
        let Some(verify) = &self.verify else {
            let caller = extensions(head).and_then(|extensions| extensions.get::<Caller>());
            return Ok(caller.cloned().map(Arc::new));
        };
        let challenge = self.challenge(&self.scopes.base);
        let Some(token) = bearer(&head.headers) else {
            return Err(challenge.reject(TokenError::Invalid));
        };
        let caller = verify.verify(token).await.and_then(|caller| {
            let is_granted = self.scopes.are_granted(&self.scopes.base, &caller);
            if is_granted { Ok(caller) } else { Err(TokenError::InsufficientScope) }
        });
        let caller = caller.map(|caller| match caller.has_all_scopes {
            // All callers share it.
            true => caller,
            false => caller.with_token(token),
        });
        caller.map(|caller| Some(Arc::new(caller))).map_err(|error| {
            let code = match error {
                TokenError::Invalid => Some("invalid_token"),
                TokenError::InsufficientScope => Some("insufficient_scope"),
                TokenError::Unavailable => None,
            };
            Challenge { error: code, ..challenge }.reject(error)
        })
    }

    /// Checks that a caller may read the metrics and the status. Beside the routes of a host, its users are no operators unless
    /// their tokens grant the scopes for it.
    pub(super) fn check_operator(
        &self,
        caller: Option<&Caller>,
        headers: &HeaderMap,
        is_mounted: bool,
    ) -> Result<(), Rejection> {
        let Some(user) = caller.filter(|caller| !caller.has_all_scopes) else { return Ok(()) };
        match self.scopes.operator() {
            Some(needed) if self.scopes.are_granted(needed, user) => Ok(()),
            Some(needed) => {
                let description = "the token does not grant the scopes of operators";
                Err(self.insufficient(caller, headers, needed.to_vec(), description))
            }
            None if is_mounted => {
                let message =
                    "users do not read this page; set the scopes that a token needs with `Http::operator_scopes`";
                Err(Rejection::new(RejectReason::Unauthorized, StatusCode::FORBIDDEN, message))
            }
            None => Ok(()),
        }
    }

    /// Rejects a request that the token of its caller does not grant.
    pub(super) fn reject(
        &self,
        caller: Option<&Caller>,
        headers: &HeaderMap,
        shared: &Arc<ServerState>,
        denied: &Denied,
    ) -> Rejection {
        let tools = match denied {
            Denied::Tools(tools) => &**tools,
            Denied::Prompt(prompt) => std::slice::from_ref(&**prompt),
            Denied::Resource(uri) => {
                let needed = self.scopes.of_resource(uri, shared).into_iter().min_by_key(Vec::len).unwrap_or_default();
                let description = "the token does not grant the scopes that the resource requires";
                return self.insufficient(caller, headers, needed, description);
            }
            Denied::UnknownTool => {
                let message = "the tool of the task is not served at the moment; try again later";
                let status = StatusCode::SERVICE_UNAVAILABLE;
                return Rejection::new(RejectReason::Overloaded, status, message).with_code(Code::Internal);
            }
        };
        let names: Vec<&str> = tools.iter().map(Tool::name).collect();
        let description = format!("the token does not grant the scopes that `{}` requires", names.join("`, `"));
        self.insufficient(caller, headers, self.scopes.of_calls(tools.iter()), &description)
    }

    /// Rejects a request whose token does not grant the needed scopes.
    fn insufficient(
        &self,
        caller: Option<&Caller>,
        headers: &HeaderMap,
        mut needed: Vec<String>,
        description: &str,
    ) -> Rejection {
        // Clients of earlier revisions replace their scopes by those of the challenge, so that without the granted
        // scopes they would alternate between the scopes of two tools.
        if !is_modern(headers) {
            let granted = caller.map(Caller::scopes).unwrap_or_default();
            let granted = granted.iter().filter(|scope| !needed.contains(scope));
            needed.extend(granted.cloned().collect::<Vec<_>>());
        }
        let challenge = self.challenge(&needed);
        let challenge = Challenge { error: Some("insufficient_scope"), description: Some(description), ..challenge };
        challenge.reject(TokenError::InsufficientScope)
    }

    /// Returns what the token of a caller grants, or `None` if it grants everything.
    pub(super) fn access(&self, shared: &Arc<ServerState>, caller: &Arc<Caller>) -> Option<Access> {
        if caller.has_all_scopes {
            return None;
        }
        let (scopes, shared, caller) = (self.scopes.clone(), Arc::clone(shared), Arc::clone(caller));
        let of_tools = (scopes.clone(), Arc::clone(&caller));
        let grants_tool = move |tool: &Tool| {
            let (scopes, caller) = &of_tools;
            scopes.are_granted(&scopes.of_calls(std::iter::once(tool)), caller)
        };
        // A list has many resources of a few backends.
        let known: Mutex<HashMap<String, bool>> = Mutex::default();
        Some(Access::new(grants_tool, move |uri| {
            let is_granted =
                || scopes.of_resource(uri, &shared).iter().any(|needed| scopes.are_granted(needed, &caller));
            let Some(backend) = scopes.backend_of(uri, &shared) else { return is_granted() };
            let mut known = known.lock();
            match known.get(backend) {
                Some(is_granted) => *is_granted,
                None => *known.entry(backend.to_owned()).or_insert(is_granted()),
            }
        }))
    }

    /// Returns all scopes that a call of a tool needs.
    #[cfg(feature = "openapi")]
    pub(super) fn scopes_of_call(&self, tool: Option<&Tool>) -> Vec<String> {
        self.scopes.of_calls(tool.into_iter())
    }

    /// Returns the metadata of the resource if the path requests it, and the host has declared one. It requires no token.
    pub(super) fn metadata(&self, path: &str) -> Option<Vec<u8>> {
        let resource = self.resource.as_ref().filter(|_| path.contains(WELL_KNOWN))?;
        Some(resource.metadata(&self.scopes.base))
    }

    fn challenge<'c>(&'c self, scopes: &'c [String]) -> Challenge<'c> {
        Challenge { scopes, metadata_url: self.resource.as_ref().map(Resource::metadata_url), ..Challenge::default() }
    }
}

/// A token that all callers share.
pub(super) struct FixedToken(String);

impl FixedToken {
    pub(super) fn new(token: String) -> Self {
        Self(token)
    }
}

impl Verify for FixedToken {
    fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
        Box::pin(ready(match is_token(token, &self.0) {
            true => Ok(Caller::anonymous().with_all_scopes()),
            false => Err(TokenError::Invalid),
        }))
    }
}

// Tokens are secrets, and a verifier may hold some.
impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Auth")
            .field("requires_token", &self.verify.is_some())
            .field("resource", &self.resource)
            .field("scopes", &self.scopes)
            .finish()
    }
}
