//! The interface between the HTTP transport and a source of access tokens.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{ClientBuilder, Url};
use toolkit::call::{ErrorKind, SecretString};
use toolkit::dispatch::BoxFuture;
use toolkit_runtime::is_loopback;

/// A source of access tokens for the requests to one server.
pub(super) trait Authorizer: Send + Sync {
    /// Returns the token for the next request, or `None` before a login.
    fn token(&self) -> BoxFuture<'_, Result<Option<SecretString>, AuthorizationError>>;

    /// Records that the server has accepted a token.
    fn accepted(&self, token: &SecretString);

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

impl fmt::Display for AuthorizationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server {}", self.message)
    }
}

impl Error for AuthorizationError {}

// Connections to servers on this machine.

/// Returns true if the host is a loopback address, `localhost`, or a name below `localhost`.
pub(super) fn is_local(url: &Url) -> bool {
    let name = url.host_str().unwrap_or_default().trim_end_matches('.');
    is_loopback(name) || name.ends_with(".localhost")
}

/// Makes a client that is used for local URLs only connect to loopback addresses only: a proxy would read the tokens of
/// requests without TLS, and so would the host that a resolver returns for a name such as `example.localhost`.
pub(super) fn connect_locally(client: ClientBuilder) -> ClientBuilder {
    client.no_proxy().dns_resolver(Arc::new(LoopbackResolver))
}

struct LoopbackResolver;

impl Resolve for LoopbackResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let is_local = Url::parse(&format!("http://{}", name.as_str())).is_ok_and(|url| is_local(&url));
        // The client replaces the port.
        let addresses = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
        let addresses = addresses.map(|address| SocketAddr::new(address, 0));
        Box::pin(async move {
            match is_local {
                true => Ok(Box::new(addresses.into_iter()) as Addrs),
                false => Err(io::Error::other("the host is not on this machine").into()),
            }
        })
    }
}
