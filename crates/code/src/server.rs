//! A server that runs programs of other machines: its limits, requests and sessions.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use http::header::{HeaderValue, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Method, Response, StatusCode};
use hyper::body::Incoming;
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolkit::call::SecretString;
use toolkit_runtime::{
    Body, HostGuard, HttpServer, Mutex, Rejection, RequestHead, bearer, empty_response, is_token, json_response,
};

use crate::engine::{Done, State, Step, Usage};
use crate::failure::Failure;
use crate::limits::Limits;
use crate::sandbox::{Sandbox, SandboxError, Session};
use crate::wire::{self, GREETING_BYTES, Hello, Ready, SESSIONS, ToHost, ToWorker};

/// A server that runs programs in a sandbox, for the [`Remote`](crate::sandbox::Remote) sandboxes of other machines.
///
/// It speaks the [protocol](crate::wire#over-http) over HTTP. Everyone who has the token can run programs, but a program
/// can only do what its sandbox permits; its calls go back to the host. `GET /healthz` needs no token. The server has no
/// TLS: put a proxy in front of it.
///
/// # Examples
///
/// ```no_run
/// use toolkit_code::Profile;
/// use toolkit_code::sandbox::Process;
/// use toolkit_code::server::Server;
///
/// # #[cfg(feature = "javascript")]
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     toolkit_code::worker::init();
///     let token = std::env::var("SANDBOX_TOKEN")?;
///     let server = Server::new(Process::new().profile(Profile::Hardened), token);
///     tokio::runtime::Runtime::new()?.block_on(async {
///         let listener = tokio::net::TcpListener::bind("127.0.0.1:8090").await?;
///         server.serve(listener, async { tokio::signal::ctrl_c().await.unwrap_or(()) }).await;
///         Ok(())
///     })
/// }
/// # #[cfg(not(feature = "javascript"))]
/// # fn main() {}
/// ```
#[must_use]
pub struct Server {
    sandbox: Arc<dyn Sandbox>,
    token: SecretString,
    limits: ServerLimits,
}

impl Server {
    /// Creates a server for clients that send this token. With an empty token it rejects all requests.
    pub fn new(sandbox: impl Sandbox, token: impl Into<SecretString>) -> Self {
        Self { sandbox: Arc::new(sandbox), token: token.into(), limits: ServerLimits::default() }
    }

    /// Sets the limits.
    pub fn limits(self, limits: ServerLimits) -> Self {
        Self { limits, ..self }
    }

    /// Serves connections until `shutdown` completes, then opens no more sessions, and returns when those that are open
    /// have ended, or after [`ServerLimits::shutdown_timeout`].
    ///
    /// Dropping the future ends all sessions at once.
    pub async fn serve(self, listener: TcpListener, shutdown: impl Future<Output = ()>) {
        let limits = self.limits;
        let shared = Arc::new(ServerState::new(self.sandbox, self.token, limits));
        let shutdown = async {
            tokio::select! {
                () = shutdown => {}
                () = shared.sessions.end_overdue() => {}
            }
            tokio::select! {
                _ = tokio::time::timeout(limits.shutdown_timeout, shared.sessions.close()) => {}
                () = shared.sessions.end_overdue() => {}
            }
        };
        let answer = {
            let shared = Arc::clone(&shared);
            move |head, body| {
                let shared = Arc::clone(&shared);
                async move { shared.answer(&head, body).await }
            }
        };
        shared.http.serve(listener, answer, shutdown, std::future::ready(())).await;
    }
}

toolkit::debug_fields!(it, Server { sandbox: it.sandbox.info(), limits });

/// The limits of a [`Server`].
///
/// # Examples
///
/// ```
/// use toolkit_code::Limits;
/// use toolkit_code::server::ServerLimits;
///
/// let mut limits = ServerLimits::default();
/// limits.max_sessions = 16;
/// limits.program = Limits::default().memory_bytes(256 << 20);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ServerLimits {
    /// The number of programs that run at the same time; further ones are rejected. Default: 64.
    pub max_sessions: usize,
    /// The highest limits that a program may have; with a higher one it is rejected. A session ends when it is older than
    /// [`Limits::time`]. The limits of calls are those of the host, and are not compared. Default: [`Limits::default`].
    pub program: Limits,
    /// The number of open connections. Default: 256.
    pub max_connections: usize,
    /// The time that a client may take to send a message, or to read one. Default: 30 s.
    pub read_timeout: Duration,
    /// The time that programs may take to end after shutdown was requested. Default: 30 s.
    pub shutdown_timeout: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            max_sessions: 64,
            program: Limits::default(),
            max_connections: 256,
            read_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(30),
        }
    }
}

