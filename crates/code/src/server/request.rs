//! Requests and their responses.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use sha2::{Digest, Sha256};
use toolkit::call::SecretString;
use toolkit_runtime::{BodyError, BodyReader, Connection};

use super::super::engine::{Done, State, Step, Usage};
use super::super::failure::Failure;
use super::super::sandbox::{Sandbox, SandboxError};
use super::super::wire::{self, GREETING_BYTES, Hello, Ready, SESSIONS, ToHost, ToWorker};
use super::limits::ServerLimits;
use super::sessions::{Open, Sessions};

/// The state that all requests share.
pub(super) struct Shared {
    sandbox: Arc<dyn Sandbox>,
    token: SecretString,
    limits: ServerLimits,
    bodies: BodyReader,
    pub(super) sessions: Sessions,
}

/// The time beyond that of a program after which a session is ended whose sandbox has not ended it.
const GRACE: Duration = Duration::from_secs(1);

impl Shared {
    pub(super) fn new(sandbox: Arc<dyn Sandbox>, token: SecretString, limits: ServerLimits) -> Self {
        let bodies = BodyReader::new(&limits.http());
        Self { sandbox, token, limits, bodies, sessions: Sessions::new(limits.max_sessions) }
    }

    pub(super) async fn answer(&self, request: Request<Incoming>) -> Reply {
        let path = request.uri().path();
        if path == "/healthz" {
            return empty(StatusCode::OK);
        }
        if !self.is_authorized(request.headers()) {
            return rejection(StatusCode::UNAUTHORIZED, "send the token as `Authorization: Bearer …`");
        }
        let id = path.strip_prefix(SESSIONS).and_then(|rest| rest.strip_prefix('/')).map(str::to_owned);
        match (request.method(), id) {
            (&Method::POST, None) if path == SESSIONS => self.open(request).await,
            (&Method::POST, Some(id)) => self.advance(id, request).await,
            (&Method::DELETE, Some(id)) => match self.sessions.take(&id) {
                Some(_) => empty(StatusCode::NO_CONTENT),
                None => has_ended(),
            },
            _ => rejection(StatusCode::NOT_FOUND, format!("not found; sessions are at `{SESSIONS}`")),
        }
    }

