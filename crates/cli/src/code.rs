//! `run` and `serve-sandbox`: programs that call the tools.

#[cfg(feature = "code")]
mod execute;
#[cfg(feature = "code")]
mod host;
#[cfg(feature = "code")]
pub(crate) mod sandbox;

use clap::{ArgMatches, Command};
use toolkit::Catalog;
use toolkit::dispatch::DispatcherBuilder;

use crate::error::CommandError;
use crate::exit::Exit;
#[cfg(not(feature = "code"))]
use crate::missing;
use crate::program::Configure;

/// Returns the commands.
pub(crate) fn commands() -> [Command; 2] {
    #[cfg(feature = "code")]
    return [execute::command(), host::command()];
    #[cfg(not(feature = "code"))]
    ["run", "serve-sandbox"].map(missing::command)
}

/// Runs `serve-sandbox`.
pub(crate) fn serve_sandbox(matches: &ArgMatches) -> Result<Exit, CommandError> {
    #[cfg(feature = "code")]
    return host::run(matches);
    #[cfg(not(feature = "code"))]
    {
        let _ = matches;
        Err(missing::feature("code"))
    }
}

/// Runs `run`.
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
