//! `install CLIENT` and `uninstall CLIENT`: the entry of this program in the configuration of an MCP client.
//!
//! | module | part |
//! |---|---|
//! | `client`, `location` | the clients, and the places of their files |
//! | `launch`, `entry` | the server, and what a client reads about it |
//! | `document`, `syntax`, `file` | changes the text after it was checked, and replaces the file |
//! | `preview`, `change` | the difference without secrets, and the order of all this |
//! | `claude_code` | commands of a client that changes its file itself |

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
