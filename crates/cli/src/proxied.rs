//! `--proxy` of commands such as `list`, `call` and `check`: the tools of the servers in a configuration file, beside those of
//! the program.

use std::io::Write;

use clap::{Arg, ArgMatches};
use toolkit::Catalog;
use toolkit::backend::Routes;

use crate::error::CommandError;
use crate::options::{duration, option, unless};
use crate::runtime;
use crate::style::{self, printable};

pub(crate) fn options(help: &'static str) -> [Arg; 2] {
    [
        option("proxy", "FILE").help(help),
        // Launchers such as `npx` first download a server.
        option("proxy-wait", "TIME")
            .requires("proxy")
            .value_parser(duration)
            .help("Time to wait for the tools of a server [default: 60s]"),
    ]
    .map(|option| unless(cfg!(feature = "proxy"), "proxy", option))
}

/// Returns the tools of the program and of the servers of `--proxy`, only to describe them.
///
/// # Errors
///
/// Returns the errors of [`with_servers`].
pub(crate) fn catalog(own: Catalog, matches: &ArgMatches, program: &str) -> Result<Catalog, CommandError> {
    let runtime = runtime::create()?;
    let proxied = runtime.block_on(with_servers(own, matches, [].iter(), program))?;
    proxied.warn();
    runtime.block_on(proxied.servers.stop());
    Ok(proxied.catalog)
}

/// The tools of the program and of the servers.
pub(crate) struct Proxied {
    pub(crate) catalog: Catalog,
    pub(crate) routes: Routes,
    /// The servers and tools that cannot be used, with the reasons.
    pub(crate) problems: Vec<String>,
    pub(crate) servers: Servers,
}

impl Proxied {
    /// Prints what cannot be used.
    pub(crate) fn warn(&self) {
        for problem in &self.problems {
            let _ = writeln!(anstream::stderr(), "{} {}", style::WARNING, printable(problem));
        }
    }
}

/// The running servers.
#[cfg(feature = "proxy")]
pub(crate) struct Servers(std::sync::Arc<toolkit_backends::Backends>);

/// No servers.
#[cfg(not(feature = "proxy"))]
pub(crate) struct Servers;

impl Servers {
    pub(crate) async fn stop(self) {
        #[cfg(feature = "proxy")]
        self.0.stop().await;
    }
}

/// Starts the servers of `--proxy`, and adds their tools to those of the program.
///
/// # Errors
///
/// Returns an error if the file is invalid, or a trusted server is not in it.
#[cfg(feature = "proxy")]
pub(crate) async fn with_servers(
    own: Catalog,
    matches: &ArgMatches,
    trusted: impl Iterator<Item = &String>,
    program: &str,
) -> Result<Proxied, CommandError> {
    use std::sync::Arc;
    use std::time::Duration;

    use toolkit_backends::{Backends, Collected};
    use toolkit_mcp_client::ConfiguredServers;

    use crate::login::{Logins, read_servers};

    const WAIT: Duration = Duration::from_secs(60);

    let backends = Arc::new(Backends::new());
    let mut problems = Vec::new();
    if let Some(file) = matches.get_one::<String>("proxy") {
        let servers = read_servers(file.as_ref(), &Logins::new(program).map_err(CommandError::usage)?)?;
        for warning in servers.warnings() {
            let _ = writeln!(anstream::stderr(), "{} {}", style::WARNING, printable(&format!("{file}: {warning}")));
        }
        problems.extend(servers.rejected().map(|rejected| format!("{file}: {rejected}")));
        let changes = ConfiguredServers::new(Arc::clone(&backends)).apply(servers);
        problems.extend(changes.rejected.iter().map(ToString::to_string));
        for name in trusted {
            if !backends.trust(name) {
                let reason = format!("{file}: --trust: unknown server `{}`", name.escape_debug());
                return Err(CommandError::failed("unknown_server", reason));
            }
        }
    }
    let wait = matches.get_one::<Duration>("proxy-wait").copied().unwrap_or(WAIT);
    let Collected { catalog, routes, diagnostics, failures, .. } = backends.collect_within(own, wait).await;
    // The cause names the program or the address, which the status of a server does not show.
    problems.extend(failures.iter().map(|failure| match std::error::Error::source(&failure.error) {
        Some(cause) => format!("{failure}: {cause}"),
        None => failure.to_string(),
    }));
    problems.extend(diagnostics.iter().map(|diagnostic| diagnostic.message().to_owned()));
    let problems = problems.iter().map(|problem| style::without_os_codes(problem)).collect();
    Ok(Proxied { catalog, routes, problems, servers: Servers(backends) })
}

#[cfg(not(feature = "proxy"))]
#[expect(clippy::unused_async, reason = "it starts servers with the feature `proxy`")]
pub(crate) async fn with_servers(
    catalog: Catalog,
    _: &ArgMatches,
    _: impl Iterator<Item = &String>,
    _: &str,
) -> Result<Proxied, CommandError> {
    // The option rejects every value.
    Ok(Proxied { catalog, routes: Routes::default(), problems: Vec::new(), servers: Servers })
}
