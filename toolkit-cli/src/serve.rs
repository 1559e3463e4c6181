//! `serve`: the tools for other programs.

mod mcp;
#[cfg(feature = "proxy")]
mod proxy;

use clap::{ArgMatches, Command};
use toolkit::{Catalog, Dispatcher};

use crate::Setup;
use crate::call;
use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) fn command() -> Command {
    let command = mcp::command(Command::new("serve"));
    #[cfg(feature = "proxy")]
    let command = command.arg(proxy::option());
    command
}

pub(crate) fn run(catalog: Catalog, matches: &ArgMatches, setup: impl Setup) -> Result<Exit, Failure> {
    let runtime = call::runtime()?;
    #[cfg(feature = "proxy")]
    let proxy::Joined { catalog, routes, backends } = runtime.block_on(proxy::join(catalog, matches))?;
    let dispatcher = {
        let _on_runtime = runtime.enter();
        let builder = Dispatcher::builder(catalog);
        #[cfg(feature = "proxy")]
        let builder = builder.routes(routes);
        setup(builder).map_err(Failure::Setup)?.build()?
    };
    let outcome = runtime.block_on(mcp::run(dispatcher, matches));
    #[cfg(feature = "proxy")]
    runtime.block_on(backends.stop());
    // A tool that nobody waits for any more must not keep the process alive.
    runtime.shutdown_background();
    outcome
}
