//! The tools of other servers, served along with those of this program.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, value_parser};
use toolkit::Catalog;
use toolkit::backend::{Backends, Routes};
use toolkit_mcp::client::McpServers;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::style::{self, printable};

/// The tools of this program and of the servers behind it.
pub(super) struct Joined {
    pub(super) catalog: Catalog,
    pub(super) routes: Routes,
    /// The servers, which are stopped in the end.
    pub(super) backends: Backends,
}

pub(super) fn option() -> Arg {
    Arg::new("proxy").long("proxy").value_name("FILE").value_parser(value_parser!(PathBuf)).help(
        "Serves the tools of other servers too, each in a namespace of its own: those in FILE, as `mcpServers` of \
         Claude, Cursor or VS Code has them",
    )
}

/// Connects to the servers that are asked for. One that cannot be reached, or a tool that is not sound, is told on
/// stderr, and keeps no other from being served.
pub(super) async fn join(catalog: Catalog, matches: &ArgMatches) -> Result<Joined, Failure> {
    let backends = Backends::new();
    let Some(file) = matches.get_one::<PathBuf>("proxy") else {
        return Ok(Joined { catalog, routes: Routes::default(), backends });
    };
    let unusable = |reason: String| Failure::Own {
        exit: Exit::Failed,
        kind: "invalid_servers",
        message: format!("{}: {reason}", file.display()),
    };
    let json = fs::read_to_string(file).map_err(|error| unusable(error.to_string()))?;
    for server in McpServers::from_json(&json).map_err(|error| unusable(error.to_string()))? {
        backends.register(server).map_err(|error| unusable(error.to_string()))?;
    }
    let collected = backends.collect(catalog).await;
    let mut err = anstream::stderr();
    for failure in &collected.failures {
        let cause = std::error::Error::source(&failure.error).map(|cause| format!("\n  {cause}")).unwrap_or_default();
        let _ = writeln!(err, "{} {}{}", style::ERROR, printable(&failure.error.to_string()), printable(&cause));
    }
    for problem in &collected.problems {
        let _ = writeln!(err, "{} {}", style::WARNING, printable(problem.message()));
    }
    Ok(Joined { catalog: collected.catalog, routes: collected.routes, backends })
}
