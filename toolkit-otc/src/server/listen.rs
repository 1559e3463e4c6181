//! Serving connections and graceful shutdown.

use std::convert::Infallible;
use std::future::Future;

use axum::extract::Request;
use axum::response::Response;
use tokio::net::TcpListener;
use tower_service::Service;

use super::{CANCEL_TIMEOUT, Limits, Server};

impl Server {
    /// Serves connections until `shutdown` completes, then shuts down gracefully: rejects new calls, and cancels
    /// running ones after [`Limits::shutdown_timeout`].
    ///
    /// Dropping the future closes all connections at once.
    pub async fn serve(self, listener: TcpListener, shutdown: impl Future<Output = ()>) {
        let (shared, router) = self.shared();
        let limits = shared.limits.http();
        let readiness = shared.readiness.clone();
        let shutdown = async {
            shutdown.await;
            readiness.set(false);
        };
        let answer = move |request: Request<hyper::body::Incoming>| {
            let mut router = router.clone();
            async move {
                // An axum router is always ready.
                let answered: Result<Response, Infallible> = router.call(request.map(axum::body::Body::new)).await;
                answered.unwrap_or_else(|never| match never {})
            }
        };
        toolkit_http::serve(listener, limits, answer, shutdown, std::future::pending()).await;
        // Waits for canceled calls.
        let idle = async {
            while shared.calls.n_running() > 0 {
                tokio::time::sleep(CANCEL_TIMEOUT / 20).await;
            }
        };
        let _ = tokio::time::timeout(CANCEL_TIMEOUT, idle).await;
    }
}

impl Limits {
    /// Returns the limits of the HTTP server.
    pub(super) fn http(&self) -> toolkit_http::Limits {
        let mut limits = toolkit_http::Limits::default();
        limits.max_connections = self.max_connections;
        limits.max_connections_per_address = self.max_connections.div_ceil(2);
        limits.max_body_bytes = self.max_body_bytes;
        limits.max_pending_bytes = self.max_pending_bytes;
        limits.io_timeout = self.read_timeout;
        limits.shutdown_timeout = self.shutdown_timeout;
        limits
    }
}
