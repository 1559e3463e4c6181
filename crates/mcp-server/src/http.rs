//! The Streamable HTTP transport: `POST /mcp`.
//!
//! | module | contains |
//! | --- | --- |
//! | this file | settings |
//! | `listening`, `http_error` | a server that is bound to an address, and the errors of starting it |
//! | `service` | from a request to its response, with the status of a request for an unknown session or path |
//! | `auth` | admission: tokens, scopes and the rate limit |
//! | `rate` | the rate limit of clients |
//! | `receive` | from a POST to its response |
//! | `sessions` | the ids of sessions |
//! | `server_card` | the documents by which clients find the server |
//! | `response`, `rejection` | responses to messages, and to rejected requests |
//! | `openapi` | each tool as `POST /tools/NAME`, and their document |
//! | `route` | further routes of the host, and `GET /healthz` |

mod auth;
mod http_error;
mod listening;
#[cfg(feature = "openapi")]
mod openapi;
mod rate;
mod receive;
mod rejection;
mod response;
mod route;
mod server_card;
mod service;
mod sessions;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::net::ToSocketAddrs;
use toolkit::Tool;
use toolkit::call::{BoxError, BoxFuture};
use toolkit_runtime::{HostGuard, HttpServer, Limits, NetworkError, TrustedProxies};

#[cfg(feature = "jwt")]
pub use self::auth::{Algorithm, Jwks, JwksError, Jwt, JwtIssuer};
use self::auth::{Auth, FixedToken, Resource};
pub use self::auth::{TokenError, Verify};
pub use self::http_error::HttpError;
pub use self::listening::Listening;
use self::rate::Rate;
pub use self::response::Body;
use self::route::HealthCheck;
pub use self::route::{Admission, Route, RouteRequest};
pub use self::server_card::{ServerCard, ServerCardError};
pub use self::service::Service;
use self::service::{Inner, RenderMetrics};
use self::sessions::Sessions;
use super::server::Server;

/// The settings of an HTTP server; see [`Server::http`].
///
/// The defaults are safe: the server accepts requests only for `localhost` and loopback addresses and from no other web
/// pages, and it limits the resources of clients. An address that other machines can reach requires [`Http::token`] or
/// [`Http::verify`].
///
/// | route | response |
/// |---|---|
/// | `POST /mcp` | the response to a message: JSON, or an event stream if a message precedes it, or after 10 s |
/// | `GET /mcp` | an event stream of changes, for clients of revisions before 2026-07-28 |
/// | `DELETE /mcp` | the end of a session of such a client |
/// | `GET /healthz` | `200`, or `503` during shutdown and while an [`Http::health_check`] fails; the text has the number of backends that are not ready |
/// | `GET /metrics` | metrics in the Prometheus text format |
/// | `GET /status` | the state of the backends of a proxy, as JSON; see [`Status`](super::Status) |
/// | `GET /.well-known/oauth-protected-resource` | OAuth metadata, with [`Http::resource`] |
/// | `POST /tools/NAME`, `GET /openapi.json` | the tools for programs, and their document, with [`Http::openapi`] |
/// | `GET /mcp/server-card`, `GET /.well-known/ai-catalog.json` | how to find the server, with [`Http::server_card`] |
///
/// # Examples
///
/// ```no_run,standalone_crate
/// use std::time::Duration;
///
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_mcp_server::Server;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::new(Dispatcher::new(Catalog::linked()?)?)?;
/// let token = std::env::var("SERVE_TOKEN")?;
/// server
///     .http()
///     .token(token)
///     .allow_host("tools.example")
///     .allow_origin("https://app.example")
///     .max_body_bytes(1 << 20)
///     .max_connections(256)
///     .rate(10, 50)
///     .io_timeout(Duration::from_secs(10))
///     .shutdown_timeout(Duration::from_secs(20))
///     .serve("0.0.0.0:8000")
///     .await?;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct Http {
    server: Server,
    limits: Limits,
    guard: HostGuard,
    auth: Auth,
    server_card: Option<ServerCard>,
    routes: Vec<Arc<dyn Route>>,
    health_checks: Vec<HealthCheck>,
    metrics: Vec<RenderMetrics>,
    #[cfg(feature = "openapi")]
    has_openapi: bool,
    allows_unauthenticated: bool,
    /// True if the token of all clients is easily guessed.
    has_short_token: bool,
    drain_delay: Duration,
}

