//! `run`: runs a program that calls the tools.

#[cfg(feature = "code")]
mod execute;
#[cfg(feature = "code")]
mod output;
#[cfg(feature = "code")]
pub(crate) mod sandbox;
#[cfg(feature = "code")]
mod tools;

use clap::{ArgMatches, Command};
use toolkit::Catalog;
use toolkit::dispatch::DispatcherBuilder;

use crate::error::CommandError;
use crate::exit::Exit;
#[cfg(not(feature = "code"))]
use crate::missing;
use crate::program::Configure;

/// Returns the command.
pub(crate) fn command() -> Command {
    #[cfg(feature = "code")]
    return execute::command();
    #[cfg(not(feature = "code"))]
    missing::command("run")
}

pub(crate) fn run(
    catalog: Catalog,
    matches: &ArgMatches,
    configure: Configure<DispatcherBuilder>,
) -> Result<Exit, CommandError> {
    #[cfg(feature = "code")]
    return execute::run(catalog, matches, configure);
    #[cfg(not(feature = "code"))]
    {
        let _ = (catalog, matches, configure);
        Err(missing::feature("code"))
    }
}
