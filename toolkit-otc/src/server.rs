//! The side that has the tools.

mod answers;
mod call;
mod events;
mod guard;
mod listen;
mod refusal;
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

use self::answers::Answers;
use self::refusal::Refusal;
use crate::{Auth, Naming, Published};

/// Offers the tools of a dispatcher over HTTP: `GET /health`, `GET /tools` and `POST /tools/call`.
///
/// # What comes back from a call
///
/// | status | when |
/// |---|---|
/// | 200 | the tool ran: `success` says whether it did what it was asked |
/// | 400 | it did not run: no such tool or version, the caller lacks what it requires, the message is none |
/// | 401 | the client may not come in |
/// | 403 | the request was made for another host, or by a page of another one: see [`Server::host`] |
/// | 413, 415 | the message is longer than may be, or is not `application/json` |
/// | 422 | the input does not fit the tool's schema |
/// | 408 | the message did not arrive in time |
/// | 503 | the concurrency limit is reached, there is no memory for the message, or the server is about to stop |
///
/// # Calls that are repeated
///
/// A call runs once per `call_id`. Who sends it again while it runs waits for the same answer, and who sends it later
/// is given that answer, as long as it is among the last ones ([`Limits::max_answers`], [`Limits::max_answer_bytes`]).
/// Only a call that ran is remembered. A `call_id` that comes with another tool, input or context is refused.
///
/// # Calls that nobody waits for
///
/// When the last client that waits for a call has gone away, the call is cancelled; that is its answer then, should
/// somebody ask again.
#[must_use]
pub struct Server {
    dispatcher: Dispatcher,
    published: Published,
    auth: Auth,
    hosts: Option<Vec<String>>,
    limits: Limits,
    readiness: Readiness,
}

/// What a server takes upon itself.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The size of a message, in either direction: 16 MiB.
    pub max_body_bytes: usize,
    /// The number of bytes of requests in memory, over all of them: 64 MiB, and twice the size of a message at least.
    pub max_pending_bytes: usize,
    /// The number of calls that run at once: 256. More are refused. Calls of one tool take at most three quarters of it,
    /// so that a slow tool leaves room for the others.
    pub max_calls: usize,
    /// The number of open connections: 1024, half of them of one address. Beyond it, idle connections are closed for new
    /// ones; see [`toolkit_http::Limits`].
    pub max_connections: usize,
    /// The time a call may take: five minutes. A synchronous tool that does not look at its context cannot be stopped: it
    /// keeps its thread and counts as a running call until it ends.
    pub call_timeout: Duration,
    /// The time a client may take to send its request, and to read what it is sent: 30 s.
    pub read_timeout: Duration,
    /// How long calls may take to end once the server is told to stop: 30 s. Those that are left are cancelled.
    pub shutdown_timeout: Duration,
    /// How many answers are kept for calls that are repeated: 1024.
    pub max_answers: usize,
    /// How many bytes the answers that are kept may have together: 16 MiB.
    pub max_answer_bytes: usize,
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
            max_answers: 1024,
            max_answer_bytes: 16 << 20,
        }
    }
}

/// How long calls that were cancelled have to notice it.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// What every request looks at.
struct Shared {
    dispatcher: Dispatcher,
    published: Published,
    auth: Auth,
    limits: Limits,
    readiness: Readiness,
    /// The answer to `GET /tools`.
    listed: Bytes,
    calls: CallLimiter,
    pool: ToolPool,
    bodies: BodyReader,
    guard: HostGuard,
    answers: Arc<Answers>,
}

impl Server {
    /// A server that lets everybody in who reaches it by `localhost` or by an IP address.
    pub fn new(dispatcher: Dispatcher) -> Self {
        let published = Published::of(dispatcher.catalog(), &Naming::default());
        Self {
            dispatcher,
            published,
            auth: Auth::none(),
            hosts: Some(Vec::new()),
            limits: Limits::default(),
            readiness: Readiness::new(),
        }
    }

    /// Says what tools are called that have no namespace or no version.
    pub fn naming(mut self, naming: &Naming) -> Self {
        self.published = Published::of(self.dispatcher.catalog(), naming);
        self
    }

    /// Says who may come in; `GET /health` is open to all.
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = auth;
        self
    }

    /// Adds a name under which the server is reached. `localhost` and IP addresses need not be named.
    ///
    /// A web page can let its own name point to this machine, and a browser would then send its requests here. Such a
    /// request has the page's name as its `Host`, and is refused.
    pub fn host(mut self, name: &str) -> Self {
        if let Some(hosts) = &mut self.hosts {
            hosts.push(name.to_ascii_lowercase());
        }
        self
    }

    /// Takes requests for any host, for a server behind something that looks at it.
    pub fn any_host(mut self) -> Self {
        self.hosts = None;
        self
    }

    /// Says what the server takes upon itself.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// What is offered, and what is wrong with the tools that are not.
    #[must_use]
    pub fn published(&self) -> &Published {
        &self.published
    }

    /// Tells clients whether the server can be asked for anything; see [`Readiness`].
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        self.readiness.clone()
    }

    /// The routes, for a program that has a server already. Such a program bounds connections itself, and how long
    /// they take.
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
        let answers = Arc::new(Answers::new(limits.max_answers, limits.max_answer_bytes));
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
            answers,
        });
        let router = Router::new()
            .route("/tools", get(list))
            .route("/tools/call", post(call::call))
            .route_layer(from_fn_with_state(Arc::clone(&shared), guard::authenticated))
            .route("/health", get(health))
            .fallback(|| async { Refusal::new(StatusCode::NOT_FOUND, "there is nothing here; tools are at `/tools`") })
            .method_not_allowed_fallback(|| async {
                Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "there is nothing here for this method")
            })
            .layer(from_fn_with_state(Arc::clone(&shared), guard::of_this_host))
            .with_state(Arc::clone(&shared));
        (shared, router)
    }
}

async fn health(State(shared): State<Arc<Shared>>) -> Response {
    match shared.readiness.is_ready() {
        true => StatusCode::OK.into_response(),
        false => Refusal::not_ready().into_response(),
    }
}

async fn list(State(shared): State<Arc<Shared>>) -> Response {
    ([(CONTENT_TYPE, "application/json")], shared.listed.clone()).into_response()
}

/// Whether a server can be asked for anything. It is ready from the start until it is told to stop, unless the host
/// says otherwise, such as while a database cannot be reached. Clones share one flag.
#[derive(Clone, Debug)]
pub struct Readiness(Arc<AtomicBool>);

impl Readiness {
    fn new() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    /// Says whether the server is ready: if it is not, `GET /health` is answered with 503, and so is every call.
    pub fn set(&self, is_ready: bool) {
        self.0.store(is_ready, Ordering::Release);
    }

    /// Whether it is ready.
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
