//! A server that runs programs of other machines.

mod limits;
mod request;
mod sessions;

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use http::Request;
use hyper::body::Incoming;
use tokio::net::TcpListener;
use toolkit::call::SecretString;

pub use self::limits::ServerLimits;
use self::request::Shared;
use super::sandbox::Sandbox;

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
        let shared = Arc::new(Shared::new(self.sandbox, self.token, limits));
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
            move |request: Request<Incoming>| {
                let shared = Arc::clone(&shared);
                async move { shared.answer(request).await }
            }
        };
        toolkit_runtime::serve(listener, limits.http(), answer, shutdown, std::future::pending()).await;
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("sandbox", &self.sandbox.info())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
