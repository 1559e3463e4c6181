//! `serve`: serves the tools over MCP, Open Tool Calling or NATS, or runs the steps of durable chains.

#[cfg(all(feature = "code", feature = "mcp"))]
mod code;
#[cfg(feature = "durable")]
mod durable;
#[cfg(feature = "explorer")]
mod explorer;
#[cfg(any(feature = "durable", feature = "mcp", feature = "nats", feature = "otc"))]
mod log;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "nats")]
mod nats;
mod options;
#[cfg(feature = "otc")]
mod otc;
#[cfg(feature = "proxy")]
mod proxy;

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
    log::start();
    #[cfg(feature = "durable")]
    if matches.contains_id("durable") {
        return durable::run(catalog, matches, program.dispatcher);
    }
    #[cfg(feature = "nats")]
    if matches.contains_id("nats") {
        return nats::run(catalog, matches, program.dispatcher);
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
