//! One request, from its head to its answer.

use std::convert::Infallible;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Buf;
use http::header::{self, HeaderValue};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use tokio::sync::OwnedSemaphorePermit;

use super::body::Body;
use super::denied::Denied;
use super::gate::Gate;
use super::intake::Intake;
use super::response::{accepted, answered, events, json, preflight, text};
use super::session::{SESSION, Sessions};
use super::{Http, sse};
use crate::server::Server;
use crate::server::call::{Call, CallEvent};
use crate::server::headers::is_modern;
use crate::server::listen::Listen;
use crate::server::message::Message;
use crate::server::methods::{Peer, Routed};
use crate::server::metrics::Refused;
use crate::server::reply::Code;
use crate::server::request::Caller;

/// The path of the protocol.
const PATH: &str = "/mcp";

/// The server as a service of tower: any path of it, or any path at all of a router of the host's.
#[derive(Clone, Debug)]
pub struct Service {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    server: Server,
    gate: Gate,
    intake: Intake,
    sessions: Sessions,
}

impl Service {
    pub(super) fn new(http: Http) -> Self {
        let Http { server, limits, guard, auth, rate, is_open: _ } = http;
        let intake = Intake::new(&limits);
        let gate = Gate { guard, auth, rate };
        Self { inner: Arc::new(Inner { server, gate, intake, sessions: Sessions::default() }) }
    }

    pub(super) fn server(&self) -> &Server {
        &self.inner.server
    }

    /// Answers a request of a client at an address.
    pub(super) async fn answer<B>(&self, request: Request<B>, address: Option<IpAddr>) -> Response<Body>
    where
        B: http_body::Body<Data: Buf, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
    {
        let origin = request.headers().get(header::ORIGIN).cloned();
        let mut response = self.inner.answer(request, address).await.unwrap_or_else(|denied| {
            self.server().shared.metrics.refuse(denied.why);
            denied.into_response()
        });
        // A page that may ask may read what it is told.
        if let Some(origin) = origin.filter(|origin| self.inner.gate.is_read_by(origin)) {
            let headers = response.headers_mut();
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("mcp-session-id"));
            headers.insert(header::VARY, HeaderValue::from_static("origin"));
        }
        response
    }
}

impl Inner {
    async fn answer<B>(&self, request: Request<B>, address: Option<IpAddr>) -> Result<Response<Body>, Denied>
    where
        B: http_body::Body<Data: Buf, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
    {
        let (head, body) = request.into_parts();
        let headers = &head.headers;
        let path = head.uri.path();
        if path == "/healthz" {
            return Ok(self.health());
        }
        self.gate.check(&head.uri, headers)?;
        if head.method == Method::OPTIONS {
            return Ok(preflight(headers));
        }
        if let Some(metadata) = self.gate.metadata(path) {
            return Ok(json(StatusCode::OK, metadata.to_owned()));
        }
        let caller = self.gate.admit(headers, address).await?;
        match (&head.method, path) {
            (&Method::GET, "/metrics") => Ok(text(StatusCode::OK, self.server.metrics())),
            (&Method::POST, PATH) => self.message(headers, body, caller).await,
            (&Method::GET, PATH) => Ok(self.changes(headers)),
            (&Method::DELETE, PATH) => Ok(self.end_session(headers)),
            (_, PATH) => {
                let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "messages are sent with POST\n".to_owned());
                response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST, GET, DELETE"));
                Ok(response)
            }
            _ => Ok(text(StatusCode::NOT_FOUND, "the server is at /mcp\n".to_owned())),
        }
    }

    fn health(&self) -> Response<Body> {
        match self.server.shared.shutdown.is_cancelled() {
            true => text(StatusCode::SERVICE_UNAVAILABLE, "ending\n".to_owned()),
            false => text(StatusCode::OK, "ok\n".to_owned()),
        }
    }

    async fn message<B>(
        &self,
        headers: &HeaderMap,
        body: B,
        caller: Option<Arc<Caller>>,
    ) -> Result<Response<Body>, Denied>
    where
        B: http_body::Body<Data: Buf, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
    {
        if !is_json(headers) {
            let message = "a message is `application/json`";
            return Err(Denied::new(Refused::Malformed, StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
        // Since 2026-07-28 there are none, and the header means nothing.
        let session = if is_modern(headers) { Ok(None) } else { self.sessions.of(headers) };
        let session = session.map_err(|()| {
            Denied::new(Refused::Malformed, StatusCode::NOT_FOUND, "the session has ended; begin another")
        })?;
        let (body, held) = self.intake.read(headers, body).await?;
        let peer = Peer { caller: caller.as_ref(), session, headers: Some(headers) };
        Ok(match self.server.route(Message::parse(&body), peer) {
            Routed::Reply(bytes) => json(StatusCode::OK, bytes),
            Routed::Initialized(bytes) => {
                let mut response = json(StatusCode::OK, bytes);
                if let Some(name) = Sessions::begin().and_then(|name| name.parse().ok()) {
                    response.headers_mut().insert(SESSION, name);
                }
                response
            }
            Routed::Fault(id, fault) => {
                let status = match fault.code {
                    Code::MethodNotFound if is_modern(headers) => StatusCode::NOT_FOUND,
                    _ if fault.is_of_envelope => StatusCode::BAD_REQUEST,
                    _ => StatusCode::OK,
                };
                if fault.is_of_envelope {
                    self.server.shared.metrics.refuse(Refused::Malformed);
                }
                json(status, fault.to_response(id))
            }
            Routed::Call(call) => self.call(*call, headers, held).await,
            Routed::Listen(listen) => events(sse::of_changes(listen)),
            Routed::Nothing => accepted(),
        })
    }

    async fn call(&self, call: Call<'_>, headers: &HeaderMap, held: OwnedSemaphorePermit) -> Response<Body> {
        if call.progress_token.is_none() || !accepts_events(headers) {
            return answered(call.answer().await);
        }
        let mut call = call.events();
        match call.next().await {
            // One that has ended before it reported anything need not be a stream.
            CallEvent::Answer(answer) => answered(answer),
            CallEvent::Progress(first) => events(sse::of_call(first, call, held)),
        }
    }

    fn changes(&self, headers: &HeaderMap) -> Response<Body> {
        if is_modern(headers) || !accepts_events(headers) {
            let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "messages are sent with POST\n".to_owned());
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
            return response;
        }
        match self.sessions.of(headers) {
            Ok(_) => events(sse::of_changes(Listen::to_changes(&self.server))),
            Err(()) => text(StatusCode::NOT_FOUND, "the session has ended\n".to_owned()),
        }
    }

    fn end_session(&self, headers: &HeaderMap) -> Response<Body> {
        match self.sessions.of(headers) {
            Ok(Some(name)) => {
                self.sessions.end(name);
                self.server.shared.running.cancel_all_of(name);
                let mut response = Response::new(Body::empty());
                *response.status_mut() = StatusCode::NO_CONTENT;
                response
            }
            Ok(None) => text(StatusCode::METHOD_NOT_ALLOWED, "there is no session to end\n".to_owned()),
            Err(()) => text(StatusCode::NOT_FOUND, "the session has ended\n".to_owned()),
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

fn accepts_events(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.any(|value| value.contains("text/event-stream"))
}

impl<B> tower_service::Service<Request<B>> for Service
where
    B: http_body::Body<Data: Send, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.answer(request, None).await) })
    }
}
