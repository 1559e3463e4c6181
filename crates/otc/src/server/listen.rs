//! Serving connections and graceful shutdown.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::Request;
use axum::http::header::{CONNECTION, HeaderValue};
use axum::response::Response;
use tokio::net::TcpListener;
use tower_service::Service;

use super::Server;
use super::limits::CANCEL_TIMEOUT;

impl Server {
    /// Serves connections until `shutdown` completes, then shuts down gracefully: fails health checks, rejects new calls
    /// after [`Limits::drain_delay`](super::Limits::drain_delay), and cancels running ones after
    /// [`Limits::shutdown_timeout`](super::Limits::shutdown_timeout).
    ///
    /// Dropping the future closes all connections at once.
    pub async fn serve(self, listener: TcpListener, shutdown: impl Future<Output = ()>) {
        let (shared, router) = self.shared();
        let limits = shared.limits.http();
        let readiness = shared.readiness.clone();
        let (draining, drain_delay) = (Arc::clone(&shared), shared.limits.drain_delay);
        let shutdown = async {
            shutdown.await;
            draining.is_draining.store(true, Ordering::Relaxed);
            tokio::time::sleep(drain_delay).await;
            readiness.set(false);
        };
        let draining = Arc::clone(&shared);
        let answer = move |request: Request<hyper::body::Incoming>| {
            let (mut router, draining) = (router.clone(), Arc::clone(&draining));
            async move {
                // An axum router is always ready.
                let answered: Result<Response, Infallible> = router.call(request.map(axum::body::Body::new)).await;
                let mut response = answered.unwrap_or_else(|never| match never {});
                // The next request of the client goes elsewhere, before the connection ends.
                if draining.is_draining.load(Ordering::Relaxed) {
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                response
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
