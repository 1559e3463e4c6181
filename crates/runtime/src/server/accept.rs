//! The bound address, the accept loop and its graceful shutdown, and the phases of a connection: a socket with a timeout for
//! writes, and the body of a response.

use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::{Request, Response, StatusCode, header};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep};

use super::Limits;
use super::connection::Connection;
use super::connections::Connections;
use super::response_budget::ResponsePermit;

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

/// Returns true if an error of `accept` is that of one connection, such as of a client that has disconnected, so that the next
/// one can be accepted at once.
///
/// # Examples
///
/// ```
/// use std::io::{Error, ErrorKind};
/// use toolkit_runtime::is_connection_error;
///
/// assert!(is_connection_error(&Error::from(ErrorKind::ConnectionAborted)));
/// assert!(!is_connection_error(&Error::from(ErrorKind::OutOfMemory)));
/// ```
#[must_use]
pub fn is_connection_error(error: &io::Error) -> bool {
    use io::ErrorKind::*;
    // Linux reports a pending error of the network, and `PermissionDenied` for a firewall.
    matches!(
        error.kind(),
        ConnectionAborted
            | ConnectionRefused
            | ConnectionReset
            | HostUnreachable
            | Interrupted
            | NetworkDown
            | NetworkUnreachable
            | PermissionDenied
            | TimedOut
    )
}

/// The length of the queue of connections that wait to be accepted. The 128 of the standard library are too few for a
/// burst of clients.
const BACKLOG: u32 = 4096;

/// Binds the first of these addresses that is available.
///
/// # Errors
///
/// Returns the error of the last address if none is available.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// // `localhost` has two addresses, and the machine may lack IPv6.
/// let addresses = ["[::1]:0".parse().unwrap(), "127.0.0.1:0".parse().unwrap()];
/// let listener = toolkit_runtime::bind(&addresses)?;
/// assert!(listener.local_addr()?.ip().is_loopback());
/// # Ok(())
/// # }
/// ```
pub fn bind(addresses: &[SocketAddr]) -> io::Result<TcpListener> {
    let mut outcome = Err(io::Error::new(io::ErrorKind::InvalidInput, "the host name has no address"));
    for address in addresses {
        outcome = bind_one(*address);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

fn bind_one(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Allows a restart while old connections are in TIME_WAIT. On Windows the option lets two processes share an
    // address.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// A TCP stream whose writes fail if they make no progress within the timeout.
struct WriteTimeout {
    stream: TcpStream,
    connection: Connection,
    timeout: Duration,
    /// The deadline of the pending write.
    deadline: Pin<Box<Sleep>>,
    is_waiting: bool,
}

impl WriteTimeout {
    fn new(stream: TcpStream, connection: Connection, timeout: Duration) -> Self {
        Self { stream, connection, timeout, deadline: Box::pin(tokio::time::sleep(timeout)), is_waiting: false }
    }

    fn progress<T>(&mut self, cx: &mut Context<'_>, wrote: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if wrote.is_ready() {
            if self.is_waiting {
                self.is_waiting = false;
                self.connection.set_blocked(false);
            }
            return wrote;
        }
        if !self.is_waiting {
            self.is_waiting = true;
            self.connection.set_blocked(true);
            self.deadline.as_mut().reset(Instant::now() + self.timeout);
        }
        ready!(self.deadline.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for WriteTimeout {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for WriteTimeout {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.progress(cx, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.progress(cx, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The size in bytes from which on a response counts towards the budget.
const SMALL: u64 = 64 << 10;

/// A body that sets its connection to idle and returns its memory when it is dropped.
struct Tracked<B> {
    /// `None` for a response that did not fit into the budget.
    body: Option<B>,
    connection: Connection,
    _permit: Option<ResponsePermit>,
}

impl<B: Body> Tracked<B> {
    /// Acquires memory for a response. Without memory, the response is an empty `503`.
    async fn track(response: Response<B>, connection: Connection) -> Response<Self> {
        let n_bytes = response.body().size_hint().exact().unwrap_or(0);
        if n_bytes < SMALL {
            return response.map(|body| Self { body: Some(body), connection, _permit: None });
        }
        if let Some(permit) = connection.response(usize::try_from(n_bytes).unwrap_or(usize::MAX)).await {
            return response.map(|body| Self { body: Some(body), connection, _permit: Some(permit) });
        }
        drop(response);
        let mut refused = Response::new(Self { body: None, connection, _permit: None });
        *refused.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        refused.headers_mut().insert(header::RETRY_AFTER, 1.into());
        refused
    }
}

impl<B: Body + Unpin> Body for Tracked<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl<B> Drop for Tracked<B> {
    fn drop(&mut self) {
        self.connection.idle();
    }
}
