//! The server, with its limits and its state.

mod dedup;
mod reply;
mod tools_call;

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{CONNECTION, CONTENT_TYPE, HeaderValue};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use tokio::net::TcpListener;
use toolkit::{Coercion, Dispatcher};
use toolkit_runtime::{BodyReader, CallLimiter, Connection, HostGuard, TrustedProxies};
use tower_service::Service;

use self::dedup::Dedup;
use self::reply::Rejection;
use crate::{Auth, Naming, Published};

/// A server of Open Tool Calling for the tools of a dispatcher: `GET /health`, `GET /tools` and `POST /tools/call`.
///
/// # Status codes
///
/// | status | meaning |
/// |---|---|
/// | 200 | the tool ran; `success` reports whether it succeeded |
/// | 400 | the tool did not run: unknown tool or version, missing requirements, or a malformed message |
/// | 401 | the client is not authenticated |
/// | 403 | `Host` or `Origin` is not accepted, except for `GET /health`; see [`Server::host`] |
/// | 408 | the message did not arrive in time |
/// | 413, 415 | the message is too large, or not `application/json` |
/// | 422 | the input does not match the schema of the tool |
/// | 503 | the concurrency limit or the memory limit is reached, or the server shuts down |
///
/// # Repeated calls
///
/// A call runs once per `call_id`. A repeated request waits for the same response while the call runs, and gets the
/// same response later if it is still cached; see [`Limits::max_cached_responses`] and [`Limits::max_cached_bytes`]. Only calls
/// that ran are cached. A `call_id` with another tool, input or context is rejected.
///
/// # Cancellation
///
/// When all clients that wait for a call have disconnected, the call is canceled. A repeated request then gets that
/// response.
///
/// # Examples
///
/// ```no_run,standalone_crate
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_otc::{Auth, Naming, Server};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::new(Dispatcher::new(Catalog::linked()?)?)
///     .naming(&Naming::new("my-tools", "1.0.0"))
///     .auth(Auth::api_key(std::env::var("SERVE_TOKEN")?))
///     .host("tools.example.org");
/// for diagnostic in server.published().diagnostics() {
///     eprintln!("not published: {diagnostic}");
/// }
/// let listener = tokio::net::TcpListener::bind("0.0.0.0:8001").await?;
/// server.serve(listener, async { tokio::signal::ctrl_c().await.unwrap_or(()) }).await;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct Server {
    dispatcher: Dispatcher,
    published: Published,
    auth: Auth,
    hosts: Option<Vec<String>>,
    limits: Limits,
    readiness: Readiness,
}

impl Server {
    /// Creates a server without authentication that accepts requests for `localhost` and IP addresses.
    pub fn new(dispatcher: Dispatcher) -> Self {
        let published = Published::new(dispatcher.catalog(), &Naming::default());
        Self {
            // The clients of models send numbers, lists and objects as text.
            dispatcher: dispatcher.with_default_coercion(Coercion::Lossless),
            published,
            auth: Auth::none(),
            hosts: Some(Vec::new()),
            limits: Limits::default(),
            readiness: Readiness::new(),
        }
    }

    /// Sets the defaults for tools without a namespace or a version.
    pub fn naming(mut self, naming: &Naming) -> Self {
        self.published = Published::new(self.dispatcher.catalog(), naming);
        self
    }

