//! The server.

mod call;
mod dedup;
mod events;
mod guard;
mod listen;
mod rejection;
mod reply;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use toolkit::Dispatcher;
use toolkit_http::{BodyReader, CallLimiter, HostGuard, ToolPool};

use self::dedup::Dedup;
use self::rejection::Rejection;
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
/// | 403 | `Host` or `Origin` is not accepted; see [`Server::host`] |
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
/// ```no_run
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

/// The limits of a [`Server`].
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
    /// for new ones; see [`toolkit_http::Limits`]. Default: 1024.
    pub max_connections: usize,
    /// The timeout of a call. A synchronous tool that does not observe its context cannot be stopped: it keeps its
    /// thread and its permit until it returns. Default: 5 minutes.
    pub call_timeout: Duration,
    /// The time that a client may take to send a request, or to read a response. Default: 30 s.
    pub read_timeout: Duration,
    /// The time that running calls may take after shutdown was requested. Then they are canceled. Default: 30 s.
    pub shutdown_timeout: Duration,
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
            max_cached_responses: 1024,
            max_cached_bytes: 16 << 20,
        }
    }
}

/// The time that canceled calls have to return.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

/// The state that all requests share.
struct Shared {
    dispatcher: Dispatcher,
    published: Published,
    auth: Auth,
    limits: Limits,
    readiness: Readiness,
    /// The response to `GET /tools`.
    listed: Bytes,
    calls: CallLimiter,
    pool: ToolPool,
    bodies: BodyReader,
    guard: HostGuard,
    dedup: Arc<Dedup>,
}

impl Server {
    /// Creates a server without authentication that accepts requests for `localhost` and IP addresses.
    pub fn new(dispatcher: Dispatcher) -> Self {
        let published = Published::new(dispatcher.catalog(), &Naming::default());
        Self {
            dispatcher,
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
        let pool = ToolPool::shared();
        let shared = Arc::new(Shared {
            dispatcher,
            published,
            auth,
            limits,
            readiness,
            listed,
            calls,
            pool,
            bodies,
            guard,
            dedup,
        });
        let router = Router::new()
            .route("/tools", get(list))
            .route("/tools/call", post(call::call))
            .route_layer(from_fn_with_state(Arc::clone(&shared), guard::authenticated))
            .route("/health", get(health))
            .fallback(|| async { Rejection::new(StatusCode::NOT_FOUND, "not found; the tools are at `/tools`") })
            .method_not_allowed_fallback(|| async {
                Rejection::new(StatusCode::METHOD_NOT_ALLOWED, "method not allowed")
            })
            .layer(from_fn_with_state(Arc::clone(&shared), guard::of_this_host))
            .with_state(Arc::clone(&shared));
        (shared, router)
    }
}

async fn health(State(shared): State<Arc<Shared>>) -> Response {
    match shared.readiness.is_ready() {
        true => StatusCode::OK.into_response(),
        false => Rejection::not_ready().into_response(),
    }
}

async fn list(State(shared): State<Arc<Shared>>) -> Response {
    ([(CONTENT_TYPE, "application/json")], shared.listed.clone()).into_response()
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

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("auth", &self.auth)
            .field("hosts", &self.hosts)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
