//! Accepts connections, and ends when it is told to.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::patience::Patient;
use super::service::Service;
use super::{Http, Limits};
use crate::server::end::told_to_end;

/// After a connection could not be accepted, as when there are too many files open.
const PAUSE: Duration = Duration::from_millis(50);

/// How many connections wait to be accepted: what the standard library asks for, 128, turns away a burst of clients.
const BACKLOG: u32 = 4096;

/// Takes the first of these addresses that can be had.
pub(super) fn bind(addresses: &[SocketAddr]) -> io::Result<TcpListener> {
    let mut outcome = Err(io::Error::new(io::ErrorKind::InvalidInput, "the name has no address"));
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
    // So that a server can be started again at once. On Windows it would let two have one address.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// A server that has its address.
#[derive(Debug)]
pub struct Listening {
    listener: TcpListener,
    service: Service,
    limits: Limits,
}

impl Listening {
    pub(super) fn new(listener: TcpListener, http: Http) -> Self {
        let limits = http.limits;
        Self { listener, service: Service::new(http), limits }
    }

    /// The address, with the port that was given out where none was asked for.
    ///
    /// # Errors
    ///
    /// The system does not say.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until the process is told to end, by SIGTERM or Ctrl-C; see [`Listening::run`].
    pub async fn run_until_told(self) {
        self.run(told_to_end()).await;
    }

    /// Serves until `end`. Then no connection is accepted any more, listening clients are told that it is over, calls that
    /// run are finished and answered, and what is not done in time is dropped; all is dropped with the future.
    pub async fn run(self, end: impl Future<Output = ()>) {
        let places = Arc::new(Semaphore::new(self.limits.n_connections.min(Semaphore::MAX_PERMITS)));
        let connections = GracefulShutdown::new();
        let mut open = JoinSet::new();
        let shutdown = self.service.server().shared.shutdown.clone();
        let mut end = std::pin::pin!(async {
            tokio::select! {
                () = end => {}
                () = shutdown.cancelled() => {}
            }
        });
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(self.limits.patience);
        loop {
            let accepted = async {
                let place = Arc::clone(&places).acquire_owned().await;
                (place, self.listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                accepted = accepted => accepted,
                () = &mut end => break,
            };
            while open.try_join_next().is_some() {}
            let Ok((stream, address)) = accepted else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            // Answers are small and whole; waiting for more of them would only delay them.
            let _ = stream.set_nodelay(true);
            let service = self.service.clone();
            let service = service_fn(move |request| {
                let service = service.clone();
                async move { Ok::<_, Infallible>(service.answer(request, Some(address.ip())).await) }
            });
            let stream = Patient::new(stream, self.limits.patience);
            let connection = connections.watch(builder.serve_connection(TokioIo::new(stream), service));
            let counted = self.service.server().shared.metrics.connections.hold();
            open.spawn(async move {
                // A client that breaks off, or is not understood, is no news.
                let _ = connection.await;
                drop((counted, place));
            });
        }
        drop(self.listener);
        self.service.server().shut_down();
        let _ = tokio::time::timeout(self.limits.grace, connections.shutdown()).await;
        open.shutdown().await;
    }
}