impl ServerLimits {
    /// Returns the limits of the HTTP server.
    fn http(&self) -> toolkit_runtime::Limits {
        let mut limits = toolkit_runtime::Limits::default();
        limits.max_connections = self.max_connections;
        limits.max_connections_per_address = self.max_connections;
        limits.max_body_bytes = wire::max_line(&self.program);
        limits.max_pending_bytes = limits.max_body_bytes.saturating_mul(4);
        limits.io_timeout = self.read_timeout;
        limits.shutdown_timeout = Duration::ZERO;
        limits
    }

    /// Checks that no limit of a program is higher than permitted.
    fn check(&self, limits: &Limits) -> Result<(), String> {
        let max = &self.program;
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let all = [
            ("run_time", ms(limits.run_time), ms(max.run_time), " ms"),
            ("time", ms(limits.time), ms(max.time), " ms"),
            ("steps", limits.steps, max.steps, ""),
            ("memory_bytes", limits.memory_bytes, max.memory_bytes, ""),
            ("code_bytes", limits.code_bytes, max.code_bytes, ""),
            ("output_bytes", limits.output_bytes, max.output_bytes, ""),
            ("value_bytes", limits.value_bytes, max.value_bytes, ""),
            ("message_bytes", limits.message_bytes, max.message_bytes, ""),
        ];
        match all.into_iter().find(|(_, limit, max, _)| limit > max) {
            Some((name, limit, max, unit)) => {
                Err(format!("the limit `{name}` of {limit}{unit} exceeds the {max}{unit} that the server permits"))
            }
            None => Ok(()),
        }
    }
}

/// The state that all requests share.
struct ServerState {
    sandbox: Arc<dyn Sandbox>,
    token: SecretString,
    limits: ServerLimits,
    http: HttpServer,
    sessions: Sessions,
}

/// The time beyond that of a program after which a session is ended whose sandbox has not ended it.
const GRACE: Duration = Duration::from_secs(1);

impl ServerState {
    fn new(sandbox: Arc<dyn Sandbox>, token: SecretString, limits: ServerLimits) -> Self {
        // Requests need the token, which pages of other hosts do not have.
        let http = HttpServer::new(limits.http(), HostGuard::unchecked());
        Self { sandbox, token, limits, http, sessions: Sessions::new(limits.max_sessions) }
    }

    async fn answer(&self, head: &RequestHead, body: Incoming) -> Response<Body> {
        let path = head.path();
        if path == "/healthz" {
            return empty_response(StatusCode::OK);
        }
        if let Err(refused) = head.check_room() {
            return rejection(refused.status(), refused.to_string());
        }
        if !is_token(bearer(head.headers()).unwrap_or_default(), self.token.expose()) {
            return rejection(StatusCode::UNAUTHORIZED, "send the token as `Authorization: Bearer …`");
        }
        let id = path.strip_prefix(SESSIONS).and_then(|rest| rest.strip_prefix('/'));
        match (&head.parts.method, id) {
            (&Method::POST, None) if path == SESSIONS => self.open(head, body).await,
            (&Method::POST, Some(id)) => self.advance(id, head, body).await,
            (&Method::DELETE, Some(id)) => match self.sessions.take(id) {
                Some(_) => empty_response(StatusCode::NO_CONTENT),
                None => has_ended(),
            },
            _ => rejection(StatusCode::NOT_FOUND, format!("not found; sessions are at `{SESSIONS}`")),
        }
    }

