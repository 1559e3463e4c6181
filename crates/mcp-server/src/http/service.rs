//! The HTTP service: from a request to its response.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Buf;
use http::header::{self, HeaderValue};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use toolkit::call::BoxFuture;
use toolkit_mcp::{Code, Message, json_bytes};
use toolkit_runtime::{BodyError, BodyReader, Connection, EventStreamPermit, Limits, media_type};

use super::auth::WELL_KNOWN;
use super::gate::Gate;
use super::receive::{SESSION, Sessions, receive};
use super::response::{self, Body, Rejection, events, json, preflight, reply_response, respond, text};
use super::route::{Admission, HealthCheck, Route, RouteRequest, health};
use crate::Server;
use crate::headers::{accepts_events, has_revision, is_modern};
use crate::listen::Listen;
use crate::methods::Routed;
use crate::metrics::RejectReason;
use crate::peer::share_extensions;
use crate::reply::NoMessages;
use crate::request::Caller;

/// The path of the MCP endpoint.
const PATH: &str = "/mcp";

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

struct Inner {
    server: Server,
    gate: Gate,
    bodies: BodyReader,
    sessions: Sessions,
    routes: Vec<Arc<dyn Route>>,
    health_checks: Vec<HealthCheck>,
    metrics: Vec<RenderMetrics>,
    /// True if a router of the host selects the paths.
    is_mounted: bool,
}

impl Service {
    pub(super) fn new(
        server: Server,
        gate: Gate,
        routes: Vec<Arc<dyn Route>>,
        health_checks: Vec<HealthCheck>,
        metrics: Vec<RenderMetrics>,
        limits: &Limits,
        is_mounted: bool,
    ) -> Self {
        let bodies = BodyReader::new(limits);
        let sessions = Sessions::default();
        Self { inner: Arc::new(Inner { server, gate, bodies, sessions, routes, health_checks, metrics, is_mounted }) }
    }

    pub(super) fn server(&self) -> &Server {
        &self.inner.server
    }

