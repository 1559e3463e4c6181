//! The HTTP service: from a request to its response.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::Buf;
use http::header::{self, HeaderValue};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use tokio::net::TcpListener;
use toolkit::call::BoxFuture;
use toolkit_mcp::{Code, json_bytes};
use toolkit_runtime::{HttpServer, RequestHead, empty_response};

use super::auth::{Auth, WELL_KNOWN};
#[cfg(feature = "openapi")]
use super::openapi::{ProgramPath, ProgramRequest, rejected};
use super::rejection::Rejection;
use super::response::{self, Body, events, json, preflight, text};
use super::route::{Admission, HealthCheck, Route, RouteRequest, health};
use super::server_card::ServerCard;
use super::sessions::Sessions;
use crate::headers::{has_revision, is_modern};
use crate::listen::Listen;
use crate::metrics::RejectReason;
use crate::peer::caller_name;
use crate::request::Caller;
use crate::server::Server;
use crate::view::ENDPOINT;

/// The answer to clients of the transport that Streamable HTTP has replaced. They would wait for an event that never comes.
const NO_SSE: &str = "with Streamable HTTP; HTTP+SSE of revision 2024-11-05 is not supported";

/// An MCP server as a tower service; see [`Http::into_service`](super::Http::into_service).
///
/// # Examples
///
/// ```
/// use http::Request;
/// use tower_service::Service as _;
/// # use toolkit::{Catalog, Dispatcher};
/// # use toolkit_mcp_server::Server;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = Server::new(Dispatcher::new(Catalog::new([])?)?)?;
/// let mut service = server.http().into_service();
/// let request = Request::get("/healthz").body(String::new())?;
/// assert_eq!(service.call(request).await?.status(), 200);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Service {
    inner: Arc<Inner>,
}

/// Renders metrics of the host.
pub(super) type RenderMetrics = Box<dyn Fn() -> BoxFuture<'static, String> + Send + Sync>;

pub(super) struct Inner {
    pub(super) server: Server,
    pub(super) http: HttpServer,
    pub(super) auth: Auth,
    pub(super) sessions: Sessions,
    pub(super) server_card: Option<ServerCard>,
    pub(super) routes: Vec<Arc<dyn Route>>,
    pub(super) health_checks: Vec<HealthCheck>,
    pub(super) metrics: Vec<RenderMetrics>,
    /// True if programs call the tools without MCP.
    #[cfg(feature = "openapi")]
    pub(super) has_openapi: bool,
    /// True if a router of the host selects the paths.
    pub(super) is_mounted: bool,
    /// The number of requests whose host or origin is not accepted.
    pub(super) n_rejected: AtomicU64,
}

impl Service {
    pub(super) fn new(inner: Inner) -> Self {
        Self { inner: Arc::new(inner) }
    }

    pub(super) fn server(&self) -> &Server {
        &self.inner.server
    }

    /// Serves connections in three phases; see [`HttpServer::serve`].
    pub(super) async fn serve(
        self,
        listener: TcpListener,
        drain: impl Future<Output = ()>,
        close: impl Future<Output = ()>,
    ) {
        let inner = Arc::clone(&self.inner);
        let answer = move |head, body| {
            let service = self.clone();
            async move { service.respond(&head, body).await }
        };
        inner.http.serve(listener, answer, drain, close).await;
    }

    /// Responds to a request.
    async fn respond<B>(&self, head: &RequestHead, body: B) -> Response<Body>
    where
        B: http_body::Body<Data: Buf>,
    {
        if let Some(card) = &self.inner.server_card
            && let Some(response) = card.respond(&head.parts.method, head.path(), head.headers())
        {
            return self.inner.auth.admit_everyone(head).map_or_else(Rejection::into_response, |()| response);
        }
        let origin = head.headers().get(header::ORIGIN).cloned();
        // Pages of other origins never read what a route serves.
        let origin = origin.filter(|_| self.inner.route(head.path()).is_none());
        let mut body = pin!(body);
        let mut response = match self.inner.respond(head, body.as_mut()).await {
            Ok(response) => response,
            Err(rejection) => {
                self.inner.http.discard(head, body).await;
                self.server().shared.metrics.reject(rejection.why);
                let respond: fn(Rejection) -> Response<Body> = Rejection::into_response;
                #[cfg(feature = "openapi")]
                let respond = match self.inner.program_path(self.inner.local_path(head.path())) {
                    Some(_) => rejected,
                    None => respond,
                };
                respond(rejection)
            }
        };
        // CORS: an accepted page may read its response.
        let is_read_by =
            |origin: &HeaderValue| origin.to_str().is_ok_and(|origin| self.inner.http.guard().accepts_origin(origin));
        if let Some(origin) = origin.filter(is_read_by) {
            let headers = response.headers_mut();
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(
                header::ACCESS_CONTROL_EXPOSE_HEADERS,
                HeaderValue::from_static("mcp-session-id, www-authenticate"),
            );
            headers.insert(header::VARY, HeaderValue::from_static("origin"));
        }
        response
    }
}

