//! `bundle`: this program for distribution, as an MCPB file, and its metadata for the MCP registry and for images.
//!
//! | module | part |
//! |---|---|
//! | `mcpb`, `manifest`, `executable` | the MCPB file |
//! | `server_json`, `labels` | metadata for registries and images |
//! | `user_config` | the variables that a client asks for |
//! | `metadata` | what is known about the program, and the file that is written |

#[cfg(feature = "install")]
mod executable;
#[cfg(feature = "install")]
mod labels;
#[cfg(feature = "install")]
mod manifest;
#[cfg(feature = "install")]
mod mcpb;
#[cfg(feature = "install")]
mod metadata;
#[cfg(feature = "install")]
mod server_json;
#[cfg(feature = "install")]
mod user_config;

use clap::{ArgMatches, Command};
use toolkit::Catalog;

use crate::error::CommandError;
use crate::exit::Exit;
#[cfg(not(feature = "install"))]
use crate::missing;
use crate::program::Program;

#[cfg(not(feature = "install"))]
pub(crate) fn command() -> Command {
    missing::command("bundle")
}

#[cfg(feature = "install")]
pub(crate) fn command() -> Command {
    Command::new("bundle")
        .about("Write this program as an MCPB file, its entry in the MCP registry, or the labels of its image")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommands([mcpb::command(), server_json::command(), labels::command()])
}

pub(crate) fn run(catalog: &Catalog, matches: &ArgMatches, program: &Program) -> Result<Exit, CommandError> {
    #[cfg(feature = "install")]
    match matches.subcommand() {
        Some(("mcpb", matches)) => mcpb::run(catalog, matches, program),
        Some(("server-json", matches)) => server_json::run(catalog, matches, program),
        Some((_, matches)) => labels::run(matches, program),
        None => unreachable!("clap requires a subcommand"),
    }
    #[cfg(not(feature = "install"))]
    {
        let _ = (catalog, matches, program);
        Err(missing::feature("install"))
    }
}
