//! `serve`: the tools for other programs, until it is told to stop.

#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "otc")]
mod otc;
#[cfg(feature = "proxy")]
mod proxy;

use clap::{ArgMatches, Command};
use toolkit::Catalog;

#[cfg(feature = "otc")]
pub(crate) use self::otc::{naming, tell_problems, toolkit};
use crate::Setup;
use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) fn command() -> Command {
    #[cfg(all(feature = "mcp", feature = "otc"))]
    return both();
    #[cfg(not(feature = "otc"))]
    return mcp::command(Command::new("serve"));
    #[cfg(not(feature = "mcp"))]
    return otc::command(Command::new("serve"));
}

/// The flags of both protocols. None is passed over where it means nothing: some say who is served what.
#[cfg(all(feature = "mcp", feature = "otc"))]
fn both() -> Command {
    let flags = |command: Command| -> Vec<clap::Arg> { command.get_arguments().cloned().collect() };
    let (mcp, otc) = (mcp::command(Command::new("serve")), otc::command(Command::new("serve")));
    let long = |command: &Command| command.get_long_about().map(ToString::to_string).unwrap_or_default();
    let about = format!("{}\n\nWith --otc: {}", long(&mcp), long(&otc));
    let mcp_flags = flags(mcp).into_iter().map(|flag| flag.conflicts_with("otc"));
    let otc_flags = flags(otc).into_iter().map(|flag| match flag.get_id() == "otc" {
        true => flag.required(false),
        false => flag.requires("otc"),
    });
    Command::new("serve")
        .about("Offers the tools to other programs, until it is told to stop")
        .long_about(about)
        .args(mcp_flags)
        .args(otc_flags)
}

pub(crate) fn run(catalog: Catalog, matches: &ArgMatches, setup: impl Setup) -> Result<Exit, Failure> {
    #[cfg(feature = "otc")]
    if cfg!(not(feature = "mcp")) || matches.contains_id("otc") {
        return otc::run(catalog, matches, setup);
    }
    #[cfg(feature = "mcp")]
    return mcp::run(catalog, matches, setup);
    #[cfg(not(feature = "mcp"))]
    unreachable!("clap asks for `--otc`")
}
