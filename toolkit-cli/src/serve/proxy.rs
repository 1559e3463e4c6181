//! The tools of other servers, served along with those of this program.

mod lock;
mod told;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use toolkit::Catalog;
use toolkit::backend::Backends;
use toolkit_mcp::client::McpServers;
use toolkit_mcp::server::{Proxy, Server};

use self::told::Told;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::options::{duration, switch};

/// How long servers may take to list their tools before anything is served: many a client lists once, at once, and never
/// hears of a change. Servers that take longer are served as soon as they are there.
const WAIT: Duration = Duration::from_secs(2);

pub(super) fn options() -> [Arg; 5] {
    [
        Arg::new("proxy").long("proxy").value_name("FILE").value_parser(value_parser!(PathBuf)).help(
            "Serves the tools of other servers too, each in a namespace of its own: those in FILE, as `mcpServers` of \
             Claude, Cursor or VS Code has them",
        ),
        Arg::new("lock").long("lock").value_name("LOCK").requires("proxy").value_parser(value_parser!(PathBuf)).help(
            "Serves only those tools of other servers that LOCK holds, exactly as it holds them, and reports all others",
        ),
        switch("update-lock").requires("lock").help("Writes to LOCK what the servers offer now, for review, and ends"),
        Arg::new("trust").long("trust").value_name("SERVER").requires("proxy").action(ArgAction::Append).help(
            "Trusts the hints of a server, such as `readOnlyHint`, whose tools count as destructive otherwise; may be \
             given more than once",
        ),
        Arg::new("proxy-wait").long("proxy-wait").value_name("TIME").requires("proxy").value_parser(duration).help(
            "How long to wait for other servers before the tools that are there are served [default: 2s]",
        ),
    ]
}

/// The servers that are asked for, none of which is started yet; `None` where none is.
pub(super) fn servers(matches: &ArgMatches, mut backends: Backends) -> Result<Option<Arc<Backends>>, Failure> {
    let Some(file) = matches.get_one::<PathBuf>("proxy") else {
        return Ok((!backends.names().is_empty()).then(|| Arc::new(backends)));
    };
    let unusable = |kind, reason: String| Failure::Own {
        exit: Exit::Failed,
        kind,
        message: format!("{}: {reason}", file.display()),
    };
    let invalid = |reason: String| unusable("invalid_servers", reason);
    let json = fs::read_to_string(file).map_err(|error| invalid(error.to_string()))?;
    let servers = McpServers::from_json(&json).map_err(|error| invalid(error.to_string()))?;
    told::configured(&servers);
    if let (Some(path), false) = (matches.get_one::<PathBuf>("lock"), matches.get_flag("update-lock")) {
        backends = backends.with_lock(lock::read(path)?);
    }
    for server in servers {
        backends.register(server).map_err(|error| invalid(error.to_string()))?;
    }
    for name in matches.get_many::<String>("trust").into_iter().flatten() {
        if !backends.trust(name) {
            return Err(unusable("unknown_server", format!("there is no server `{}` to trust", name.escape_debug())));
        }
    }
    Ok(Some(Arc::new(backends)))
}

/// Runs what serves, with the tools of these servers, and follows them as they change; or writes the lock.
///
/// Reports on stderr what cannot be served, and serves everything else.
pub(super) async fn along_with(
    server: &Server,
    own: Catalog,
    backends: Arc<Backends>,
    matches: &ArgMatches,
    serving: impl Future<Output = Result<Exit, Failure>>,
) -> Result<Exit, Failure> {
    if let (Some(path), true) = (matches.get_one::<PathBuf>("lock"), matches.get_flag("update-lock")) {
        let outcome = lock::update(path, &backends, own).await;
        backends.stop().await;
        return outcome;
    }
    let wait = matches.get_one::<Duration>("proxy-wait").copied().unwrap_or(WAIT);
    let proxy = Proxy::new(server.clone(), Arc::clone(&backends)).wait(wait);
    let mut told = Told::new(matches.contains_id("lock"));
    told.tell(&proxy.collect_within(wait).await);
    let following = proxy.follow(|left_out| told.tell(&left_out));
    let mut serving = std::pin::pin!(serving);
    let outcome = tokio::select! {
        outcome = &mut serving => outcome,
        // The server is about to end, and is still to answer what runs.
        () = following => serving.await,
    };
    backends.stop().await;
    outcome
}
