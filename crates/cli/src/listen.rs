//! What servers share: the address, the token that clients must send, and the signal that stops them.
#![cfg_attr(not(any(feature = "code", feature = "otc")), allow(dead_code))]

use std::fmt::Display;
use std::net::{SocketAddr, ToSocketAddrs};

use clap::ArgMatches;

use crate::error::CommandError;

/// The default environment variable of the token. A flag with the token itself would be visible in the list of processes.
pub(crate) const TOKEN: &str = "SERVE_TOKEN";

/// The least length of a token at an address that other machines can reach, in bytes, as for MCP over HTTP.
#[cfg(feature = "server")]
const MIN_TOKEN_LEN: usize = 16;

/// Parses an address to listen at, a host and a port. A port without a host is on the loopback interface.
pub(crate) fn address(text: &str) -> Result<String, String> {
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    let port: u16 = port.parse().map_err(|_| "expected a host and a port, such as 127.0.0.1:8000, or a port")?;
    // A machine may lack IPv6, the first address of `localhost`.
    let host = if matches!(host, "" | "localhost") { "127.0.0.1" } else { host };
    Ok(format!("{host}:{port}"))
}

/// Returns the first address of a host and a port.
pub(crate) fn resolve(address: &str) -> Result<SocketAddr, CommandError> {
    let resolved = address.to_socket_addrs().and_then(|mut all| all.next().ok_or(std::io::ErrorKind::NotFound.into()));
    resolved.map_err(|error| bind_error(address, &error))
}

/// Returns the error of an address at which the program cannot listen.
pub(crate) fn bind_error(address: impl Display, error: &std::io::Error) -> CommandError {
    CommandError::failed("io", format!("cannot listen at {address}: {error}"))
}

/// Returns the token in the variable of `--token-env`, or in `SERVE_TOKEN` if it is set.
#[cfg_attr(not(feature = "server"), allow(dead_code))]
pub(crate) fn token(matches: &ArgMatches) -> Result<Option<String>, CommandError> {
    match named(matches, "token-env")? {
        Some(token) => Ok(Some(token)),
        None => Ok(std::env::var(TOKEN).ok().filter(|token| !token.is_empty())),
    }
}

/// Returns the token like [`token`].
///
/// # Errors
///
/// Returns an error also for a short token at an address that other machines can reach.
#[cfg(feature = "server")]
pub(crate) fn token_at(matches: &ArgMatches, is_local: bool) -> Result<Option<String>, CommandError> {
    let token = token(matches)?;
    if !is_local && token.as_ref().is_some_and(|token| token.len() < MIN_TOKEN_LEN) {
        let message = format!(
            "other machines can reach the address; use a token of at least {MIN_TOKEN_LEN} random characters, such as that of \
             `openssl rand -hex 16`"
        );
        return Err(CommandError::failed("short_token", message));
    }
    Ok(token)
}

/// Returns the value of the environment variable in an option.
pub(crate) fn named(matches: &ArgMatches, option: &str) -> Result<Option<String>, CommandError> {
    let Some(name) = matches.get_one::<String>(option) else {
        return Ok(None);
    };
    match std::env::var(name) {
        Ok(value) if !value.is_empty() => Ok(Some(value)),
        _ => {
            let message = format!("`--{option}`: the environment variable `{name}` is not set");
            Err(CommandError::usage(message))
        }
    }
}

/// Serves until a signal stops the server and it has ended what runs, or a second signal. `serve` gets the future that
/// completes at the first signal; `wait` is the message for the user then.
#[cfg(any(feature = "code", feature = "otc"))]
pub(crate) async fn until_signal<F: std::future::Future<Output = ()>>(
    wait: &str,
    serve: impl FnOnce(tokio::sync::oneshot::Receiver<()>) -> F,
) -> Result<(), CommandError> {
    use tokio::sync::oneshot;
    use toolkit_runtime::ShutdownSignals;

    use crate::stderr;
    use crate::style::NOTE;

    let mut stops = ShutdownSignals::listen();
    let (stop, stopped) = oneshot::channel();
    let mut served = std::pin::pin!(serve(stopped));
    tokio::select! {
        () = &mut served => return Ok(()),
        () = stops.next() => drop(stop),
    }
    stderr::say(NOTE, wait);
    tokio::select! {
        () = &mut served => {}
        () = stops.next() => {}
    }
    Ok(())
}
