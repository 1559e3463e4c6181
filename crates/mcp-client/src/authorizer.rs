//! The interface between the HTTP transport and a source of access tokens.

mod loopback;

use std::error::Error;
use std::fmt;
use std::time::Duration;

use toolkit::call::{ErrorKind, SecretString};
use toolkit::dispatch::BoxFuture;
use toolkit::internals::CallerToken;

pub(super) use self::loopback::{connect_locally, is_local};

/// A source of access tokens for the requests to one server.
pub(super) trait Authorizer: Send + Sync {
    /// Returns the token for the next request, or `None` before a login.
    fn token(&self) -> BoxFuture<'_, Result<Option<SecretString>, AuthorizationError>>;

    /// Records that the server has accepted a token.
    fn accepted(&self, token: &SecretString);

    /// Returns a token for the caller with this token, other than one that the server has rejected.
    fn exchanged<'a>(
        &'a self,
        caller: &'a CallerToken,
        rejected: Option<&'a SecretString>,
    ) -> BoxFuture<'a, Result<SecretString, AuthorizationError>>;

    /// Returns another token, after the server has rejected a request with `used` and sent this challenge.
    fn replace<'a>(
        &'a self,
        used: Option<&'a SecretString>,
        challenge: &'a str,
    ) -> BoxFuture<'a, Result<SecretString, AuthorizationError>>;
}

/// The reason why there is no token for a request.
#[derive(Clone, Debug)]
pub(super) struct AuthorizationError {
    pub(super) kind: ErrorKind,
    /// A phrase that follows the name of the server. Models read it.
    pub(super) message: String,
    /// Details for the operator.
    pub(super) cause: Option<String>,
    /// The time after which the request may succeed.
    pub(super) retry_after: Option<Duration>,
}

impl AuthorizationError {
    pub(super) fn denied(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Denied, message: message.into(), cause: None, retry_after: None }
    }
}

impl fmt::Display for AuthorizationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server {}", self.message)
    }
}

impl Error for AuthorizationError {}
