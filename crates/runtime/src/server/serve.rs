//! The accept loop and its graceful shutdown.

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

use super::Limits;
use super::connection::Connection;
use super::connections::Connections;
use super::listener::is_connection_error;
use super::tracked::Tracked;
use super::write_timeout::WriteTimeout;

/// The pause after an `accept` that failed for a reason that the next one has too, such as lack of file descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// The size of a connection's read buffer, which bounds the head of a request.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// Serves connections until `shutdown` completes, then shuts down gracefully.
///
/// After `shutdown`, the server accepts no connections, and requests in flight may finish within
/// [`Limits::shutdown_timeout`]. Then the remaining connections are closed. Dropping the future closes all connections at
/// once.
///
/// `answer` is called with each request and its connection. Neither the function nor its future may block.
///
/// # Examples
///
/// ```no_run
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use http_body_util::Full;
/// use toolkit_runtime::{Connection, Limits, ShutdownSignals, bind, serve};
///
/// # async fn run() -> std::io::Result<()> {
/// let listener = bind(&[([127, 0, 0, 1], 8000).into()])?;
/// let mut signals = ShutdownSignals::listen();
/// let answer = |_: Request<_>, connection: Connection| async move {
///     Response::new(Full::new(Bytes::from(connection.address().to_string())))
/// };
/// serve(listener, Limits::default(), answer, signals.next()).await;
/// # Ok(())
/// # }
/// ```
pub async fn serve<A, F, B>(listener: TcpListener, limits: Limits, answer: A, shutdown: impl Future<Output = ()>)
where
    A: Fn(Request<Incoming>, Connection) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let (io_timeout, shutdown_timeout) = (limits.io_timeout, limits.shutdown_timeout);
    let connections = Connections::new(limits);
    let graceful = GracefulShutdown::new();
    let mut open = JoinSet::new();
    let mut shutdown = std::pin::pin!(shutdown);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(io_timeout).max_buf_size(MAX_HEAD_BYTES);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut shutdown => break,
            accepted = listener.accept() => accepted,
        };
        while open.try_join_next().is_some() {}
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) if is_connection_error(&error) => {
                tracing::debug!(%error, "a connection has failed before it was accepted");
                continue;
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        // Dropping the stream closes a connection for which there is no room.
        let Some(connection) = Connection::admit(&connections, address.ip()) else { continue };
        // A response is written in one go, so Nagle's algorithm would only delay it.
        let _ = stream.set_nodelay(true);
        let (answer, this) = (answer.clone(), connection.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            let (answer, connection) = (answer.clone(), this.clone());
            connection.running();
            // Called inside, since a future that is captured and awaited takes its room twice, for as long as the
            // connection lives.
            async move {
                let response = answer(request, connection.clone()).await;
                Ok::<_, Infallible>(Tracked::track(response, connection).await)
            }
        });
        let stream = WriteTimeout::new(stream, connection.clone(), io_timeout);
        let (http, watcher) = (http.clone(), graceful.watcher());
        open.spawn(async move {
            tokio::select! {
                // Created inside, for the same reason. An aborted connection or a malformed request is not an error of the
                // server.
                _ = watcher.watch(http.serve_connection(TokioIo::new(stream), service)) => {}
                () = connection.evicted() => {}
            }
            connection.forget();
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(shutdown_timeout, graceful.shutdown()).await;
    open.shutdown().await;
}
