//! Accepting connections, and letting them come to their end.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::Server;

/// How long to wait where the system has no more room for connections.
const PAUSE: Duration = Duration::from_millis(100);
/// How long calls that were cancelled have to notice it.
const LAST_PATIENCE: Duration = Duration::from_secs(1);
/// How many bytes of headers are read.
const MAX_HEADER_BYTES: usize = 64 << 10;

impl Server {
    /// Serves on `listener` until `shutdown` is done. Then no more calls are taken, and those that run come to their end
    /// or, after [`Limits::shutdown_timeout`](super::Limits::shutdown_timeout), are cancelled.
    pub async fn serve(self, listener: TcpListener, shutdown: impl Future<Output = ()>) {
        let (shared, router) = self.shared();
        let limits = &shared.limits;
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(limits.read_timeout).max_buf_size(MAX_HEADER_BYTES);
        let places = Arc::new(Semaphore::new(limits.max_connections.min(Semaphore::MAX_PERMITS)));
        let graceful = GracefulShutdown::new();
        let mut connections = JoinSet::new();
        let mut shutdown = pin!(shutdown);
        loop {
            let next = async {
                // Never closed, so there is always a place in the end.
                let place = Arc::clone(&places).acquire_owned().await.map_err(io::Error::other)?;
                Ok::<_, io::Error>((listener.accept().await?.0, place))
            };
            let accepted = tokio::select! {
                biased;
                () = &mut shutdown => break,
                accepted = next => accepted,
            };
            // Those that have ended need not be kept.
            while connections.try_join_next().is_some() {}
            match accepted {
                Ok((stream, place)) => {
                    let _ = stream.set_nodelay(true);
                    let service = TowerToHyperService::new(router.clone());
                    let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
                    connections.spawn(async move {
                        let _place = place;
                        // A client that breaks off is no error of the server.
                        let _ = connection.await;
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "no connection could be accepted");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
        drop(listener);
        shared.readiness.set(false);
        if tokio::time::timeout(limits.shutdown_timeout, graceful.shutdown()).await.is_err() {
            // Whoever waits is dropped, which cancels the calls.
            connections.shutdown().await;
        }
        let all = u32::try_from(limits.max_calls).unwrap_or(u32::MAX);
        let _ = tokio::time::timeout(LAST_PATIENCE, shared.places.acquire_many(all)).await;
    }
}
