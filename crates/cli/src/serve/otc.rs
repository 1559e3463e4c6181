//! Open Tool Calling over HTTP: its options, and what it requires of a token at an address that others can reach.

use std::net::SocketAddr;
use std::time::Duration;

use clap::ArgMatches;
use tokio::net::TcpListener;
use toolkit::Catalog;
use toolkit::dispatch::DispatcherBuilder;
use toolkit_otc::{Auth, Limits, Server, TrustedProxies};

use crate::error::{CommandError, Configure, Exit};
use crate::formats::{otc_naming, report_left_out};
use crate::listen::{self, TOKEN, bind_error, until_signal};
use crate::report::counted;
use crate::style::NOTE;
use crate::{runtime, stderr};

/// The minimum number of threads, since a synchronous tool blocks one.
const MIN_THREADS: usize = 4;

pub(super) fn run(
    catalog: Catalog,
    matches: &ArgMatches,
    configure: Configure<DispatcherBuilder>,
) -> Result<Exit, CommandError> {
    let address = listen::resolve(matches.get_one::<String>("otc").expect("`--otc` is present"))?;
    let is_local = address.ip().is_loopback();
    let auth = auth(matches, is_local)?;
    if auth.is_none() && !is_local && !matches.get_flag("allow-unauthenticated") {
        let message = format!(
            "other machines can reach {address}: set {TOKEN} to a token that clients must send, or pass \
             --jwt-secret-env or --allow-unauthenticated"
        );
        return Err(CommandError::usage(message));
    }
    let runtime =
        runtime::with_threads(std::thread::available_parallelism().map_or(MIN_THREADS, usize::from).max(MIN_THREADS))?;
    let dispatcher = runtime::dispatcher(&runtime, catalog, configure)?;
    let texts = |name: &str| matches.get_many::<String>(name).into_iter().flatten();
    let mut limits = Limits::default();
    limits.drain_delay = matches.get_one::<Duration>("drain-delay").copied().unwrap_or_default();
    limits.trusted_proxies = TrustedProxies::new(texts("trust-proxy"))
        .map_err(|error| CommandError::usage(format!("`--trust-proxy`: {error}")))?;
    let server = Server::new(dispatcher).naming(&otc_naming(matches)).auth(auth).limits(limits);
    let server = texts("allow-host").fold(server, |server, host| server.host(host));
    report_left_out(server.published());
    runtime::silence_panics();
    runtime.block_on(serve(server, address))?;
    // A tool that is still running must not keep the process alive.
    runtime.shutdown_background();
    Ok(Exit::Success)
}

async fn serve(server: Server, address: SocketAddr) -> Result<(), CommandError> {
    let listener = TcpListener::bind(address).await.map_err(|error| bind_error(address, &error))?;
    let address = listener.local_addr().map_err(|error| bind_error(address, &error))?;
    let tools = counted(server.published().definitions().count(), "tool");
    stderr::say(NOTE, &format!("{tools} at http://{address} (Open Tool Calling)"));
    let wait = "waiting for running calls; a second signal abandons them";
    until_signal(wait, |stopped| server.serve(listener, async { drop(stopped.await) })).await
}

fn auth(matches: &ArgMatches, is_local: bool) -> Result<Auth, CommandError> {
    if let Some(secret) = listen::named(matches, "jwt-secret-env")? {
        return Auth::jwt(secret).map_err(|weak| CommandError::usage(format!("`--jwt-secret-env`: {weak}")));
    }
    let token = listen::token_at(matches, is_local)?;
    Ok(token.map_or_else(Auth::none, Auth::api_key))
}
