//! `serve`: the tools for other programs.

mod mcp;

use clap::{ArgMatches, Command};
use toolkit::{Catalog, Dispatcher};

use crate::Setup;
use crate::call;
use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) fn command() -> Command {
    mcp::command(Command::new("serve"))
}

pub(crate) fn run(catalog: Catalog, matches: &ArgMatches, setup: impl Setup) -> Result<Exit, Failure> {
    let runtime = call::runtime()?;
    let dispatcher = {
        let _on_runtime = runtime.enter();
        setup(Dispatcher::builder(catalog)).map_err(Failure::Setup)?.build()?
    };
    let outcome = runtime.block_on(mcp::run(dispatcher, matches));
    // A tool that nobody waits for any more must not keep the process alive.
    runtime.shutdown_background();
    outcome
}
