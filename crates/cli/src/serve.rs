//! `serve`: serves the tools over MCP, Open Tool Calling or NATS, or runs the steps of durable chains.

#[cfg(all(feature = "code", feature = "mcp"))]
mod code;
#[cfg(feature = "mcp")]
mod mcp;
mod options;
#[cfg(feature = "otc")]
mod otc;
#[cfg(feature = "proxy")]
mod proxy;
#[cfg(any(feature = "durable", feature = "nats"))]
mod worker;

use clap::{ArgMatches, Command};
use toolkit::Catalog;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::missing;
use crate::program::Program;

pub(crate) fn command() -> Command {
    match cfg!(any(feature = "durable", feature = "mcp", feature = "nats", feature = "otc")) {
        true => options::command(),
        false => missing::command("serve"),
    }
}

pub(crate) fn run(catalog: Catalog, matches: &ArgMatches, program: Program) -> Result<Exit, CommandError> {
    #[cfg(any(feature = "durable", feature = "mcp", feature = "nats", feature = "otc"))]
    start_log();
    #[cfg(feature = "durable")]
    if matches.contains_id("durable") {
        return worker::run_steps(catalog, matches, program.dispatcher);
    }
    #[cfg(feature = "nats")]
    if matches.contains_id("nats") {
        return worker::run_calls(catalog, matches, program.dispatcher);
    }
    #[cfg(feature = "otc")]
    if matches.contains_id("otc") {
        return otc::run(catalog, matches, program.dispatcher);
    }
    #[cfg(feature = "mcp")]
    return mcp::run(catalog, matches, program);
    #[cfg(not(feature = "mcp"))]
    {
        let _ = (catalog, matches, program);
        Err(missing::feature("mcp"))
    }
}

/// Starts logging to stderr, filtered by `RUST_LOG`, unless the host has installed a subscriber.
#[cfg(any(feature = "durable", feature = "mcp", feature = "nats", feature = "otc"))]
fn start_log() {
    use std::io::{self, IsTerminal, Write};

    use tracing_subscriber::EnvFilter;
    use tracing_subscriber::util::SubscriberInitExt;

    use crate::stderr;
    use crate::style::{self, printable};

    /// The default filter: failures of tools, the stderr of backends, and warnings of everything else.
    const DEFAULT: &str = "warn,toolkit=info";

    let filter = match std::env::var(EnvFilter::DEFAULT_ENV) {
        Ok(directives) if !directives.is_empty() => EnvFilter::try_new(&directives).unwrap_or_else(|error| {
            let message = format!("RUST_LOG is ignored: {error}");
            let _ = writeln!(anstream::stderr(), "{} {}", style::WARNING, printable(&message));
            EnvFilter::new(DEFAULT)
        }),
        _ => EnvFilter::new(DEFAULT),
    };
    let has_colors = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let subscriber =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| stderr::Log).with_ansi(has_colors);
    let _ = subscriber.finish().try_init();
}