/// The least length of a token at an address that other machines can reach, in bytes.
const MIN_TOKEN_LEN: usize = 16;

impl Http {
    pub(super) fn new(server: Server) -> Self {
        Self {
            server,
            limits: Limits::default(),
            guard: HostGuard::local(),
            auth: Auth::default(),
            server_card: None,
            routes: Vec::new(),
            health_checks: Vec::new(),
            metrics: Vec::new(),
            #[cfg(feature = "openapi")]
            has_openapi: false,
            allows_unauthenticated: false,
            has_short_token: false,
            drain_delay: Duration::ZERO,
        }
    }

    /// Requires this token of all clients (`Authorization: Bearer …`). At an address that other machines can reach, it must
    /// have at least 16 characters.
    pub fn token(self, token: impl Into<String>) -> Self {
        let token = token.into();
        let has_short_token = token.len() < MIN_TOKEN_LEN;
        Self { has_short_token, ..self.verify(FixedToken::new(token)) }
    }

    /// Requires a token of all clients and authenticates them with `verify`.
    pub fn verify(mut self, verify: impl Verify) -> Self {
        self.auth.verify = Some(Arc::new(verify));
        self.has_short_token = false;
        self
    }

    /// Publishes where clients obtain tokens: the URL of this server and of its authorization servers (RFC 9728).
    pub fn resource(
        mut self,
        resource: impl Into<String>,
        authorization_servers: impl IntoIterator<Item: Into<String>>,
    ) -> Self {
        let servers = authorization_servers.into_iter().map(Into::into).collect();
        self.auth.resource = Some(Resource::new(resource.into(), servers));
        self
    }

    /// Publishes how clients find the server and connect to it, to everyone and to pages of all origins, without the token.
    pub fn server_card(self, card: ServerCard) -> Self {
        Self { server_card: Some(card), ..self }
    }

    /// Sets the scopes that a token needs for every request. A request whose token does not grant them is answered with
    /// `403` and a challenge with the scopes (`insufficient_scope`, RFC 6750).
    ///
    /// They are also published in the metadata of the resource (`scopes_supported`), from which clients request all
    /// scopes at once. Choose the minimum, and let [tools](Http::tool_scopes) need more. The scope `offline_access` is
    /// ignored, since only clients know whether they want refresh tokens.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolkit_mcp_server::Server;
    /// # fn http(server: Server) {
    /// let http = server
    ///     .http()
    ///     .resource("https://tools.example/mcp", ["https://login.example"])
    ///     .scopes(["tools:list", "tools:call"]);
    /// # }
    /// ```
    pub fn scopes(mut self, scopes: impl IntoIterator<Item: Into<String>>) -> Self {
        self.auth.scopes.set_base(scopes.into_iter().map(Into::into));
        self
    }

    /// Sets the scopes that a token needs to read `/metrics` and `/status`, which show what all callers do. Default: those of
    /// every request, and for a service that is [mounted](Http::into_service) beside the routes of a host, the token of
    /// [`Http::token`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolkit_mcp_server::Server;
    /// # fn http(server: Server) {
    /// let http = server.http().operator_scopes(["tools:operate"]);
    /// # }
    /// ```
    pub fn operator_scopes(mut self, scopes: impl IntoIterator<Item: Into<String>>) -> Self {
        self.auth.scopes.set_operator(scopes.into_iter().map(Into::into));
        self
    }

    /// Sets the scopes that a token needs to call a tool, in addition to those of [`Http::scopes`]. Default: those that
    /// the tool requires, as in `#[tool(requires(scopes = ["files:write"]))]`.
    ///
    /// A call whose token does not grant them does not run. It is answered with `403` and a challenge with all scopes
    /// that the call needs, for which the client asks its user. The scopes of a token are those of its
    /// [`Caller`](crate::Caller); the token of [`Http::token`] grants all of them. A server without tokens does
    /// not check scopes.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolkit_mcp_server::Server;
    /// # fn http(server: Server) {
    /// let http = server.http().tool_scopes(|tool| match tool.annotations().read_only {
    ///     Some(true) => vec![],
    ///     _ => vec![format!("{}:write", tool.id().namespace().unwrap_or("tools"))],
    /// });
    /// # }
    /// ```
    pub fn tool_scopes(mut self, scopes: impl Fn(&Tool) -> Vec<String> + Send + Sync + 'static) -> Self {
        self.auth.scopes.of_tool = Some(Arc::new(scopes));
        self
    }