    /// Responds to a request. The head is shared, since a connection keeps room for what the future moves.
    pub(super) async fn answer<B>(&self, head: Arc<Parts>, body: B, connection: Option<&Connection>) -> Response<Body>
    where
        B: http_body::Body<Data: Buf>,
    {
        let origin = head.headers.get(header::ORIGIN).cloned();
        // Pages of other origins never read what a route serves.
        let origin = origin.filter(|_| self.inner.route(head.uri.path()).is_none());
        let mut response = self.inner.answer(head, body, connection).await.unwrap_or_else(|rejection| {
            self.server().shared.metrics.reject(rejection.why);
            rejection.into_response()
        });
        // CORS: an accepted page may read its response.
        if let Some(origin) = origin.filter(|origin| self.inner.gate.is_read_by(origin)) {
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
    async fn answer<B>(
        &self,
        head: Arc<Parts>,
        body: B,
        connection: Option<&Connection>,
    ) -> Result<Response<Body>, Rejection>
    where
        B: http_body::Body<Data: Buf>,
    {
        let headers = &head.headers;
        let path = self.local_path(head.uri.path());
        if path == "/healthz" {
            return Ok(health(&self.server, &self.health_checks).await);
        }
        self.gate.check(&head.uri, headers)?;
        if let Some((route, admission)) = self.route(head.uri.path()) {
            return self.routed(&**route, admission, &head, connection).await;
        }
        if head.method == Method::OPTIONS {
            return Ok(preflight(headers));
        }
        if let Some(metadata) = self.gate.metadata(path) {
            return Ok(json(StatusCode::OK, metadata));
        }
        let caller = self.gate.admit(&head, connection).await?;
        match (&head.method, path) {
            (&Method::GET, "/metrics") => {
                let mut metrics = self.server.metrics();
                for render in &self.metrics {
                    metrics += &render().await;
                }
                Ok(text(StatusCode::OK, metrics))
            }
            (&Method::GET, "/status") => Ok(json(StatusCode::OK, json_bytes(&self.server.status()))),
            (&Method::POST, PATH) => self.message(&head, body, caller, connection).await,
            (&Method::GET, PATH) => self.changes(headers, connection),
            (&Method::DELETE, PATH) => Ok(self.end_session(headers)),
            (_, PATH) => {
                let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "send messages with POST\n".to_owned());
                response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST, GET, DELETE"));
                Ok(response)
            }
            _ => Ok(text(StatusCode::NOT_FOUND, format!("not found; the MCP endpoint is /mcp, {NO_SSE}\n"))),
        }
    }

    /// Returns the route that serves a path.
    fn route(&self, path: &str) -> Option<(&Arc<dyn Route>, Admission)> {
        self.routes.iter().find_map(|route| Some((route, route.admission(path)?)))
    }

    async fn routed(
        &self,
        route: &dyn Route,
        admission: Admission,
        head: &Parts,
        connection: Option<&Connection>,
    ) -> Result<Response<Body>, Rejection> {
        let caller = match admission {
            Admission::Public => {
                self.gate.admit_everyone(&head.headers, connection)?;
                None
            }
            Admission::Authenticated => self.gate.admit(head, connection).await?,
        };
        let access = caller.as_ref().and_then(|caller| self.gate.auth.access(&self.server.shared, caller));
        let (method, uri, headers) = (&head.method, &head.uri, &head.headers);
        let caller = caller.as_deref();
        let response = route.respond(RouteRequest { server: &self.server, method, uri, headers, caller, access }).await;
        match response.body().is_stream() {
            true => {
                let permit = event_stream(connection)?;
                Ok(response.map(|body| body.holding(permit)))
            }
            false => Ok(response),
        }
    }

    /// Maps a path of a mounted service to the route of a standalone server.
    fn local_path<'p>(&self, path: &'p str) -> &'p str {
        if path == "/mcp/" {
            return PATH;
        }
        if !self.is_mounted || path.contains(WELL_KNOWN) {
            return path;
        }
        ["/healthz", "/metrics", "/status"].into_iter().find(|own| path.ends_with(own)).unwrap_or(PATH)
    }

    async fn message<B>(
        &self,
        head: &Arc<Parts>,
        body: B,
        caller: Option<Arc<Caller>>,
        connection: Option<&Connection>,
    ) -> Result<Response<Body>, Rejection>
    where
        B: http_body::Body<Data: Buf>,
    {
        let headers = &head.headers;
        if !is_json(headers) {
            let message = "the `Content-Type` of a message must be `application/json`";
            return Err(Rejection::new(RejectReason::Malformed, StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
        // Revision 2026-07-28 has no sessions and ignores the header.
        let session = if is_modern(headers) { Ok(None) } else { self.sessions.of(headers) };
        let (body, charge) = self.bodies.read(headers, body, connection).await.map_err(unread)?.into_parts();
        let session = match session {
            // The client starts a new session with the header of the last one.
            Err(()) if is_initialize(&body) => None,
            session => session.map_err(|()| {
                let message = "unknown session; send `initialize` to start a new one";
                Rejection::new(RejectReason::Malformed, StatusCode::NOT_FOUND, message)
            })?,
        };
        let address = connection.map(|connection| connection.client(headers));
        let access = caller.as_ref().and_then(|caller| self.gate.auth.access(&self.server.shared, caller));
        let mut routed = receive(&self.server.shared, body, caller.clone(), session, head, address, access).await;
        match routed {
            Routed::Denied(denied) => {
                Err(self.gate.auth.reject(caller.as_deref(), headers, &self.server.shared, &denied))
            }
            Routed::Initialized { bytes, modes, .. } => {
                let mut response = json(StatusCode::OK, bytes);
                if let Some(name) = Sessions::begin(modes).and_then(|name| name.parse().ok()) {
                    response.headers_mut().insert(SESSION, name);
                }
                Ok(response)
            }
            Routed::Listen(listen) => listening(*listen, connection),
            Routed::Reply(reply) => {
                if reply.is_bad_request {
                    self.server.shared.metrics.reject(RejectReason::Malformed);
                }
                let is_unknown_method = matches!(reply.code, Some(Code::MethodNotFound)) && is_modern(headers);
                let mut response = reply_response(Some(reply));
                if is_unknown_method {
                    *response.status_mut() = StatusCode::NOT_FOUND;
                }
                Ok(response)
            }
            _ => {
                routed.hold(charge);
                Ok(match accepts_events(headers) {
                    true => respond(routed).await,
                    false => reply_response(routed.answer(NoMessages).await),
                })
            }
        }
    }

    fn changes(&self, headers: &HeaderMap, connection: Option<&Connection>) -> Result<Response<Body>, Rejection> {
        if is_modern(headers) || !accepts_events(headers) {
            let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "send messages with POST\n".to_owned());
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
            return Ok(response);
        }
        match self.sessions.of(headers) {
            Ok(None) if !has_revision(headers) => {
                Ok(text(StatusCode::METHOD_NOT_ALLOWED, format!("send `initialize` with POST, {NO_SSE}\n")))
            }
            Ok(session) => listening(Listen::to_changes(&self.server.shared, session), connection),
            Err(()) => Ok(text(StatusCode::NOT_FOUND, "unknown session\n".to_owned())),
        }
    }

    fn end_session(&self, headers: &HeaderMap) -> Response<Body> {
        match self.sessions.of(headers) {
            Ok(Some(name)) => {
                self.sessions.end(name);
                self.server.shared.running.cancel_all_of(name);
                self.server.shared.resources.subscriptions.end(name);
                self.server.shared.log_levels.end(name);
                if let Some(proxied) = self.server.shared.proxied() {
                    proxied.end_session(name);
                }
                let mut response = Response::new(Body::empty());
                *response.status_mut() = StatusCode::NO_CONTENT;
                response
            }
            Ok(None) => text(StatusCode::METHOD_NOT_ALLOWED, "the header `Mcp-Session-Id` is missing\n".to_owned()),
            Err(()) => text(StatusCode::NOT_FOUND, "unknown session\n".to_owned()),
        }
    }
}

/// Creates an event stream of changes, within the limit of event streams.
fn listening(listen: Listen, connection: Option<&Connection>) -> Result<Response<Body>, Rejection> {
    let permit = event_stream(connection)?;
    Ok(events(response::of_changes(listen, permit)))
}

/// Takes a permit for an event stream. A connection of the host's own server has no limit.
fn event_stream(connection: Option<&Connection>) -> Result<Option<EventStreamPermit>, Rejection> {
    connection.map(|connection| connection.event_stream().ok_or(())).transpose().map_err(|()| {
        let message = "the limit of event streams is reached; try again later";
        Rejection::new(RejectReason::Overloaded, StatusCode::SERVICE_UNAVAILABLE, message).with_code(Code::Internal)
    })
}

fn unread(error: BodyError) -> Rejection {
    let (why, status) = match error {
        BodyError::TooLarge(_) => (RejectReason::TooLarge, StatusCode::PAYLOAD_TOO_LARGE),
        BodyError::TimedOut(_) => (RejectReason::TooSlow, StatusCode::REQUEST_TIMEOUT),
        BodyError::Overloaded => (RejectReason::Overloaded, StatusCode::SERVICE_UNAVAILABLE),
        _ => (RejectReason::Malformed, StatusCode::BAD_REQUEST),
    };
    Rejection::new(why, status, error.to_string())
}

fn is_initialize(body: &[u8]) -> bool {
    matches!(Message::parse(body), Ok(Message::Request { method, .. }) if method == "initialize")
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    media_type(kind).eq_ignore_ascii_case("application/json")
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { server, gate, routes, is_mounted, .. } = &*self.inner;
        f.debug_struct("Service")
            .field("server", server)
            .field("gate", gate)
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
        let (mut head, body) = request.into_parts();
        let connection = head.extensions.get::<Connection>().cloned();
        share_extensions(&mut head);
        Box::pin(async move { Ok(service.answer(Arc::new(head), body, connection.as_ref()).await) })
    }
}
