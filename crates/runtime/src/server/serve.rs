//! The entry of all HTTP servers: the accept loop, the connections and their end.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use bytes::Buf;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body::Body as HttpBody;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::Limits;
use super::body::{BodyReader, ReceivedBody};
use super::connection_threads::{adopt, spawn};
use super::connections::{Admitted, Connections};
use super::guard::HostGuard;
use super::listener::{is_connection_error, raise_file_limit};
use super::request_head::{Rejection, RequestHead};
use super::response::{Body, empty_response, send};
use super::write_timeout::WriteTimeout;

/// The pause after an `accept` that failed for a reason that the next one has too, such as lack of file descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// The size of the head of a request.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// The size of a connection's read buffer, which bounds the bytes of a body that are read at once.
const MAX_READ_BYTES: usize = 256 << 10;

/// The part of an HTTP server that does not depend on its protocol.
///
/// It accepts connections, limits them, checks the host of a request and reads its body; a protocol adds its routes and its
/// responses. What ends a request early stands here for all protocols:
///
/// | event | effect |
/// |---|---|
/// | the client disconnects | the future of the answer is dropped |
/// | the client sends a head or a body, or reads a response, for longer than [`Limits::io_timeout`] | the connection is closed, or the body is [rejected](Rejection::TimedOut) |
/// | others need the room of a connection that waits for its client | the connection is closed |
/// | there is no room for a request | the protocol [rejects](RequestHead::check_room) it, and the connection is closed |
/// | others need the memory of an unfinished body | the body is [rejected](Rejection::Memory) |
/// | the answer panics | the response is a `500`, and the panic is logged |
/// | the server drains | responses close their connections |
/// | the server has closed for [`Limits::shutdown_timeout`] | the future of the answer is dropped |
///
/// # Examples
///
/// ```no_run
/// use std::sync::Arc;
///
/// use toolkit_runtime::{
///     HostGuard, HttpServer, Limits, RequestHead, ShutdownSignals, bind, json_response, text_response,
/// };
///
/// # async fn run() -> std::io::Result<()> {
/// let server = Arc::new(HttpServer::new(Limits::default(), HostGuard::local()));
/// let this = Arc::clone(&server);
/// // Sends back each message.
/// let answer = move |head: RequestHead, body| {
///     let this = Arc::clone(&this);
///     async move {
///         if let Err(rejection) = this.check_host(&head) {
///             return text_response(rejection.status(), rejection.to_string());
///         }
///         match this.read_json(&head, body).await {
///             Ok(body) => json_response(http::StatusCode::OK, body.bytes().clone()),
///             Err(rejection) => text_response(rejection.status(), rejection.to_string()),
///         }
///     }
/// };
/// let listener = bind(&[([127, 0, 0, 1], 8000).into()])?;
/// let mut signals = ShutdownSignals::listen();
/// server.serve(listener, answer, signals.next(), std::future::ready(())).await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct HttpServer {
    limits: Limits,
    guard: HostGuard,
    bodies: BodyReader,
}

impl HttpServer {
    /// Creates a server with these limits, for requests that the guard accepts.
    pub fn new(limits: Limits, guard: HostGuard) -> Self {
        let bodies = BodyReader::new(&limits);
        Self { limits, guard, bodies }
    }

    /// Returns the guard.
    pub fn guard(&self) -> &HostGuard {
        &self.guard
    }

    /// Checks the host and the origin of a request.
    ///
    /// # Errors
    ///
    /// Returns a [`Rejection`] if the host or the origin is not accepted.
    pub fn check_host(&self, head: &RequestHead) -> Result<(), Rejection> {
        self.guard.check(&head.parts.uri, head.headers())
    }

    /// Reads the body of a request, within the limits of time and memory.
    ///
    /// # Errors
    ///
    /// Returns a [`Rejection`] if the body is too large, late, incomplete, or revoked.
    pub async fn read<B>(&self, head: &RequestHead, body: B) -> Result<ReceivedBody, Rejection>
    where
        B: HttpBody<Data: Buf>,
    {
        self.bodies.read(head, body).await
    }

    /// Reads the body of a request like [`HttpServer::read`] if it is JSON.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`HttpServer::read`] and [`RequestHead::check_json`].
    pub async fn read_json<B>(&self, head: &RequestHead, body: B) -> Result<ReceivedBody, Rejection>
    where
        B: HttpBody<Data: Buf>,
    {
        head.check_json()?;
        self.bodies.read(head, body).await
    }

    /// Reads and drops the rest of the body of a request that was rejected, before the response. Otherwise the connection ends after
    /// the response if the body arrives later, and a client that sends its next request there gets none.
    pub async fn discard<B>(&self, head: &RequestHead, body: Pin<&mut B>)
    where
        B: HttpBody<Data: Buf>,
    {
        self.bodies.discard(head, body).await;
    }

