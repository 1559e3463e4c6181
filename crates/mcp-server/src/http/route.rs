//! Further routes of the server, such as a page for people, and `GET /healthz`: whether requests can be sent here.

use std::time::{Duration, Instant};

use http::{HeaderMap, Method, Response, StatusCode, Uri};
use tokio::sync::Mutex;
use tokio::time::timeout;
use toolkit::Tool;
use toolkit::call::{BoxError, BoxFuture};

use super::response::{Body, text};
use crate::Server;
use crate::access::Access;
use crate::request::Caller;

/// A part of the HTTP server beside the MCP endpoint; see [`Http::route`](super::Http::route).
///
/// The server checks the host, the origin, the rate and, for [`Admission::Authenticated`], the token of a request before the
/// route receives it. Unlike those of the endpoint, responses of a route have no CORS headers.
///
/// # Examples
///
/// ```
/// use http::{Request, Response};
/// use toolkit::dispatch::BoxFuture;
/// # use toolkit::{Catalog, Dispatcher};
/// # use toolkit_mcp_server::Server;
/// use toolkit_mcp_server::{Admission, Body, Route, RouteRequest};
/// use tower_service::Service as _;
///
/// /// Serves the number of tools at `/count`.
/// struct Count;
///
/// impl Route for Count {
///     fn admission(&self, path: &str) -> Option<Admission> {
///         (path == "/count").then_some(Admission::Public)
///     }
///
///     fn respond<'r>(&'r self, request: RouteRequest<'r>) -> BoxFuture<'r, Response<Body>> {
///         let n_tools = request.server.listed().len();
///         Box::pin(async move { Response::new(Body::from(n_tools.to_string())) })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = Server::new(Dispatcher::new(Catalog::new([])?)?)?;
/// let mut service = server.http().route(Count).into_service();
/// let request = Request::get("/count").header("host", "localhost").body(String::new())?;
/// assert_eq!(service.call(request).await?.status(), 200);
/// # Ok(())
/// # }
/// ```
pub trait Route: Send + Sync + 'static {
    /// Returns who may request a path, or `None` if the route does not serve it.
    fn admission(&self, path: &str) -> Option<Admission>;

    /// Responds to a request for one of these paths. An event stream counts towards the limit of
    /// [`Limits::max_event_streams`](toolkit_runtime::Limits::max_event_streams).
    fn respond<'r>(&'r self, request: RouteRequest<'r>) -> BoxFuture<'r, Response<Body>>;

    /// Returns false if the server must require tokens at an address that other machines can reach, even with
    /// [`Http::allow_unauthenticated`](super::Http::allow_unauthenticated). Default: true.
    fn allows_unauthenticated(&self) -> bool {
        true
    }
}

/// The callers that may request a path of a [`Route`].
///
/// # Examples
///
/// ```
/// use toolkit_mcp_server::Admission;
///
/// // The files of a page are the same for all, and its data is not.
/// let admission = |path: &str| match path {
///     "/page" => Some(Admission::Public),
///     "/page/data" => Some(Admission::Authenticated),
///     _ => None,
/// };
/// assert_eq!(admission("/mcp"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Admission {
    /// Everyone.
    Public,
    /// Callers whose token the server accepts. Everyone, if the server requires no token.
    Authenticated,
}

/// An admitted request for a path of a [`Route`]. Its body is not read.
#[non_exhaustive]
pub struct RouteRequest<'r> {
    /// The server.
    pub server: &'r Server,
    /// The method.
    pub method: &'r Method,
    /// The request target.
    pub uri: &'r Uri,
    /// The headers, which contain the token of the caller.
    pub headers: &'r HeaderMap,
    /// The caller, if the path requires authentication and the server requires tokens.
    pub caller: Option<&'r Caller>,
    pub(super) access: Option<Access>,
}

impl RouteRequest<'_> {
    /// Returns true if the token of the caller grants the scopes that the tool requires.
    #[must_use]
    pub fn grants(&self, tool: &Tool) -> bool {
        self.access.as_ref().is_none_or(|access| access.grants_tool(tool))
    }
}

// Headers contain tokens.
toolkit::debug_fields!(it, RouteRequest<'_> { method, path: it.uri.path(), caller });

/// The time after which a health check runs again. Everyone may ask for the health of a server, as often as they like.
const INTERVAL: Duration = Duration::from_secs(1);

/// The time after which a check has failed.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A check of something that calls need, such as a database.
pub(super) struct HealthCheck {
    name: String,
    run: Box<dyn Fn() -> BoxFuture<'static, Result<(), BoxError>> + Send + Sync>,
    /// The time and the outcome of the last run. The lock is held during a run, so that there is one at a time.
    last: Mutex<Option<(Instant, bool)>>,
}

impl HealthCheck {
    pub(super) fn new(
        name: String,
        run: impl Fn() -> BoxFuture<'static, Result<(), BoxError>> + Send + Sync + 'static,
    ) -> Self {
        Self { name, run: Box::new(run), last: Mutex::default() }
    }

    async fn succeeds(&self) -> bool {
        let mut last = self.last.lock().await;
        if let Some((at, succeeded)) = *last
            && at.elapsed() < INTERVAL
        {
            return succeeded;
        }
        let succeeded = match timeout(TIMEOUT, (self.run)()).await {
            Ok(Ok(())) => true,
            Ok(Err(error)) => {
                tracing::warn!(check = self.name, %error, "a health check failed");
                false
            }
            Err(_) => {
                tracing::warn!(check = self.name, "a health check has not ended within {} s", TIMEOUT.as_secs());
                false
            }
        };
        *last = Some((Instant::now(), succeeded));
        succeeded
    }
}

/// Returns `ok`, or why requests should be sent elsewhere. Everyone may read it, so it contains no errors.
pub(super) async fn health(server: &Server, checks: &[HealthCheck]) -> Response<Body> {
    if server.shared.draining.is_cancelled() {
        return text(StatusCode::SERVICE_UNAVAILABLE, "shutting down\n".to_owned());
    }
    let mut failed = Vec::new();
    for check in checks {
        if !check.succeeds().await {
            failed.push(&*check.name);
        }
    }
    match failed.is_empty() {
        true => text(StatusCode::OK, backends(server)),
        false => text(StatusCode::SERVICE_UNAVAILABLE, format!("failed: {}; see the log\n", failed.join(", "))),
    }
}

/// Returns `ok`, or how many backends are not ready.
fn backends(server: &Server) -> String {
    // Not everyone may know how many servers there are.
    if server.shared.views.get().is_some() {
        return "ok\n".to_owned();
    }
    let backends = server.shared.proxied().map(|proxied| proxied.backends()).unwrap_or_default();
    match backends.iter().filter(|backend| !backend.state.is_ready()).count() {
        0 => "ok\n".to_owned(),
        n => format!("ok, {n} of {} servers not ready; see /status\n", backends.len()),
    }
}