    async fn open(&self, head: &RequestHead, body: Incoming) -> Response<Body> {
        let Some(permit) = self.sessions.permit() else {
            return rejection(StatusCode::SERVICE_UNAVAILABLE, "no more programs can run now; try again later");
        };
        let hello = match self.read(head, body, GREETING_BYTES, true).await {
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
            Err(SandboxError::Unavailable { reason, .. }) => return rejection(StatusCode::SERVICE_UNAVAILABLE, reason),
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
    async fn advance(&self, id: &str, head: &RequestHead, body: Incoming) -> Response<Body> {
        let Some(mut open) = self.sessions.take(id) else { return has_ended() };
        let max = wire::max_line(&open.limits);
        let message = match self.read(head, body, max, false).await {
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
            self.sessions.put(id.to_owned(), open);
        }
        reply
    }

    async fn read(
        &self,
        head: &RequestHead,
        body: Incoming,
        max: usize,
        is_first: bool,
    ) -> Result<ToWorker, Response<Body>> {
        let refused = |refused: Rejection| rejection(refused.status(), refused.to_string());
        let body = self.http.read(head, body).await.map_err(refused)?;
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

async fn step(open: &mut OpenSession, message: ToWorker) -> Result<Step, Box<Response<Body>>> {
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
        SandboxError::Protocol { reason, .. } => Err(rejection(StatusCode::BAD_GATEWAY, reason).into()),
        error => Err(rejection(StatusCode::SERVICE_UNAVAILABLE, error.to_string()).into()),
    })
}

fn has_ended() -> Response<Body> {
    rejection(StatusCode::NOT_FOUND, "the session has ended")
}

fn out_of_turn(expected: &str) -> Response<Body> {
    rejection(StatusCode::BAD_REQUEST, format!("expected `{expected}`"))
}

/// Returns a response with a message.
fn with_message(status: StatusCode, message: &ToHost, max: usize) -> Response<Body> {
    match wire::encode(message, max) {
        Ok(line) => json_response(status, line),
        Err(error) => rejection(StatusCode::BAD_GATEWAY, error.to_string()),
    }
}

/// Returns a response to a request that is rejected.
fn rejection(status: StatusCode, reason: impl Into<String>) -> Response<Body> {
    let body = serde_json::to_vec(&ToHost::Error(reason.into())).unwrap_or_default();
    let mut reply = json_response(status, body);
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

/// Adds the path of a new session.
fn located(mut reply: Response<Body>, path: &str) -> Response<Body> {
    if let Ok(path) = HeaderValue::from_str(path) {
        reply.headers_mut().insert(LOCATION, path);
    }
    reply
}

/// The sessions that wait for a message. One whose message is answered is not among them: if the client disconnects, it
/// is dropped with the request.
struct Sessions {
    waiting: Mutex<HashMap<String, OpenSession>>,
    permits: Arc<Semaphore>,
    max: u32,
}

/// A session.
struct OpenSession {
    session: Box<dyn Session>,
    limits: Limits,
    is_started: bool,
    /// The time at which it ends.
    deadline: Instant,
    _permit: Permit,
}

/// The permission to open a session.
struct Permit {
    _permit: OwnedSemaphorePermit,
}

/// The time between two searches for sessions that are too old.
const PERIOD: Duration = Duration::from_secs(1);

impl Sessions {
    fn new(max: usize) -> Self {
        let max = u32::try_from(max.min(Semaphore::MAX_PERMITS)).unwrap_or(u32::MAX);
        Self { waiting: Mutex::default(), permits: Arc::new(Semaphore::new(max as usize)), max }
    }

    /// Returns `None` if there are too many sessions, or the server shuts down.
    fn permit(&self) -> Option<Permit> {
        Arc::clone(&self.permits).try_acquire_owned().ok().map(|permit| Permit { _permit: permit })
    }

    /// Adds a session, and returns its unguessable id.
    fn add(&self, session: Box<dyn Session>, limits: Limits, permit: Permit) -> Result<String, getrandom::Error> {
        let mut id = [0; 16];
        getrandom::fill(&mut id)?;
        let id = HEXLOWER.encode(&id);
        // A time that no clock can express has no end.
        let deadline = Instant::now() + limits.time.min(Duration::from_secs(365 * 24 * 3600));
        self.put(id.clone(), OpenSession { session, limits, is_started: false, deadline, _permit: permit });
        Ok(id)
    }

    fn put(&self, id: String, open: OpenSession) {
        self.waiting.lock().insert(id, open);
    }

    fn take(&self, id: &str) -> Option<OpenSession> {
        self.waiting.lock().remove(id).filter(|open| open.deadline > Instant::now())
    }

    /// Ends sessions that are too old, without end.
    async fn end_overdue(&self) {
        loop {
            tokio::time::sleep(PERIOD).await;
            let now = Instant::now();
            // They are dropped after the lock.
            let _overdue: Vec<_> = self.waiting.lock().extract_if(|_, open| open.deadline <= now).collect();
        }
    }

    /// Opens no more sessions, and returns when all have ended.
    fn close(&self) -> impl Future<Output = ()> {
        let all = Arc::clone(&self.permits).acquire_many_owned(self.max);
        async {
            // The waiter is first in line, so that no session is opened before.
            if let Ok(all) = all.await {
                all.forget();
            }
        }
    }
}
