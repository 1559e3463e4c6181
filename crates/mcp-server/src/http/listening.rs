//! A server that is bound to an address.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use toolkit_runtime::ShutdownSignals;

use super::service::Service;

/// An HTTP server that is bound to an address; see [`Http::bind`](super::Http::bind).
///
/// # Examples
///
/// A server for a test, on a port that the system assigns:
///
/// ```
/// # use toolkit::{Catalog, Dispatcher};
/// # use toolkit_mcp_server::Server;
/// use tokio::sync::oneshot;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = Server::new(Dispatcher::new(Catalog::new([])?)?)?;
/// let listening = server.http().bind("127.0.0.1:0").await?;
/// let url = format!("http://{}/mcp", listening.local_addr()?);
/// let (stop, stopped) = oneshot::channel::<()>();
/// let running = tokio::spawn(listening.run(async { drop(stopped.await) }));
///
/// // A client connects to `url` …
/// # assert!(!url.ends_with(":0/mcp"));
/// drop(stop);
/// running.await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Listening {
    listener: TcpListener,
    service: Service,
    drain_delay: Duration,
}

impl Listening {
    pub(super) fn new(listener: TcpListener, service: Service, drain_delay: Duration) -> Self {
        Self { listener, service, drain_delay }
    }

    /// Returns the bound address. For port 0, it has the port that the system assigned.
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot report the address.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until the process receives SIGTERM or Ctrl-C; see [`Listening::run`]. A second signal ends the
    /// [drain delay](super::Http::drain_delay), and one after that returns at once.
    pub async fn run_until_signal(self) {
        let mut signals = ShutdownSignals::listen();
        let shutdown = self.service.server().shared.shutdown.clone();
        let (first, end) = oneshot::channel::<()>();
        let (second, hurry) = oneshot::channel::<()>();
        let signaled = async {
            signals.next().await;
            drop(first);
            signals.next().await;
            if !shutdown.is_cancelled() {
                drop(second);
                signals.next().await;
            }
        };
        let mut serving = std::pin::pin!(self.run_in_phases(async { drop(end.await) }, async { drop(hurry.await) }));
        tokio::select! {
            () = &mut serving => {}
            () = signaled => {}
        }
    }

    /// Serves until `shutdown` completes, then shuts down gracefully: fails health checks and ends subscriptions, accepts no
    /// connections after the [drain delay](super::Http::drain_delay), and lets running calls finish within the shutdown
    /// timeout. Dropping the future closes all connections at once.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        self.run_in_phases(shutdown, std::future::pending()).await;
    }

    /// Serves like [`Listening::run`]; `hurry` ends the drain delay.
    async fn run_in_phases(self, end: impl Future<Output = ()>, hurry: impl Future<Output = ()>) {
        let Self { listener, service, drain_delay } = self;
        let server = service.server().clone();
        let drain = async {
            tokio::select! {
                () = end => {}
                () = server.shared.shutdown.cancelled() => {}
            }
            server.shared.drain();
        };
        let close = async {
            tokio::select! {
                () = tokio::time::sleep(drain_delay) => {}
                () = hurry => {}
                () = server.shared.shutdown.cancelled() => {}
            }
            server.shut_down();
        };
        service.serve(listener, drain, close).await;
        let _ = tokio::time::timeout(server.shared.shutdown_timeout, server.shared.tasks.settled()).await;
    }
}