    /// Sets the authentication of clients. `GET /health` requires none. Default: [`Auth::none`].
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = auth;
        self
    }

    /// Accepts requests for a host name. `localhost` and IP addresses are always accepted.
    ///
    /// This prevents DNS rebinding, in which a web page lets its own host name resolve to this machine: the `Host` of
    /// its requests is rejected.
    pub fn host(mut self, name: &str) -> Self {
        if let Some(hosts) = &mut self.hosts {
            hosts.push(name.to_ascii_lowercase());
        }
        self
    }

    /// Accepts requests for all hosts, for a server behind a proxy that checks them.
    pub fn any_host(mut self) -> Self {
        self.hosts = None;
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the published tools, and diagnostics of the others.
    #[must_use]
    pub fn published(&self) -> &Published {
        &self.published
    }

    /// Returns the readiness flag of the server; see [`Readiness`].
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        self.readiness.clone()
    }

    /// Converts the server into a router, for a program with its own HTTP server, which then limits connections and
    /// timeouts.
    pub fn router(self) -> Router {
        self.shared().1
    }

    fn shared(self) -> (Arc<Shared>, Router) {
        let Self { dispatcher, published, auth, hosts, limits, readiness } = self;
        let calls = CallLimiter::new(limits.max_calls);
        let bodies = BodyReader::new(&limits.http());
        let guard = match hosts {
            Some(hosts) => hosts.into_iter().fold(HostGuard::addresses(), HostGuard::with_host),
            None => HostGuard::unchecked(),
        };
        let dedup = Arc::new(Dedup::new(limits.max_cached_responses, limits.max_cached_bytes));
        let listed = published.to_json().to_string().into();
        let shared = Arc::new(Shared {
            dispatcher,
            published,
            auth,
            limits,
            readiness,
            is_draining: AtomicBool::new(false),
            listed,
            calls,
            bodies,
            guard,
            dedup,
        });
        let router = Router::new()
            .route("/tools", get(list))
            .route("/tools/call", post(tools_call::call))
            .route_layer(from_fn_with_state(Arc::clone(&shared), authenticated))
            .route_layer(from_fn_with_state(Arc::clone(&shared), of_this_host))
            // Health checks of balancers may have no `Host`.
            .route("/health", get(health))
            .fallback(|| async { Rejection::new(StatusCode::NOT_FOUND, "not found; the tools are at `/tools`") })
            .method_not_allowed_fallback(|| async {
                Rejection::new(StatusCode::METHOD_NOT_ALLOWED, "method not allowed")
            })
            .with_state(Arc::clone(&shared));
        (shared, router)
    }

    /// Serves connections until `shutdown` completes, then shuts down gracefully: fails health checks, rejects new calls
    /// after [`Limits::drain_delay`](Limits::drain_delay), and cancels running ones after
    /// [`Limits::shutdown_timeout`](Limits::shutdown_timeout).
    ///
    /// Dropping the future closes all connections at once.
    pub async fn serve(self, listener: TcpListener, shutdown: impl Future<Output = ()>) {
        let (shared, router) = self.shared();
        let limits = shared.limits.http();
        let readiness = shared.readiness.clone();
        let (draining, drain_delay) = (Arc::clone(&shared), shared.limits.drain_delay);
        let shutdown = async {
            shutdown.await;
            draining.is_draining.store(true, Ordering::Relaxed);
            tokio::time::sleep(drain_delay).await;
            readiness.set(false);
        };
        let draining = Arc::clone(&shared);
        let answer = move |mut request: Request<hyper::body::Incoming>, connection: Connection| {
            request.extensions_mut().insert(connection);
            let (mut router, draining) = (router.clone(), Arc::clone(&draining));
            async move {
                // An axum router is always ready.
                let answered: Result<Response, Infallible> = router.call(request.map(axum::body::Body::new)).await;
                let mut response = answered.unwrap_or_else(|never| match never {});
                // The next request of the client goes elsewhere, before the connection ends.
                if draining.is_draining.load(Ordering::Relaxed) {
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                response
            }
        };
        toolkit_runtime::serve(listener, limits, answer, shutdown).await;
        // Waits for canceled calls.
        let idle = async {
            while shared.calls.n_running() > 0 {
                tokio::time::sleep(CANCEL_TIMEOUT / 20).await;
            }
        };
        let _ = tokio::time::timeout(CANCEL_TIMEOUT, idle).await;
    }
}

/// Rejects requests without valid credentials.
async fn authenticated(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    if let Err(reason) = shared.auth.check(request.headers()) {
        let message = format!("unauthorized: {reason}");
        return Rejection::new(StatusCode::UNAUTHORIZED, message).into_response();
    }
    // The reserve is for health checks and authenticated clients.
    if shared.auth.is_none() && request.extensions().get().is_some_and(Connection::is_reserved) {
        return Rejection::busy("the connection limit is reached; try again later").into_response();
    }
    next.run(request).await
}

/// Rejects requests for other hosts, and of web pages of other origins.
async fn of_this_host(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    match shared.guard.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(rejection) => {
            let message = match rejection {
                toolkit_runtime::Rejection::Host => format!("{rejection}; the operator of the server can add it"),
                _ => rejection.to_string(),
            };
            Rejection::new(StatusCode::FORBIDDEN, message).into_response()
        }
    }
}

async fn health(State(shared): State<Arc<Shared>>) -> Response {
    match shared.readiness.is_ready() && !shared.is_draining.load(Ordering::Relaxed) {
        true => StatusCode::OK.into_response(),
        false => Rejection::not_ready().into_response(),
    }
}

