//! `serve --proxy`: serves the tools of other MCP servers.

mod lock;
mod reload;
mod reporter;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use toolkit::Catalog;
use toolkit_backends::Backends;
use toolkit_mcp_server::{LeftOut, Proxy, Server};

use self::reload::Configured;
use self::reporter::Reporter;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::logins::Logins;
use crate::options::{duration, switch};

/// The default time to wait for the tools of other servers before serving, since many clients request the list once and
/// ignore changes. The tools of slower servers are added as soon as they are available.
const WAIT: Duration = Duration::from_secs(2);

pub(super) fn options() -> [Arg; 5] {
    [
        Arg::new("proxy").long("proxy").value_name("FILE").value_parser(value_parser!(PathBuf)).help(
            "Also serve the tools of the MCP servers in FILE, each in its own namespace; FILE has the `mcpServers` format \
             of Claude, Cursor and VS Code; changes of FILE are applied while the server runs",
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

/// The backends to serve.
pub(super) struct Servers {
    pub(super) backends: Arc<Backends>,
    /// Those of a configuration file.
    configured: Option<Configured>,
}

/// Returns the backends to serve, without starting them, or `None` if there are none.
pub(super) fn servers(
    matches: &ArgMatches,
    mut backends: Backends,
    program: &str,
) -> Result<Option<Servers>, CommandError> {
    #[cfg(feature = "nats")]
    if let Some(workers) = crate::nats::backend(matches, "nats-tools")? {
        backends.register(workers).map_err(|error| CommandError::Setup(Box::new(error)))?;
    }
    let Some(file) = matches.get_one::<PathBuf>("proxy") else {
        let backends = Arc::new(backends);
        return Ok((!backends.names().is_empty()).then_some(Servers { backends, configured: None }));
    };
    let unusable = |kind, reason: String| CommandError::Other {
        exit: Exit::Failed,
        kind,
        message: format!("{}: {reason}", file.display()),
    };
    if let (Some(path), false) = (matches.get_one::<PathBuf>("lock"), matches.get_flag("update-lock")) {
        backends = backends.with_lock(lock::read(path)?);
    }
    let backends = Arc::new(backends);
    let trusted: Vec<String> = matches.get_many("trust").into_iter().flatten().cloned().collect();
    let logins = Logins::new(program);
    let logins = logins.map_err(|message| CommandError::Other { exit: Exit::Usage, kind: "usage", message })?;
    let configured = Configured::read(file, Arc::clone(&backends), trusted.clone(), logins);
    let configured = configured.map_err(|reason| unusable("invalid_servers", reason))?;
    if let Some(name) = trusted.iter().find(|name| !backends.names().contains(name)) {
        return Err(unusable("unknown_server", format!("--trust: unknown server `{}`", name.escape_debug())));
    }
    Ok(Some(Servers { backends, configured: Some(configured) }))
}

/// Runs `serving` with the tools of these servers and applies their changes, or writes the lock.
///
/// Tools that cannot be served are reported on stderr. `collected` is called whenever the tools may have changed.
pub(super) async fn along_with(
    server: &Server,
    own: Catalog,
    servers: Servers,
    matches: &ArgMatches,
    serving: impl Future<Output = Result<Exit, CommandError>>,
    collected: impl Fn(),
) -> Result<Exit, CommandError> {
    let Servers { backends, configured } = servers;
    if let (Some(path), true) = (matches.get_one::<PathBuf>("lock"), matches.get_flag("update-lock")) {
        let outcome = lock::update(path, &backends, own).await;
        backends.stop().await;
        return outcome;
    }
    let wait = matches.get_one::<Duration>("proxy-wait").copied().unwrap_or(WAIT);
    let proxy = Proxy::new(server.clone(), Arc::clone(&backends)).wait(wait);
    let reporter = Mutex::new(Reporter::new(matches.contains_id("lock")));
    let report = |left_out: LeftOut| {
        collected();
        reporter.lock().unwrap_or_else(PoisonError::into_inner).report(&left_out);
    };
    report(proxy.collect_within(wait).await);
    let following = proxy.follow(report);
    let reloading = async {
        match configured {
            Some(configured) => configured.follow(&proxy, wait, report).await,
            None => std::future::pending().await,
        }
    };
    let mut serving = std::pin::pin!(serving);
    let outcome = tokio::select! {
        outcome = &mut serving => outcome,
        // The server is shutting down, but still answers running calls.
        () = following => serving.await,
        () = reloading => serving.await,
    };
    backends.stop().await;
    outcome
}
