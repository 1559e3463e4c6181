//! `serve --proxy`: serves the tools of other MCP servers.

mod lock;
mod reporter;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use toolkit::Catalog;
use toolkit::backend::Backends;
use toolkit_mcp::client::McpServers;
use toolkit_mcp::server::{Proxy, Server};

use self::reporter::Reporter;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::options::{duration, switch};

/// The default time to wait for the tools of other servers before serving, since many clients request the list once and
/// ignore changes. The tools of slower servers are added as soon as they are available.
const WAIT: Duration = Duration::from_secs(2);

pub(super) fn options() -> [Arg; 5] {
    [
        Arg::new("proxy").long("proxy").value_name("FILE").value_parser(value_parser!(PathBuf)).help(
            "Also serve the tools of the MCP servers in FILE, each in its own namespace; FILE has the `mcpServers` format \
             of Claude, Cursor and VS Code",
        ),
        Arg::new("lock").long("lock").value_name("LOCK").requires("proxy").value_parser(value_parser!(PathBuf)).help(
            "Serve only the tools of other servers that are unchanged since LOCK was written, and report all others",
        ),
        switch("update-lock").requires("lock").help("Write the current tools of the servers to LOCK for review, and exit"),
        Arg::new("trust").long("trust").value_name("SERVER").requires("proxy").action(ArgAction::Append).help(
            "Trust the hints of a server, such as `readOnlyHint`; tools of other servers count as destructive; may be \
             repeated",
        ),
        Arg::new("proxy-wait").long("proxy-wait").value_name("TIME").requires("proxy").value_parser(duration).help(
            "Time to wait for the tools of other servers before serving [default: 2s]",
        ),
    ]
}

/// Returns the configured servers, without starting them, or `None` if there are none.
pub(super) fn servers(matches: &ArgMatches, mut backends: Backends) -> Result<Option<Arc<Backends>>, CommandError> {
    let Some(file) = matches.get_one::<PathBuf>("proxy") else {
        return Ok((!backends.names().is_empty()).then(|| Arc::new(backends)));
    };
    let unusable = |kind, reason: String| CommandError::Other {
        exit: Exit::Failed,
        kind,
        message: format!("{}: {reason}", file.display()),
    };
    let invalid = |reason: String| unusable("invalid_servers", reason);
    let json = fs::read_to_string(file).map_err(|error| invalid(error.to_string()))?;
    let servers = McpServers::from_json(&json).map_err(|error| invalid(error.to_string()))?;
    reporter::report_configuration(&servers);
    if let (Some(path), false) = (matches.get_one::<PathBuf>("lock"), matches.get_flag("update-lock")) {
        backends = backends.with_lock(lock::read(path)?);
    }
    for server in servers {
        backends.register(server).map_err(|error| invalid(error.to_string()))?;
    }
    for name in matches.get_many::<String>("trust").into_iter().flatten() {
        if !backends.trust(name) {
            return Err(unusable("unknown_server", format!("--trust: unknown server `{}`", name.escape_debug())));
        }
    }
    Ok(Some(Arc::new(backends)))
}

/// Runs `serving` with the tools of these servers and applies their changes, or writes the lock.
///
/// Tools that cannot be served are reported on stderr.
pub(super) async fn along_with(
    server: &Server,
    own: Catalog,
    backends: Arc<Backends>,
    matches: &ArgMatches,
    serving: impl Future<Output = Result<Exit, CommandError>>,
) -> Result<Exit, CommandError> {
    if let (Some(path), true) = (matches.get_one::<PathBuf>("lock"), matches.get_flag("update-lock")) {
        let outcome = lock::update(path, &backends, own).await;
        backends.stop().await;
        return outcome;
    }
    let wait = matches.get_one::<Duration>("proxy-wait").copied().unwrap_or(WAIT);
    let proxy = Proxy::new(server.clone(), Arc::clone(&backends)).wait(wait);
    let mut reporter = Reporter::new(matches.contains_id("lock"));
    reporter.report(&proxy.collect_within(wait).await);
    let following = proxy.follow(|left_out| reporter.report(&left_out));
    let mut serving = std::pin::pin!(serving);
    let outcome = tokio::select! {
        outcome = &mut serving => outcome,
        // The server is shutting down, but still answers running calls.
        () = following => serving.await,
    };
    backends.stop().await;
    outcome
}