impl Inner {
    async fn respond<B>(&self, head: &RequestHead, body: B) -> Result<Response<Body>, Rejection>
    where
        B: http_body::Body<Data: Buf>,
    {
        let headers = head.headers();
        let path = self.local_path(head.path());
        if path == "/healthz" {
            return Ok(health(&self.server, &self.health_checks).await);
        }
        head.check_room()?;
        self.check_host(head)?;
        if let Some((route, admission)) = self.route(head.path()) {
            return self.routed(&**route, admission, head).await;
        }
        if head.parts.method == Method::OPTIONS {
            return Ok(preflight(headers));
        }
        if let Some(metadata) = self.auth.metadata(path) {
            return Ok(json(StatusCode::OK, metadata));
        }
        let caller = self.auth.admit(head).await?;
        #[cfg(feature = "openapi")]
        if let Some(path) = self.program_path(path) {
            // Boxed, to keep the future of a message small.
            let server = self.of_page(caller.as_deref());
            let request = ProgramRequest { server, http: &self.http, auth: &self.auth, head, caller };
            return Box::pin(request.respond(path, body)).await;
        }
        if let Some(server) = self.server.of_caller(path.trim_end_matches('/'), caller.as_deref()) {
            return match head.parts.method {
                Method::POST => self.message(&server, head, body, caller).await,
                Method::GET => self.changes(&server, head, caller.as_deref()),
                Method::DELETE => Ok(self.end_session(&server, headers, caller.as_deref())),
                _ => {
                    let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "send messages with POST\n".to_owned());
                    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST, GET, DELETE"));
                    Ok(response)
                }
            };
        }
        if matches!(path, "/metrics" | "/status") && head.parts.method == Method::GET {
            self.auth.check_operator(caller.as_deref(), headers, self.is_mounted)?;
        }
        let is_operator = || !self.of_page(caller.as_deref()).shared.is_view;
        match (&head.parts.method, path) {
            (&Method::GET, "/metrics") if is_operator() => {
                let mut metrics = self.server.metrics();
                for render in &self.metrics {
                    metrics += &render().await;
                }
                Ok(text(StatusCode::OK, metrics))
            }
            (&Method::GET, "/status") if is_operator() => Ok(json(StatusCode::OK, json_bytes(&self.server.status()))),
            _ => Ok(text(StatusCode::NOT_FOUND, format!("not found; the MCP endpoint is /mcp, {NO_SSE}\n"))),
        }
    }

    /// Returns the server of what a caller sees on pages beside the endpoint.
    fn of_page(&self, caller: Option<&Caller>) -> Server {
        self.server.of_caller(ENDPOINT, caller).unwrap_or_else(|| self.server.clone())
    }

    /// Checks that the request is for this server and from an accepted origin.
    fn check_host(&self, head: &RequestHead) -> Result<(), Rejection> {
        self.http.check_host(head).map_err(|why| {
            let (header, flag, method) = match why {
                toolkit_runtime::Rejection::Host => (header::HOST, "--allow-host", "Http::allow_host"),
                _ => (header::ORIGIN, "--allow-origin", "Http::allow_origin"),
            };
            let sent = head.headers().get(header).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
            let sent = sent.or_else(|| Some(head.parts.uri.host()?.to_owned())).unwrap_or_default();
            let sent: String = sent.chars().take(128).collect();
            let message = format!("{why}, `{}`; allow it with `{flag}` (`{method}`)", sent.escape_debug());
            // A flood of such requests does not flood the log.
            if (self.n_rejected.fetch_add(1, Ordering::Relaxed) + 1).is_power_of_two() {
                tracing::warn!("403 for a request: {message}");
            }
            Rejection::new(RejectReason::Origin, why.status(), message)
        })
    }

    /// Returns the route that serves a path.
    fn route(&self, path: &str) -> Option<(&Arc<dyn Route>, Admission)> {
        self.routes.iter().find_map(|route| Some((route, route.admission(path)?)))
    }

    async fn routed(
        &self,
        route: &dyn Route,
        admission: Admission,
        head: &RequestHead,
    ) -> Result<Response<Body>, Rejection> {
        let caller = match admission {
            Admission::Public => {
                self.auth.admit_everyone(head)?;
                None
            }
            Admission::Authenticated => self.auth.admit(head).await?,
        };
        let server = self.of_page(caller.as_deref());
        let access = caller.as_ref().and_then(|caller| self.auth.access(&server.shared, caller));
        let (method, uri, headers) = (&head.parts.method, &head.parts.uri, head.headers());
        let caller = caller.as_deref();
        let response = route.respond(RouteRequest { server: &server, method, uri, headers, caller, access }).await;
        Ok(head.count_events(response, caller.and_then(Caller::identity).as_deref())?)
    }

    /// Returns the meaning of a path for programs, if the host serves them.
    #[cfg(feature = "openapi")]
    fn program_path<'p>(&self, path: &'p str) -> Option<ProgramPath<'p>> {
        ProgramPath::parse(path).filter(|_| self.has_openapi)
    }

    /// Maps a path of a mounted service to the route of a standalone server.
    fn local_path<'p>(&self, path: &'p str) -> &'p str {
        if path == "/mcp/" {
            return ENDPOINT;
        }
        let views = self.server.shared.views.get();
        if !self.is_mounted
            || path.contains(WELL_KNOWN)
            || views.is_some_and(|views| views.has_path(path.trim_end_matches('/')))
        {
            return path;
        }
        let own = ["/healthz", "/metrics", "/status"].into_iter().find(|own| path.ends_with(own));
        #[cfg(feature = "openapi")]
        let own = own.or_else(|| ProgramPath::of_mounted(path).filter(|_| self.has_openapi));
        own.unwrap_or(ENDPOINT)
    }

    /// Returns the session of a request. If a backend holds something for each session, it must have begun in this process.
    pub(super) fn known_session<'h>(
        &self,
        server: &Server,
        headers: &'h HeaderMap,
        caller: Option<&Caller>,
    ) -> Result<Option<Cow<'h, str>>, ()> {
        let session = self.sessions.of(headers, caller)?;
        let holds_sessions = || server.shared.proxied().is_some_and(|proxied| proxied.holds_sessions());
        match session {
            Some(name) if holds_sessions() && !self.sessions.has_begun(&name) => Err(()),
            session => Ok(session),
        }
    }

    fn changes(
        &self,
        server: &Server,
        head: &RequestHead,
        caller: Option<&Caller>,
    ) -> Result<Response<Body>, Rejection> {
        let headers = head.headers();
        if is_modern(headers) || !head.accepts_events() {
            let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "send messages with POST\n".to_owned());
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
            return Ok(response);
        }
        match self.known_session(server, headers, caller) {
            Ok(None) if !has_revision(headers) => {
                Ok(text(StatusCode::METHOD_NOT_ALLOWED, format!("send `initialize` with POST, {NO_SSE}\n")))
            }
            Ok(session) => {
                let name = caller_name(caller, head.client(), session.as_deref().unwrap_or_default());
                let mut changes = Listen::to_changes(&server.shared, session.as_deref(), name);
                // The lists of the process in which the session has begun, perhaps before a restart, may have been others.
                if session.is_some_and(|session| !self.sessions.has_begun(&session)) {
                    changes.mark_changed();
                }
                listening(changes, head, caller)
            }
            Err(()) => Ok(text(StatusCode::NOT_FOUND, "unknown session\n".to_owned())),
        }
    }

    fn end_session(&self, server: &Server, headers: &HeaderMap, caller: Option<&Caller>) -> Response<Body> {
        match self.known_session(server, headers, caller) {
            Ok(Some(name)) => {
                self.sessions.end(&name);
                server.shared.running.cancel_all_of(&name);
                server.shared.resources.subscriptions.end(&name);
                server.shared.log_levels.end(&name);
                if let Some(proxied) = server.shared.proxied() {
                    proxied.end_session(&name);
                }
                empty_response(StatusCode::NO_CONTENT)
            }
            Ok(None) => text(StatusCode::METHOD_NOT_ALLOWED, "the header `Mcp-Session-Id` is missing\n".to_owned()),
            Err(()) => text(StatusCode::NOT_FOUND, "unknown session\n".to_owned()),
        }
    }
}

