//! Servers that listen at an address until a signal stops them.
#![cfg_attr(not(any(feature = "code", feature = "otc")), allow(dead_code))]

use std::future::Future;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use tokio::sync::oneshot;

use crate::error::{CommandError, SetupError};
use crate::exit::Exit;
use crate::style;

/// Parses an address to listen at. A port without a host is on the loopback interface.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.strip_prefix(':').unwrap_or(text).parse() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    let text = text.strip_prefix("localhost").map_or_else(|| text.to_owned(), |port| format!("127.0.0.1{port}"));
    text.parse().map_err(|_| "expected an IP address and a port, such as 127.0.0.1:8080, or a port".to_owned())
}

/// Returns the error of an address at which the program cannot listen.
pub(crate) fn bind_error(address: SocketAddr, error: &std::io::Error) -> CommandError {
    CommandError::Other { exit: Exit::Failed, kind: "io", message: format!("cannot listen at {address}: {error}") }
}

/// Serves until a signal stops the server and it has ended what runs, or a second signal. `serve` gets the future that
/// completes at the first signal; `wait` is the message for the user then.
pub(crate) async fn until_signal<F: Future<Output = ()>>(
    wait: &str,
    serve: impl FnOnce(oneshot::Receiver<()>) -> F,
) -> Result<(), CommandError> {
    let mut stops = StopSignals::listen().map_err(|error| CommandError::Setup(SetupError::from(error)))?;
    let (stop, stopped) = oneshot::channel();
    let mut served = std::pin::pin!(serve(stopped));
    tokio::select! {
        () = &mut served => return Ok(()),
        () = stops.next() => drop(stop),
    }
    writeln!(anstream::stderr(), "{} {wait}", style::NOTE)?;
    tokio::select! {
        () = &mut served => {}
        () = stops.next() => {}
    }
    Ok(())
}

/// A stream of SIGINT and SIGTERM.
struct StopSignals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl StopSignals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
impl StopSignals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self {})
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