    /// Sets the scopes that a token needs to read a resource, or to subscribe to it, in addition to those of
    /// [`Http::scopes`]. The function receives the URI, or the template of a listed template. Default: to read a
    /// resource of a server behind a proxy, the scopes of at least one of the tools of that server; none for the
    /// resources of this program.
    ///
    /// Resources whose scopes a token does not grant are not listed.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolkit_mcp_server::Server;
    /// # fn http(server: Server) {
    /// let http = server.http().resource_scopes(|uri| match uri.starts_with("proxy:mail/") {
    ///     true => vec!["mail:read".to_owned()],
    ///     false => vec![],
    /// });
    /// # }
    /// ```
    pub fn resource_scopes(mut self, scopes: impl Fn(&str) -> Vec<String> + Send + Sync + 'static) -> Self {
        self.auth.scopes.of_resource = Some(Arc::new(scopes));
        self
    }

    /// Sets a hierarchy of scopes: a function that returns true if a granted scope (the first argument) covers a
    /// required one. Default: each scope covers itself only.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolkit_mcp_server::Server;
    /// # fn http(server: Server) {
    /// // `files` covers `files:read` and `files:write`.
    /// let covers = |granted: &str, required: &str| {
    ///     required.strip_prefix(granted).is_some_and(|rest| rest.starts_with(':'))
    /// };
    /// let http = server.http().scope_covers(covers);
    /// # }
    /// ```
    pub fn scope_covers(mut self, covers: impl Fn(&str, &str) -> bool + Send + Sync + 'static) -> Self {
        self.auth.scopes.covers = Some(Arc::new(covers));
        self
    }

    /// Allows clients without a token on an address that other machines can reach. Without this setting, [`Http::bind`]
    /// returns an error for such an address unless the server requires tokens.
    pub fn allow_unauthenticated(mut self) -> Self {
        self.allows_unauthenticated = true;
        self
    }

