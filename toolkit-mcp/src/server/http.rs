//! The protocol over HTTP: `POST /mcp`.

mod auth;
mod body;
mod denied;
mod error;
mod gate;
mod listening;
mod rate;
mod receive;
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
pub use self::listening::Listening;
use self::rate::Rate;
pub use self::service::Service;
use super::Server;
use toolkit_http::{HostGuard, Limits};

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
    guard: HostGuard,
    auth: Auth,
    rate: Option<Rate>,
    is_open: bool,
}

impl Server {
    /// Serves over HTTP.
    pub fn http(&self) -> Http {
        Http {
            server: self.clone(),
            limits: Limits::default(),
            guard: HostGuard::local(),
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

    /// Names the scopes that a token needs: in the metadata of the resource (`scopes_supported`) and in the challenge of a
    /// request without a valid token, or whose token does not grant enough (`scope`, RFC 6750).
    ///
    /// ```
    /// # use toolkit_mcp::server::Server;
    /// # fn http(server: Server) {
    /// let http = server
    ///     .http()
    ///     .resource("https://tools.example/mcp", ["https://login.example"])
    ///     .scopes(["tools:list", "tools:call"]);
    /// # }
    /// ```
    pub fn scopes<I>(mut self, scopes: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.auth.scopes = scopes.into_iter().map(Into::into).collect();
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
        self.guard = self.guard.with_host(host);
        self
    }

    /// Answers to pages of this origin, as in `https://example.com`. By default it answers to pages of the machine
    /// itself, and to what is no page.
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.guard = self.guard.with_origin(origin);
        self
    }

    /// How long a message may be, in bytes; 4 MiB by default.
    pub fn max_body_bytes(mut self, n_bytes: usize) -> Self {
        self.limits.max_body_bytes = n_bytes;
        self
    }

    /// Changes the limits of connections, event streams and bodies.
    ///
    /// ```
    /// # use toolkit_mcp::server::Server;
    /// # fn http(server: Server) {
    /// let http = server.http().limits(|limits| limits.max_event_streams = 32);
    /// # }
    /// ```
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Sets how many connections are open at once; 1024 by default. Beyond it, idle connections are closed for new ones;
    /// see [`Limits`].
    pub fn max_connections(mut self, n_connections: usize) -> Self {
        self.limits.max_connections = n_connections.max(1);
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
        self.limits.io_timeout = time;
        self
    }

    /// How long calls that run may go on when the server is to end; 30 s by default.
    pub fn grace(mut self, time: Duration) -> Self {
        self.limits.shutdown_timeout = time;
        self
    }

    /// Converts the server into a tower service, for a router of the host: with axum `route_service("/mcp", …)` or
    /// `nest_service("/api", …)`.
    ///
    /// Wherever it is mounted, it takes messages at every path that it is given but those that end with `/healthz` and
    /// `/metrics` and those that contain `/.well-known/oauth-protected-resource`, which are what they are in the table
    /// above. The metadata of the resource is looked for at the root of the host; route
    /// `/.well-known/oauth-protected-resource/{*path}` to the service too.
    ///
    /// What accepts connections bounds them, and limits how often clients call. Hosts other than the machine's own are
    /// named with [`Http::allow_host`].
    #[must_use]
    pub fn into_service(self) -> Service {
        Service::new(self, true)
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
        if !is_local && !self.guard.names_hosts() {
            // Clients that reach it have a token, unless the host of the server wants it otherwise.
            self.guard = self.guard.with_any_host();
        }
        let listener = toolkit_http::bind(&addresses).map_err(HttpError::Io)?;
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