/// Creates an event stream of changes, within the share of its caller of the event streams.
pub(super) fn listening(
    listen: Listen,
    head: &RequestHead,
    caller: Option<&Caller>,
) -> Result<Response<Body>, Rejection> {
    let identity = caller.and_then(Caller::identity);
    Ok(head.count_events(events(response::of_changes(listen)), identity.as_deref())?)
}

impl From<toolkit_runtime::Rejection> for Rejection {
    fn from(rejection: toolkit_runtime::Rejection) -> Self {
        use toolkit_runtime::Rejection::*;
        let why = match rejection {
            Host | Origin => RejectReason::Origin,
            TooLarge(_) => RejectReason::TooLarge,
            TimedOut(_) => RejectReason::TooSlow,
            _ if rejection.retry_after().is_some() => RejectReason::Overloaded,
            _ => RejectReason::Malformed,
        };
        let rejected = Rejection::new(why, rejection.status(), rejection.to_string());
        match rejection.retry_after() {
            Some(seconds) => rejected.with_code(Code::Internal).with_header(header::RETRY_AFTER, seconds.into()),
            None => rejected,
        }
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { server, http, auth, routes, is_mounted, .. } = &*self.inner;
        f.debug_struct("Service")
            .field("server", server)
            .field("http", http)
            .field("auth", auth)
            .field("n_routes", &routes.len())
            .field("is_mounted", is_mounted)
            .finish_non_exhaustive()
    }
}

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
        let service = self.clone();
        let (parts, body) = request.into_parts();
        let head = RequestHead::new(parts);
        Box::pin(async move { Ok(service.respond(&head, body).await) })
    }
}