    /// Accepts requests for this host name (`Host`), with any port unless `host` has one. While the server is bound to
    /// a loopback address, it otherwise accepts only `localhost`, `127.0.0.1` and `[::1]`, which prevents DNS
    /// rebinding.
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.guard = self.guard.with_host(host);
        self
    }

    /// Accepts requests of web pages of this origin, such as `https://example.com`. By default, the server accepts
    /// requests of pages of `localhost` and loopback addresses, and requests without an origin.
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.guard = self.guard.with_origin(origin);
        self
    }

    /// Sets the maximum size of a message, in bytes. Default: 4 MiB.
    pub fn max_body_bytes(mut self, n_bytes: usize) -> Self {
        self.limits.max_body_bytes = n_bytes;
        self
    }

    /// Changes the limits of connections, event streams and bodies.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolkit_mcp_server::Server;
    /// # fn http(server: Server) {
    /// let http = server.http().limits(|limits| limits.max_event_streams = 32);
    /// # }
    /// ```
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Sets the number of open connections. Beyond it, idle connections are closed for new ones; see [`Limits`].
    /// Default: 1024.
    pub fn max_connections(mut self, n_connections: usize) -> Self {
        self.limits.max_connections = n_connections.max(1);
        self
    }

    /// Sets the rate limit of requests per client: the rate per second, and the size of a burst. Clients are identified
    /// by the subject of their token, or else by their address. Default: no limit.
    pub fn rate(mut self, per_second: u32, at_once: u32) -> Self {
        self.auth.rate = Some(Rate::new(per_second, at_once));
        self
    }

    /// Adds a part of the server beside the MCP endpoint, such as a page for people. It is served behind the checks of the
    /// endpoint, and for its own paths only; see [`Route`]. Pages of the host of a request may then use the endpoint.
    pub fn route(mut self, route: impl Route) -> Self {
        self.routes.push(Arc::new(route));
        self
    }

    /// Serves each tool as `POST /tools/NAME` too, for programs that know OpenAPI and not MCP, and describes them at
    /// `/openapi.json`. These requests have the limits, tokens, layers and audit lines of calls over MCP.
    ///
    /// The body of a request is the object of arguments. The response is `200` with the result as JSON: the structured result of
    /// the tool, or its text, or its blocks of content. A failed call has another status, and a body
    /// `{"error": {"kind": …, "message": …, "retryable": …}}`, with `violations` for invalid arguments (`422`).
    ///
    /// # Examples
    ///
    /// ```
    /// use http::Request;
    /// use http_body_util::BodyExt as _;
    /// use toolkit::{Dispatcher, catalog, tool};
    /// use toolkit_mcp_server::Server;
    /// use tower_service::Service as _;
    ///
    /// /// Adds two integers.
    /// #[tool]
    /// fn add(a: i32, b: i32) -> i32 {
    ///     a + b
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::new(Dispatcher::new(catalog![add]?)?)?;
    /// let mut service = server.http().openapi().into_service();
    /// let request = Request::post("/tools/add").header("host", "localhost").header("content-type", "application/json");
    /// let response = service.call(request.body(r#"{"a": 1, "b": 2}"#.to_owned())?).await?;
    /// assert_eq!(response.into_body().collect().await?.to_bytes(), "3");
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "openapi")]
    pub fn openapi(self) -> Self {
        Self { has_openapi: true, ..self }
    }

    /// Adds a check of something that calls need, such as a database: while it fails, `/healthz` answers `503` with the name,
    /// and a load balancer sends calls elsewhere. The error is logged.
    ///
    /// The check runs when `/healthz` is requested, at most once in a second, and fails after five seconds. Let a probe of
    /// readiness ask for `/healthz`, and not one of liveness: a restart does not repair a database.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use toolkit_mcp_server::Server;
    /// # struct Pool;
    /// # impl Pool { async fn ping(&self) -> std::io::Result<()> { Ok(()) } }
    /// # fn http(server: Server, pool: Arc<Pool>) {
    /// let http = server.http().health_check("database", move || {
    ///     let pool = Arc::clone(&pool);
    ///     async move { pool.ping().await }
    /// });
    /// # }
    /// ```
    pub fn health_check<F, E>(mut self, name: impl Into<String>, check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<BoxError>,
    {
        let run = move || -> BoxFuture<'static, _> {
            let checked = check();
            Box::pin(async move { checked.await.map_err(Into::into) })
        };
        self.health_checks.push(HealthCheck::new(name.into(), run));
        self
    }

    /// Adds metrics to those of `/metrics`, such as those of a queue. `render` is called for each request, and returns lines in
    /// the Prometheus text format.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn http(server: toolkit_mcp_server::Server) {
    /// let http = server.http().metrics(async || "jobs_queued 3\n".to_owned());
    /// # }
    /// ```
    pub fn metrics<F>(mut self, render: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = String> + Send + 'static,
    {
        self.metrics.push(Box::new(move || Box::pin(render())));
        self
    }

    /// Sets the time that a client may take to send the head of a request, to send its body, or to read a response.
    /// Default: 30 s.
    pub fn io_timeout(mut self, time: Duration) -> Self {
        self.limits.io_timeout = time;
        self
    }

    /// Sets the time that running calls may take after shutdown was requested. Default: 30 s.
    pub fn shutdown_timeout(mut self, time: Duration) -> Self {
        self.limits.shutdown_timeout = time;
        self
    }

    /// Sets the time between the request to shut down and the moment from which no connections are accepted. Health checks
    /// fail meanwhile, and responses close their connections, so that a load balancer sends further calls elsewhere before
    /// one of them is refused. Set it to more than twice the interval of its health checks. Default: none.
    pub fn drain_delay(mut self, time: Duration) -> Self {
        self.drain_delay = time;
        self
    }

    /// Trusts proxies in front of the server, given as addresses or networks such as `10.0.0.0/8`: rates are those of the
    /// clients in their `X-Forwarded-For`, and limits per address do not apply to them. See [`TrustedProxies`].
    ///
    /// # Errors
    ///
    /// Returns an error if a text is neither a network nor an address.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolkit::{Catalog, Dispatcher};
    /// # use toolkit_mcp_server::Server;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = Server::new(Dispatcher::new(Catalog::new([])?)?)?;
    /// let http = server.http().rate(10, 50).trust_proxies(["10.0.0.0/8"])?;
    /// assert!(server.http().trust_proxies(["balancer.example"]).is_err());
    /// # drop(http);
    /// # Ok(())
    /// # }
    /// ```
    pub fn trust_proxies(mut self, networks: impl IntoIterator<Item: AsRef<str>>) -> Result<Self, NetworkError> {
        self.limits.trusted_proxies = TrustedProxies::new(networks)?;
        Ok(self)
    }

    /// Converts the server into a tower service, for a router of the host: with axum `route_service("/mcp", …)` or
    /// `nest_service("/api", …)`.
    ///
    /// The service treats all paths as `/mcp`, except for those of a [`Route`] or a view, and paths that end with `/healthz`,
    /// `/metrics`, `/status` or those of `openapi` or contain `/.well-known/oauth-protected-resource`, which have the meaning of
    /// the table above. Clients look for the
    /// OAuth metadata at the root of the host, so route `/.well-known/oauth-protected-resource/{*path}` to the service
    /// too. The path of a [`View`](crate::View) is the one that the service receives: that of `route_service`, or what
    /// `nest_service` leaves of it.
    ///
    /// A tool reads the extensions of its request with [`Context::get`](toolkit::Context::get), such as the user that a
    /// middleware has found. A [`Caller`](crate::Caller) among them is the caller, unless the server checks tokens itself.
    ///
    /// The host's HTTP server limits connections and rates. Add host names other than `localhost` with
    /// [`Http::allow_host`].
    #[must_use]
    pub fn into_service(self) -> Service {
        self.service(true)
    }

    fn service(self, is_mounted: bool) -> Service {
        // The pages of a route use the endpoint.
        let guard = if self.routes.is_empty() { self.guard } else { self.guard.with_own_pages() };
        #[cfg(feature = "openapi")]
        let has_openapi = self.has_openapi;
        let Self { server, limits, auth, server_card, routes, health_checks, metrics, .. } = self;
        Service::new(Inner {
            server,
            http: HttpServer::new(limits, guard),
            auth,
            sessions: Sessions::default(),
            server_card,
            routes,
            health_checks,
            metrics,
            #[cfg(feature = "openapi")]
            has_openapi,
            is_mounted,
            n_rejected: AtomicU64::default(),
        })
    }

    /// Binds an address, without accepting connections yet.
    ///
    /// # Errors
    ///
    /// Returns an error if the address cannot be bound, or if other machines can reach it and the server requires no
    /// token or a short one.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use toolkit_mcp_server::Server;
    /// # async fn run(server: Server) -> Result<(), Box<dyn std::error::Error>> {
    /// let listening = server.http().bind("127.0.0.1:0").await?;
    /// println!("http://{}/mcp", listening.local_addr()?);
    /// listening.run(std::future::pending()).await;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn bind(mut self, address: impl ToSocketAddrs) -> Result<Listening, HttpError> {
        let addresses: Vec<SocketAddr> = tokio::net::lookup_host(address).await.map_err(HttpError::Io)?.collect();
        let is_local = addresses.iter().all(|address| address.ip().is_loopback());
        let allows_unauthenticated =
            self.allows_unauthenticated && self.routes.iter().all(|route| route.allows_unauthenticated());
        if !is_local && !allows_unauthenticated && self.auth.verify.is_none() {
            return Err(HttpError::Unprotected(addresses));
        }
        if !is_local && self.has_short_token {
            return Err(HttpError::ShortToken);
        }
        if !is_local && !self.guard.names_hosts() {
            // Clients there need a token, or the host allows all clients; DNS rebinding gains nothing.
            self.guard = self.guard.with_any_host();
        }
        let listener = toolkit_runtime::bind(&addresses).map_err(HttpError::Io)?;
        let drain_delay = self.drain_delay;
        Ok(Listening::new(listener, self.service(false), drain_delay))
    }

    /// Binds an address and serves it until the process receives SIGTERM or Ctrl-C, then shuts down gracefully.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Http::bind`].
    pub async fn serve(self, address: impl ToSocketAddrs) -> Result<(), HttpError> {
        self.bind(address).await?.run_until_signal().await;
        Ok(())
    }
}

toolkit::debug_fields!(Http { server, limits, guard });