async fn list(State(shared): State<Arc<Shared>>) -> Response {
    ([(CONTENT_TYPE, "application/json")], shared.listed.clone()).into_response()
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("auth", &self.auth)
            .field("hosts", &self.hosts)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// The time that canceled calls have to return.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

/// The limits of a [`Server`](Server).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use toolkit_otc::Limits;
///
/// let mut limits = Limits::default();
/// limits.max_calls = 64;
/// limits.call_timeout = Duration::from_secs(30);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The size of a request or a response in bytes. Default: 16 MiB.
    pub max_body_bytes: usize,
    /// The total size in bytes of the requests in memory, at least twice the size of a request. Default: 64 MiB.
    pub max_pending_bytes: usize,
    /// The number of calls that run at the same time. Further calls are rejected. Calls of one tool take at most three
    /// quarters of the permits, so that a slow tool leaves room for the others. Default: 256.
    pub max_calls: usize,
    /// The number of open connections. A single address may have half of them. Beyond it, idle connections are closed
    /// for new ones; see [`toolkit_runtime::Limits`]. Default: 1024.
    pub max_connections: usize,
    /// The timeout of a call. A synchronous tool that does not observe its context cannot be stopped: it keeps its
    /// thread and its permit until it returns. Default: 5 minutes.
    pub call_timeout: Duration,
    /// The time that a client may take to send a request, or to read a response. Default: 30 s.
    pub read_timeout: Duration,
    /// The time that running calls may take after shutdown was requested. Then they are canceled. Default: 30 s.
    pub shutdown_timeout: Duration,
    /// The time between the request to shut down and the moment from which no connections are accepted. `GET /health`
    /// responds with 503 meanwhile, and responses close their connections, so that a load balancer sends further calls
    /// elsewhere before one of them is refused. Default: none.
    pub drain_delay: Duration,
    /// The proxies in front of the server. The limit of connections per address does not apply to them. Default: none.
    pub trusted_proxies: TrustedProxies,
    /// The number of cached responses for repeated calls. Default: 1024.
    pub max_cached_responses: usize,
    /// The total size in bytes of the cached responses. Default: 16 MiB.
    pub max_cached_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body_bytes: 16 << 20,
            max_pending_bytes: 64 << 20,
            max_calls: 256,
            max_connections: 1024,
            call_timeout: Duration::from_secs(300),
            read_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(30),
            drain_delay: Duration::ZERO,
            trusted_proxies: TrustedProxies::default(),
            max_cached_responses: 1024,
            max_cached_bytes: 16 << 20,
        }
    }
}

impl Limits {
    /// Returns the limits of the HTTP server.
    fn http(&self) -> toolkit_runtime::Limits {
        let mut limits = toolkit_runtime::Limits::default();
        limits.max_connections = self.max_connections;
        limits.max_connections_per_address = self.max_connections.div_ceil(2);
        limits.max_body_bytes = self.max_body_bytes;
        limits.max_pending_bytes = self.max_pending_bytes;
        limits.io_timeout = self.read_timeout;
        limits.shutdown_timeout = self.shutdown_timeout;
        limits.trusted_proxies = self.trusted_proxies.clone();
        limits
    }
}

/// The state that all requests share.
struct Shared {
    dispatcher: Dispatcher,
    published: Published,
    auth: Auth,
    limits: Limits,
    readiness: Readiness,
    /// True when the server announces its end, and still accepts calls.
    is_draining: AtomicBool,
    /// The response to `GET /tools`.
    listed: Bytes,
    calls: CallLimiter,
    bodies: BodyReader,
    guard: HostGuard,
    dedup: Arc<Dedup>,
}

/// The readiness of a server. A server is ready until shutdown is requested, unless the host changes it, for example
/// while a database is not available. Clones share the flag.
///
/// # Examples
///
/// ```
/// # use toolkit::{Catalog, Dispatcher};
/// # use toolkit_otc::Server;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = Server::new(Dispatcher::new(Catalog::new([])?)?);
/// let readiness = server.readiness();
/// assert!(readiness.is_ready());
/// readiness.set(false);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Readiness(Arc<AtomicBool>);

impl Readiness {
    fn new() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    /// Sets the readiness. While a server is not ready, it responds to `GET /health` and to calls with 503.
    pub fn set(&self, is_ready: bool) {
        self.0.store(is_ready, Ordering::Release);
    }

    /// Returns true if the server is ready.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
