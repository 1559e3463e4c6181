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

use super::auth::{Auth, Refusal, WELL_KNOWN};
use super::body::Body;
use super::guard::Guard;
use super::intake::{Intake, Unread};
use super::rate::Rate;
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
use crate::server::reply::{Code, Fault};
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
    guard: Guard,
    auth: Auth,
    rate: Option<Rate>,
    intake: Intake,
    sessions: Sessions,
}

impl Service {
    pub(super) fn new(http: Http) -> Self {
        let Http { server, limits, guard, auth, rate, is_open: _ } = http;
        let intake = Intake::new(&limits);
        Self { inner: Arc::new(Inner { server, guard, auth, rate, intake, sessions: Sessions::default() }) }
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
        let mut response = self.inner.answer(request, address).await.unwrap_or_else(|response| *response);
        // A page that may ask may read what it is told.
        if let Some(origin) = origin.filter(|_| response.status() != StatusCode::FORBIDDEN) {
            let headers = response.headers_mut();
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("mcp-session-id"));
            headers.insert(header::VARY, HeaderValue::from_static("origin"));
        }
        response
    }
}

/// An answer that comes before the end.
type Early = Box<Response<Body>>;

impl Inner {
    async fn answer<B>(&self, request: Request<B>, address: Option<IpAddr>) -> Result<Response<Body>, Early>
    where
        B: http_body::Body<Data: Buf, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
    {
        let (head, body) = request.into_parts();
        let headers = &head.headers;
        let path = head.uri.path();
        if path == "/healthz" {
            return Ok(self.health());
        }
        self.guard.check(&head.uri, headers).map_err(|why| {
            self.refuse(Refused::Origin, StatusCode::FORBIDDEN, Fault::of_envelope(Code::InvalidRequest, why))
        })?;
        if head.method == Method::OPTIONS {
            return Ok(preflight(headers));
        }
        if let (Some(resource), true) = (&self.auth.resource, path.starts_with(WELL_KNOWN)) {
            return Ok(json(StatusCode::OK, resource.metadata.clone()));
        }
        let caller = self.caller(headers).await?;
        self.may_ask(caller.as_ref(), address)?;
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

    async fn caller(&self, headers: &HeaderMap) -> Result<Option<Arc<Caller>>, Early> {
        self.auth.caller(headers).await.map_err(|challenge| {
            let (status, message) = match challenge.refusal {
                Refusal::InsufficientScope => (StatusCode::FORBIDDEN, "the token does not grant this"),
                Refusal::Invalid => (StatusCode::UNAUTHORIZED, "a valid token is needed (`Authorization: Bearer …`)"),
            };
            let fault = Fault::of_envelope(Code::InvalidRequest, message);
            let mut response = self.refuse(Refused::Unauthorized, status, fault);
            if let Ok(value) = HeaderValue::from_str(&challenge.header) {
                response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
            }
            response
        })
    }

    fn may_ask(&self, caller: Option<&Arc<Caller>>, address: Option<IpAddr>) -> Result<(), Early> {
        let Some(rate) = &self.rate else {
            return Ok(());
        };
        let client = match (caller.and_then(|caller| caller.subject()), address) {
            (Some(subject), _) => format!("subject {subject}"),
            (None, Some(address)) => format!("address {address}"),
            (None, None) => String::new(),
        };
        rate.take(&client).map_err(|wait| {
            let fault = Fault::of_envelope(Code::Internal, "too many requests; ask again later");
            let mut response = self.refuse(Refused::Rate, StatusCode::TOO_MANY_REQUESTS, fault);
            let seconds = wait.as_secs_f64().ceil().max(1.0);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds as u64));
            response
        })
    }

    async fn message<B>(
        &self,
        headers: &HeaderMap,
        body: B,
        caller: Option<Arc<Caller>>,
    ) -> Result<Response<Body>, Early>
    where
        B: http_body::Body<Data: Buf, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
    {
        if !is_json(headers) {
            let fault = Fault::of_envelope(Code::InvalidRequest, "a message is `application/json`");
            return Err(self.refuse(Refused::Malformed, StatusCode::UNSUPPORTED_MEDIA_TYPE, fault));
        }
        // Since 2026-07-28 there are none, and the header means nothing.
        let session = if is_modern(headers) { Ok(None) } else { self.sessions.of(headers) };
        let session = session.map_err(|()| {
            let fault = Fault::of_envelope(Code::InvalidRequest, "the session has ended; begin another");
            self.refuse(Refused::Malformed, StatusCode::NOT_FOUND, fault)
        })?;
        let (body, held) = self.intake.read(headers, body).await.map_err(|why| self.unread(why))?;
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

    fn unread(&self, why: Unread) -> Early {
        let most = self.intake.max_bytes();
        let (why, status, message) = match why {
            Unread::IsTooLarge => {
                (Refused::TooLarge, StatusCode::PAYLOAD_TOO_LARGE, format!("the message has more than {most} bytes"))
            }
            Unread::IsTooSlow => {
                (Refused::TooSlow, StatusCode::REQUEST_TIMEOUT, "the message did not come in time".to_owned())
            }
            Unread::BrokeOff => (Refused::Malformed, StatusCode::BAD_REQUEST, "the message broke off".to_owned()),
            Unread::HasEnded => (Refused::Malformed, StatusCode::BAD_REQUEST, "the server has ended".to_owned()),
        };
        self.refuse(why, status, Fault::of_envelope(Code::InvalidRequest, message))
    }

    fn refuse(&self, why: Refused, status: StatusCode, fault: Fault) -> Early {
        self.server.shared.metrics.refuse(why);
        Box::new(json(status, fault.to_response(None)))
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
