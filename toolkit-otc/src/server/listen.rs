//! Serving connections and graceful shutdown.

use std::convert::Infallible;
use std::future::Future;

use axum::extract::Request;
use axum::response::Response;
use tokio::net::TcpListener;
use tower_service::Service;

use super::Server;
use super::limits::CANCEL_TIMEOUT;

impl Server {
    /// Serves connections until `shutdown` completes, then shuts down gracefully: rejects new calls, and cancels
    /// running ones after [`Limits::shutdown_timeout`](super::Limits::shutdown_timeout).
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
