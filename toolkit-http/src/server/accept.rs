//! The accept loop, and how it ends.

use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::time::Duration;

use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::connections::Connections;
use super::limits::Limits;
use super::response::Tracked;
use super::stream::WriteTimeout;

/// The pause after a connection could not be accepted, as when there are too many files open.
const PAUSE: Duration = Duration::from_millis(50);

/// The size of a connection's read buffer, and so of the head of a request.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// Serves until `shutdown` completes; then accepts no more connections, and lets requests that run end for
/// [`Limits::shutdown_timeout`], or until `abort` completes. What is left then is dropped. Dropping the future drops
/// everything at once.
///
/// `answer` is called with each request; its [`Connection`](super::Connection) is in the extensions of the request.
/// Neither the function nor its future may block.
pub async fn serve<A, F, B>(
    listener: TcpListener,
    limits: Limits,
    answer: A,
    shutdown: impl Future<Output = ()>,
    abort: impl Future<Output = ()>,
) where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let connections = Connections::new(limits);
    let graceful = GracefulShutdown::new();
    let mut open = JoinSet::new();
    let mut shutdown = std::pin::pin!(shutdown);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.io_timeout).max_buf_size(MAX_HEAD_BYTES);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut shutdown => break,
            accepted = listener.accept() => accepted,
        };
        while open.try_join_next().is_some() {}
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        // Without any room the connection is closed.
        let Some(connection) = connections.admit(address.ip()) else { continue };
        // Answers are small and whole; waiting for more of them would only delay them.
        let _ = stream.set_nodelay(true);
        let (answer, this) = (answer.clone(), connection.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            let connection = this.clone();
            connection.running();
            request.extensions_mut().insert(connection.clone());
            let answered = answer(request);
            async move { Ok::<_, Infallible>(Tracked::track(answered.await, connection).await) }
        });
        let stream = WriteTimeout::new(stream, connection.clone(), limits.io_timeout);
        let served = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        open.spawn(async move {
            tokio::select! {
                // A client that breaks off, or is not understood, is no error of the server.
                _ = served => {}
                () = connection.evicted() => {}
            }
            connection.forget();
        });
    }
    drop(listener);
    tokio::select! {
        _ = tokio::time::timeout(limits.shutdown_timeout, graceful.shutdown()) => {}
        () = abort => {}
    }
    open.shutdown().await;
}
