//! The server, with its limits and its state.

mod dedup;
mod reply;
mod tools_call;

use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::header::{ALLOW, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use tokio::net::TcpListener;
use toolkit::{Coercion, Dispatcher};
use toolkit_runtime::{
    Body, CallLimiter, HostGuard, HttpServer, RequestHead, TrustedProxies, empty_response, json_response,
};

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

    /// Converts the server into a tower service, for a router of the host: with axum `nest_service("/otc", …)` or
    /// `fallback_service(…)`. The host's HTTP server limits connections and timeouts.
    ///
    /// A tool reads the extensions of its request with [`Context::get`](toolkit::Context::get), such as the user that a
    /// middleware has found.
    #[must_use]
    pub fn into_service(self) -> Service {
        let Self { dispatcher, published, auth, hosts, limits, readiness } = self;
        let guard = match hosts {
            Some(hosts) => hosts.into_iter().fold(HostGuard::addresses(), HostGuard::with_host),
            None => HostGuard::unchecked(),
        };
        let shared = Shared {
            http: HttpServer::new(limits.http(), guard),
            calls: CallLimiter::new(limits.max_calls),
            dedup: Arc::new(Dedup::new(limits.max_cached_responses, limits.max_cached_bytes)),
            listed: published.to_json().to_string().into(),
            dispatcher,
            published,
            auth,
            limits,
            readiness,
            is_draining: AtomicBool::new(false),
        };
        Service { shared: Arc::new(shared) }
    }

    /// Serves connections until `shutdown` completes, then shuts down gracefully: fails health checks, rejects new calls
    /// after [`Limits::drain_delay`](Limits::drain_delay), and cancels running ones after
    /// [`Limits::shutdown_timeout`](Limits::shutdown_timeout).
    ///
    /// Dropping the future closes all connections at once.
    pub async fn serve(self, listener: TcpListener, shutdown: impl Future<Output = ()>) {
        let service = self.into_service();
        let shared = Arc::clone(&service.shared);
        let drain = async {
            shutdown.await;
            shared.is_draining.store(true, Ordering::Relaxed);
        };
        let close = async {
            tokio::time::sleep(shared.limits.drain_delay).await;
            shared.readiness.set(false);
        };
        let answer = move |head, body| {
            let shared = Arc::clone(&service.shared);
            async move { respond(&shared, &head, body).await }
        };
        shared.http.serve(listener, answer, drain, close).await;
        // Waits for canceled calls.
        let idle = async {
            while shared.calls.n_running() > 0 {
                tokio::time::sleep(CANCEL_TIMEOUT / 20).await;
            }
        };
        let _ = tokio::time::timeout(CANCEL_TIMEOUT, idle).await;
    }
}

/// Responds to a request.
async fn respond<B>(shared: &Arc<Shared>, head: &RequestHead, body: B) -> Response<Body>
where
    B: http_body::Body<Data: Buf>,
{
    let method = match head.path() {
        "/tools/call" => Method::POST,
        _ => Method::GET,
    };
    let is_allowed = head.parts.method == method || (method == Method::GET && head.parts.method == Method::HEAD);
    match head.path() {
        "/health" | "/tools" | "/tools/call" if !is_allowed => {
            let mut response = Rejection::new(StatusCode::METHOD_NOT_ALLOWED, "method not allowed").into_response();
            let allowed = if method == Method::GET { "GET,HEAD" } else { "POST" };
            response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
            response
        }
        // Health checks of balancers may have no `Host`.
        "/health" => health(shared),
        "/tools" => match admit(shared, head) {
            Ok(()) => json_response(StatusCode::OK, shared.listed.clone()),
            Err(rejection) => rejection.into_response(),
        },
        "/tools/call" => {
            let mut body = pin!(body);
            let called = match admit(shared, head) {
                Ok(()) => tools_call::call(shared, head, body.as_mut()).await,
                Err(rejection) => Err(rejection),
            };
            match called {
                Ok(response) => response,
                Err(rejection) => {
                    shared.http.discard(head, body).await;
                    rejection.into_response()
                }
            }
        }
        _ => Rejection::new(StatusCode::NOT_FOUND, "not found; the tools are at `/tools`").into_response(),
    }
}

/// Rejects requests for other hosts, of web pages of other origins, and without valid credentials.
fn admit(shared: &Shared, head: &RequestHead) -> Result<(), Rejection> {
    head.check_room()?;
    shared.http.check_host(head).map_err(|rejection| match rejection {
        toolkit_runtime::Rejection::Host => {
            Rejection::new(rejection.status(), format!("{rejection}; the operator of the server can add it"))
        }
        _ => rejection.into(),
    })?;
    let unauthorized = |reason| Rejection::new(StatusCode::UNAUTHORIZED, format!("unauthorized: {reason}"));
    shared.auth.check(head.headers()).map_err(unauthorized)?;
    // The reserve is for health checks and authenticated clients.
    if shared.auth.is_none() {
        head.check_reserve()?;
    }
    Ok(())
}

fn health(shared: &Shared) -> Response<Body> {
    match shared.readiness.is_ready() && !shared.is_draining.load(Ordering::Relaxed) {
        true => empty_response(StatusCode::OK),
        false => Rejection::not_ready().into_response(),
    }
}

/// A server of Open Tool Calling as a tower service; see [`Server::into_service`].
///
/// # Examples
///
/// ```
/// # use toolkit::{Catalog, Dispatcher};
/// # use toolkit_otc::Server;
/// use http::Request;
/// use tower_service::Service as _;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = Server::new(Dispatcher::new(Catalog::new([])?)?);
/// let request = Request::get("/health").body(String::new())?;
/// assert_eq!(server.into_service().call(request).await?.status(), 200);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Service {
    shared: Arc<Shared>,
}

toolkit::debug_fields!(it, Service { http: it.shared.http });

impl<B> tower_service::Service<Request<B>> for Service
where
    B: http_body::Body<Data: Send> + Send + 'static,
    B::Error: Send,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let shared = Arc::clone(&self.shared);
        let (parts, body) = request.into_parts();
        let head = RequestHead::new(parts);
        Box::pin(async move { Ok(respond(&shared, &head, body).await) })
    }
}

toolkit::debug_fields!(Server { auth, hosts, limits });

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
    http: HttpServer,
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
