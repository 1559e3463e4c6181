//! A server that has its address.

use std::future::Future;
use std::io;
use std::net::SocketAddr;

use tokio::net::TcpListener;
use toolkit_http::{Connection, Limits, ShutdownSignals};

use super::Http;
use super::service::Service;

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
        Self { listener, service: Service::new(http, false), limits }
    }

    /// The address, with the port that was given out where none was asked for.
    ///
    /// # Errors
    ///
    /// The system does not say.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until the process receives SIGTERM or Ctrl-C; see [`Listening::run`]. A second signal ends it at once.
    pub async fn run_until_told(self) {
        let mut signals = ShutdownSignals::listen();
        let (first, second) = tokio::sync::oneshot::channel();
        let told = async {
            signals.next().await;
            let _ = first.send(());
            signals.next().await;
        };
        let mut serving = std::pin::pin!(self.run(async { drop(second.await) }));
        tokio::select! {
            () = &mut serving => {}
            () = told => {}
        }
    }

    /// Serves until `end`. Then no connection is accepted any more, listening clients are told that it is over, calls that
    /// run are finished and answered, and what is not done in time is dropped; all is dropped with the future.
    pub async fn run(self, end: impl Future<Output = ()>) {
        let Self { listener, service, limits } = self;
        let server = service.server().clone();
        let shutdown = async {
            tokio::select! {
                () = end => {}
                () = server.shared.shutdown.cancelled() => {}
            }
            server.shut_down();
        };
        let answer = move |request: http::Request<hyper::body::Incoming>| {
            let service = service.clone();
            let connection = request.extensions().get::<Connection>().cloned();
            async move { service.answer(request, connection.as_ref()).await }
        };
        toolkit_http::serve(listener, limits, answer, shutdown, std::future::pending()).await;
    }
}