    /// Serves connections until the server has shut down, in three phases.
    ///
    /// After `drain`, responses close their connections, so that the next requests of their clients go elsewhere. After
    /// `close`, the server accepts no connections, and requests in flight may finish within [`Limits::shutdown_timeout`].
    /// Then the remaining connections are closed. Dropping the future closes all connections at once.
    ///
    /// On Unix, the soft limit of open files of the process is raised to 16,384, or to the hard limit if that is lower.
    ///
    /// `answer` is called with each request, within the runtime that polls this future. Neither the function nor its future may
    /// block.
    pub async fn serve<A, F>(
        &self,
        listener: TcpListener,
        answer: A,
        drain: impl Future<Output = ()>,
        close: impl Future<Output = ()>,
    ) where
        A: Fn(RequestHead, Incoming) -> F + Clone + Send + 'static,
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        raise_file_limit();
        let is_draining = Arc::new(AtomicBool::new(false));
        let (open, mut all_closed) = mpsc::channel(1);
        let connections = Connections::new(self.limits.clone());
        let closing = CloseOnDrop(connections.clone());
        let mut serving = Serving {
            answer,
            io_timeout: self.limits.io_timeout,
            connections,
            is_draining: Arc::clone(&is_draining),
            graceful: GracefulShutdown::new(),
            open,
        };
        let shutdown = async {
            drain.await;
            is_draining.store(true, Ordering::Relaxed);
            close.await;
        };
        tokio::select! {
            biased;
            () = shutdown => {}
            never = serving.accept(&listener) => match never {},
        }
        drop(listener);
        let Serving { graceful, connections, open, .. } = serving;
        drop(open);
        connections.close_silent();
        let _ = tokio::time::timeout(self.limits.shutdown_timeout, graceful.shutdown()).await;
        drop(closing);
        let _ = all_closed.recv().await;
    }
}

/// The connections of a server that accepts more.
struct Serving<A> {
    answer: A,
    io_timeout: Duration,
    connections: Connections,
    /// True after `drain`.
    is_draining: Arc<AtomicBool>,
    graceful: GracefulShutdown,
    /// Each connection has a clone.
    open: mpsc::Sender<Infallible>,
}

impl<A, F> Serving<A>
where
    A: Fn(RequestHead, Incoming) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    /// Accepts connections without end.
    async fn accept(&mut self, listener: &TcpListener) -> Infallible {
        loop {
            let accepted = listener.accept().await;
            match accepted {
                Ok((stream, address)) => match adopt(stream) {
                    Ok(stream) => self.open(stream, self.connections.admit(address.ip())),
                    Err(error) => tracing::warn!(%error, "cannot wait for a connection"),
                },
                Err(error) if is_connection_error(&error) => {
                    tracing::debug!(%error, "a connection has failed before it was accepted");
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    /// Spawns a task that answers the requests of a connection.
    fn open(&mut self, stream: TcpStream, admitted: Admitted) {
        // A response is written in one go, so Nagle's algorithm would only delay it.
        let _ = stream.set_nodelay(true);
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(self.io_timeout);
        http.max_header_size(MAX_HEAD_BYTES).max_buf_size(MAX_READ_BYTES);
        let connection = admitted.connection().clone();
        let (answer, is_draining) = (self.answer.clone(), Arc::clone(&self.is_draining));
        let service = service_fn(move |request: Request<Incoming>| {
            let (answer, connection, is_draining) = (answer.clone(), connection.clone(), Arc::clone(&is_draining));
            connection.running();
            let (parts, body) = request.into_parts();
            let head = RequestHead::of_connection(parts, connection.clone());
            // Called inside, since a future that is captured and awaited takes its room twice, for as long as the
            // connection lives.
            async move {
                let mut answered = pin!(answer(head, body));
                let caught = poll_fn(|cx| {
                    let poll = || answered.as_mut().poll(cx);
                    catch_unwind(AssertUnwindSafe(poll)).map_or(Poll::Ready(None), |polled| polled.map(Some))
                });
                let response = caught.await.unwrap_or_else(|| {
                    tracing::error!("the answer to a request has panicked");
                    empty_response(StatusCode::INTERNAL_SERVER_ERROR)
                });
                let is_turned_away = connection.is_turned_away();
                let mut response = send(response, connection).await;
                if is_turned_away || is_draining.load(Ordering::Relaxed) {
                    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                Ok::<_, Infallible>(response)
            }
        });
        let (watcher, io_timeout, open) = (self.graceful.watcher(), self.io_timeout, self.open.clone());
        let connection = admitted.connection().clone();
        let stream = WriteTimeout::new(stream, admitted, io_timeout);
        spawn(async move {
            let _open = open;
            tokio::select! {
                // Created inside, for the same reason.
                () = async {
                    // A client that has sent nothing needs no buffers.
                    if tokio::time::timeout(io_timeout, stream.readable()).await.is_err() {
                        return;
                    }
                    connection.begin();
                    let mut served = Box::pin(watcher.watch(http.serve_connection(TokioIo::new(stream), service)));
                    let first = poll_fn(|cx| Poll::Ready(served.as_mut().poll(cx))).await;
                    connection.settle();
                    // An aborted connection or a malformed request is not an error of the server.
                    if first.is_pending() {
                        let _ = served.await;
                    }
                } => {}
                () = connection.evicted() => {}
            }
        });
    }
}

/// Closes all connections when it is dropped.
struct CloseOnDrop(Connections);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}
