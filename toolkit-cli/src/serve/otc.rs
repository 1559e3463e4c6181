//! Open Tool Calling over HTTP.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clap::ArgMatches;
use tokio::net::TcpListener;
use toolkit::dispatch::DispatcherBuilder;
use toolkit::{Catalog, Dispatcher};
use toolkit_otc::{Auth, Server};

use crate::error::{CommandError, SetupError};
use crate::exit::Exit;
use crate::otc::{naming, report_left_out};
use crate::program::Configure;
use crate::report::counted;
use crate::runtime;
use crate::style;
use crate::token::{self, TOKEN};

/// The minimum number of threads, since a synchronous tool blocks one.
const MIN_THREADS: usize = 4;

pub(super) fn run(
    catalog: Catalog,
    matches: &ArgMatches,
    configure: Configure<DispatcherBuilder>,
) -> Result<Exit, CommandError> {
    let address = *matches.get_one::<SocketAddr>("otc").expect("`--otc` is present");
    let auth = auth(matches)?;
    if auth.is_none() && !address.ip().is_loopback() && !matches.get_flag("allow-unauthenticated") {
        let message = format!(
            "other machines can reach {address}: set {TOKEN} to a token that clients must send, or pass \
             --jwt-secret-env or --allow-unauthenticated"
        );
        return Err(usage(message));
    }
    let runtime =
        runtime::with_threads(std::thread::available_parallelism().map_or(MIN_THREADS, usize::from).max(MIN_THREADS))?;
    let dispatcher = {
        let _on_runtime = runtime.enter();
        configure(Dispatcher::builder(catalog)).map_err(CommandError::Setup)?.build()?
    };
    let hosts = matches.get_many::<String>("allow-host").unwrap_or_default();
    let server =
        hosts.fold(Server::new(dispatcher).naming(&naming(matches)).auth(auth), |server, host| server.host(host));
    report_left_out(server.published());
    runtime::silence_panics();
    runtime.block_on(serve(server, address))?;
    // A tool that is still running must not keep the process alive.
    runtime.shutdown_background();
    Ok(Exit::Success)
}

async fn serve(server: Server, address: SocketAddr) -> Result<(), CommandError> {
    let bind_error = |error| CommandError::Other {
        exit: Exit::Failed,
        kind: "io",
        message: format!("cannot listen at {address}: {error}"),
    };
    let mut stops = StopSignals::listen().map_err(|error| CommandError::Setup(SetupError::from(error)))?;
    let listener = TcpListener::bind(address).await.map_err(bind_error)?;
    let address = listener.local_addr().map_err(bind_error)?;
    let tools = counted(server.published().definitions().count(), "tool");
    writeln!(anstream::stderr(), "{tools} at http://{address} (Open Tool Calling)")?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let served = server.serve(listener, async { drop(stopped.await) });
    let mut served = std::pin::pin!(served);
    tokio::select! {
        () = &mut served => return Ok(()),
        () = stops.next() => drop(stop),
    }
    let wait = "waiting for running calls; a second signal abandons them";
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

fn auth(matches: &ArgMatches) -> Result<Auth, CommandError> {
    if let Some(secret) = token::named(matches, "jwt-secret-env")? {
        return Auth::jwt(secret).map_err(|weak| usage(format!("`--jwt-secret-env`: {weak}")));
    }
    Ok(token::token(matches)?.map_or_else(Auth::none, Auth::api_key))
}

fn usage(message: String) -> CommandError {
    CommandError::Other { exit: Exit::Usage, kind: "usage", message }
}

/// Parses an address to listen at. A port without a host is on the loopback interface.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.strip_prefix(':').unwrap_or(text).parse() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    let text = text.strip_prefix("localhost").map_or_else(|| text.to_owned(), |port| format!("127.0.0.1{port}"));
    text.parse().map_err(|_| "expected an IP address and a port, such as 127.0.0.1:8080, or a port".to_owned())
}