    /// Compares the digests of the tokens, so that the time reveals no common prefix of the tokens.
    fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let expected = self.token.expose();
        let sent = toolkit_runtime::bearer(headers).unwrap_or_default();
        !expected.is_empty() && Sha256::digest(sent) == Sha256::digest(expected)
    }

    async fn open(&self, request: Request<Incoming>) -> Reply {
        let Some(permit) = self.sessions.permit() else {
            return rejection(StatusCode::SERVICE_UNAVAILABLE, "no more programs can run now; try again later");
        };
        let hello = match self.read(request, GREETING_BYTES, true).await {
            Ok(ToWorker::Hello(hello)) => hello,
            Ok(_) => return out_of_turn("hello"),
            Err(reply) => return reply,
        };
        let Hello { limits, .. } = hello;
        if let Err(reason) = self.limits.check(&limits) {
            return rejection(StatusCode::UNPROCESSABLE_ENTITY, reason);
        }
        let session = match self.sandbox.open(&limits).await {
            Ok(session) => session,
            Err(SandboxError::Unavailable(reason)) => return rejection(StatusCode::SERVICE_UNAVAILABLE, reason),
            Err(error) => return rejection(StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
        };
        let ready = Ready::new(session.enforced().clone());
        match self.sessions.add(session, limits, permit) {
            Ok(id) => {
                let reply = with_message(StatusCode::CREATED, &ToHost::Ready(ready), GREETING_BYTES);
                located(reply, &format!("{SESSIONS}/{id}"))
            }
            Err(error) => rejection(StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
        }
    }

    /// Passes a message to a session. If the client disconnects, the future is dropped, and the session with it.
    async fn advance(&self, id: String, request: Request<Incoming>) -> Reply {
        let Some(mut open) = self.sessions.take(&id) else { return has_ended() };
        let max = wire::max_line(&open.limits);
        let message = match self.read(request, max, false).await {
            Ok(message) => message,
            Err(reply) => return reply,
        };
        let time = open.limits.run_time.saturating_add(GRACE);
        let Ok(stepped) = tokio::time::timeout(time, step(&mut open, message)).await else {
            return rejection(StatusCode::BAD_GATEWAY, format!("the sandbox did not respond within {time:?}"));
        };
        let step = match stepped {
            Ok(step) => step,
            Err(reply) => return *reply,
        };
        let is_done = matches!(step.state, State::Done(_));
        let reply = with_message(StatusCode::OK, &ToHost::Step(Box::new(step)), max);
        if !is_done && reply.status() == StatusCode::OK {
            self.sessions.put(id, open);
        }
        reply
    }

    async fn read(&self, request: Request<Incoming>, max: usize, is_first: bool) -> Result<ToWorker, Reply> {
        let connection = request.extensions().get::<Connection>().cloned();
        let (parts, body) = request.into_parts();
        let body = self.bodies.read(&parts.headers, body, connection.as_ref()).await.map_err(|error| {
            let status = match error {
                BodyError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
                BodyError::TimedOut(_) => StatusCode::REQUEST_TIMEOUT,
                BodyError::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
                _ => StatusCode::BAD_REQUEST,
            };
            rejection(status, error.to_string())
        })?;
        let line = body.bytes();
        if line.len() > max {
            let error = wire::WireError::TooLong(max);
            return Err(rejection(StatusCode::PAYLOAD_TOO_LARGE, error.to_string()));
        }
        let checked = if is_first { wire::check_version(line) } else { Ok(()) };
        let read = checked.and_then(|()| wire::decode(line));
        read.map_err(|error| rejection(StatusCode::BAD_REQUEST, error.to_string()))
    }
}

async fn step(open: &mut Open, message: ToWorker) -> Result<Step, Box<Reply>> {
    let stepped = match message {
        ToWorker::Start(program) if !open.is_started => {
            open.is_started = true;
            open.session.start(&program).await
        }
        ToWorker::Resume(answers) if open.is_started => open.session.resume(answers).await,
        _ => return Err(out_of_turn(if open.is_started { "resume" } else { "start" }).into()),
    };
    stepped.or_else(|error| match error {
        SandboxError::Ended(kind, reason) => {
            let state = State::Done(Done { outcome: Err(Failure::new(kind, reason)), shown: Vec::new() });
            Ok(Step { printed: Vec::new(), state, usage: Usage::default() })
        }
        SandboxError::Protocol(reason) => Err(rejection(StatusCode::BAD_GATEWAY, reason).into()),
        error => Err(rejection(StatusCode::SERVICE_UNAVAILABLE, error.to_string()).into()),
    })
}

fn has_ended() -> Reply {
    rejection(StatusCode::NOT_FOUND, "the session has ended")
}

fn out_of_turn(expected: &str) -> Reply {
    rejection(StatusCode::BAD_REQUEST, format!("expected `{expected}`"))
}

/// A response with its body.
pub(super) type Reply = Response<Full<Bytes>>;

/// Returns a response with a message.
fn with_message(status: StatusCode, message: &ToHost, max: usize) -> Reply {
    match wire::encode(message, max) {
        Ok(line) => with_body(status, line.into()),
        Err(error) => rejection(StatusCode::BAD_GATEWAY, error.to_string()),
    }
}

/// Returns a response to a request that is rejected.
fn rejection(status: StatusCode, reason: impl Into<String>) -> Reply {
    let body = serde_json::to_vec(&ToHost::Error(reason.into())).unwrap_or_default();
    let mut reply = with_body(status, body.into());
    let headers = reply.headers_mut();
    match status {
        StatusCode::UNAUTHORIZED => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        StatusCode::SERVICE_UNAVAILABLE => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        _ => {}
    }
    reply
}

/// Returns a response without a body.
fn empty(status: StatusCode) -> Reply {
    let mut reply = Response::new(Full::default());
    *reply.status_mut() = status;
    reply
}

/// Adds the path of a new session.
fn located(mut reply: Reply, path: &str) -> Reply {
    if let Ok(path) = HeaderValue::from_str(path) {
        reply.headers_mut().insert(LOCATION, path);
    }
    reply
}

fn with_body(status: StatusCode, body: Bytes) -> Reply {
    let mut reply = Response::new(Full::new(body));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}
