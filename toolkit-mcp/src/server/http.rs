//! The protocol over HTTP: `POST /mcp`.

mod auth;
mod body;
mod denied;
mod error;
mod gate;
mod guard;
mod intake;
mod listening;
mod patience;
mod rate;
mod response;
mod service;
mod session;
mod sse;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::ToSocketAddrs;

use self::auth::{Auth, Resource, Token};
pub use self::auth::{Refusal, Verify};
pub use self::body::Body;
pub use self::error::HttpError;
use self::guard::Guard;
pub use self::listening::Listening;
use self::rate::Rate;
pub use self::service::Service;
use super::Server;

/// How a [`Server`] is reached over HTTP; see [`Server::http`].
///
/// It is safe as it comes: it is bound to the machine itself, answers to no name but that of the machine itself and to
/// no page of a browser, and bounds what a client can make it hold. To be reached by other machines it wants a token, or
/// another way to tell who calls.
///
/// | path | what |
/// |---|---|
/// | `POST /mcp` | a message, and what is answered: JSON, or a stream of events where progress is asked for |
/// | `GET /mcp` | a stream of changes, for clients of the revisions before 2026-07-28 |
/// | `DELETE /mcp` | the end of a session of such a client |
/// | `GET /healthz` | `200`, or `503` while the server ends |
/// | `GET /metrics` | what has happened, for Prometheus |
/// | `GET /.well-known/oauth-protected-resource` | where tokens are had, with [`Http::resource`] |
#[must_use]
pub struct Http {
    server: Server,
    limits: Limits,
    guard: Guard,
    auth: Auth,
    rate: Option<Rate>,
    is_open: bool,
}

/// What a client can make the server hold.
#[derive(Clone, Copy, Debug)]
struct Limits {
    body_bytes: usize,
    n_connections: usize,
    /// For a head, for a body, and for each write.
    patience: Duration,
    /// For calls that run when the server is to end.
    grace: Duration,
}

/// As much as a model ever sends, with room.
const MAX_BODY_BYTES: usize = 4 << 20;

const MAX_CONNECTIONS: usize = 1024;

const PATIENCE: Duration = Duration::from_secs(30);

impl Server {
    /// Serves over HTTP.
    pub fn http(&self) -> Http {
        Http {
            server: self.clone(),
            limits: Limits {
                body_bytes: MAX_BODY_BYTES,
                n_connections: MAX_CONNECTIONS,
                patience: PATIENCE,
                grace: PATIENCE,
            },
            guard: Guard::default(),
            auth: Auth::default(),
            rate: None,
            is_open: false,
        }
    }
}

impl Http {
    /// Asks every client for this token (`Authorization: Bearer …`).
    pub fn token(self, token: impl Into<String>) -> Self {
        self.verify(Token::new(token.into()))
    }

    /// Asks every client for a token, and this for who it is.
    pub fn verify(mut self, verify: impl Verify) -> Self {
        self.auth.verify = Some(Arc::new(verify));
        self
    }

    /// Says where tokens are had: this server's own address, and its authorisation servers (RFC 9728).
    pub fn resource<I>(mut self, resource: impl Into<String>, authorization_servers: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        let servers = authorization_servers.into_iter().map(Into::into).collect();
        self.auth.resource = Some(Resource::new(resource.into(), servers));
        self
    }

    /// Lets everybody who can reach the server call its tools, from whatever machine. Without this it refuses to be bound
    /// to an address that other machines reach, unless it asks for tokens.
    pub fn open_to_all(mut self) -> Self {
        self.is_open = true;
        self
    }

    /// Answers to this name too (`Host`), with or without a port. As long as the server is bound to the machine itself and
    /// no name is given, it answers to `localhost`, `127.0.0.1` and `[::1]` only, so that no page can reach it under a
    /// name of its own (DNS rebinding).
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.guard.hosts.push(host.into());
        self
    }

    /// Answers to pages of this origin, as in `https://example.com`. By default it answers to pages of the machine
    /// itself, and to what is no page.
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.guard.origins.push(origin.into());
        self
    }

    /// How long a message may be, in bytes; 4 MiB by default.
    pub fn max_body_bytes(mut self, n_bytes: usize) -> Self {
        self.limits.body_bytes = n_bytes;
        self
    }

    /// How many connections are open at once; 1024 by default. More wait to be accepted.
    pub fn max_connections(mut self, n_connections: usize) -> Self {
        self.limits.n_connections = n_connections.max(1);
        self
    }

    /// How many requests a second a client may make, and how many at once after a rest. A client is who its token says
    /// it is, or else its address. By default there is no limit.
    pub fn rate(mut self, per_second: u32, at_once: u32) -> Self {
        self.rate = Some(Rate::new(per_second, at_once));
        self
    }

    /// How long a client may take for the head of a request, for its body, and to read what it is sent; 30 s by default.
    pub fn patience(mut self, time: Duration) -> Self {
        self.limits.patience = time;
        self
    }

    /// How long calls that run may go on when the server is to end; 30 s by default.
    pub fn grace(mut self, time: Duration) -> Self {
        self.limits.grace = time;
        self
    }

    /// The server as a service of tower, for a router of the host's, such as axum's `route_service("/mcp", …)`: it looks
    /// for the paths above. Who may connect, and how often, is then for whatever accepts connections to say; names other
    /// than the machine's own are given with [`Http::allow_host`].
    #[must_use]
    pub fn into_service(mut self) -> Service {
        self.guard.is_local = true;
        Service::new(self)
    }

    /// Takes an address, at which nobody is answered yet.
    ///
    /// # Errors
    ///
    /// It cannot be had; or other machines reach it, and nothing says who may call.
    pub async fn bind(mut self, address: impl ToSocketAddrs) -> Result<Listening, HttpError> {
        let addresses: Vec<SocketAddr> = tokio::net::lookup_host(address).await.map_err(HttpError::Io)?.collect();
        let is_local = addresses.iter().all(|address| address.ip().is_loopback());
        if !is_local && !self.is_open && self.auth.verify.is_none() {
            return Err(HttpError::Unprotected(addresses));
        }
        self.guard.is_local = is_local;
        let listener = listening::bind(&addresses).map_err(HttpError::Io)?;
        Ok(Listening::new(listener, self))
    }

    /// Takes an address and serves it until the process is told to end, by SIGTERM or Ctrl-C; calls that run are finished.
    ///
    /// # Errors
    ///
    /// As for [`Http::bind`].
    pub async fn serve(self, address: impl ToSocketAddrs) -> Result<(), HttpError> {
        self.bind(address).await?.run_until_told().await;
        Ok(())
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http")
            .field("server", &self.server)
            .field("limits", &self.limits)
            .field("guard", &self.guard)
            .finish_non_exhaustive()
    }
}
