//! `install CLIENT` and `uninstall CLIENT`: the entry of this program in the configuration of an MCP client.

#[cfg(feature = "install")]
mod change;
#[cfg(feature = "install")]
mod claude_code;
#[cfg(feature = "install")]
mod client;
#[cfg(feature = "install")]
mod document;
#[cfg(feature = "install")]
mod entry;
#[cfg(feature = "install")]
mod file;
#[cfg(feature = "install")]
mod launch;
#[cfg(feature = "install")]
mod location;
#[cfg(feature = "install")]
mod options;
#[cfg(feature = "install")]
mod preview;
#[cfg(feature = "install")]
mod syntax;

use clap::{ArgMatches, Command};
use toolkit::Catalog;

use crate::error::CommandError;
use crate::exit::Exit;
#[cfg(not(feature = "install"))]
use crate::missing;
use crate::program::Program;

#[cfg(not(feature = "install"))]
pub(crate) fn commands() -> [Command; 2] {
    [missing::command("install"), missing::command("uninstall")]
}

#[cfg(feature = "install")]
pub(crate) fn commands() -> [Command; 2] {
    [options::install(), options::uninstall()]
}

/// Adds the entry of this program, or prints what would change.
pub(crate) fn install(catalog: &Catalog, matches: &ArgMatches, program: &Program) -> Result<Exit, CommandError> {
    #[cfg(feature = "install")]
    {
        let target = options::target(matches, program)?;
        let launch = launch::launch(catalog, matches, target.client)?;
        let entry = entry::Entry::new(target.client, &target.name, &launch);
        change::install(&target, &entry, matches)
    }
    #[cfg(not(feature = "install"))]
    {
        let _ = (catalog, matches, program);
        Err(missing::feature("install"))
    }
}

/// Removes the entry of this program, or prints what would change.
pub(crate) fn uninstall(matches: &ArgMatches, program: &Program) -> Result<Exit, CommandError> {
    #[cfg(feature = "install")]
    return change::uninstall(&options::target(matches, program)?, matches);
    #[cfg(not(feature = "install"))]
    {
        let _ = (matches, program);
        Err(missing::feature("install"))
    }
}
