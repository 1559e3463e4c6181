//! `completions`: prints a shell completion script with the tools and their flags.

use std::io::Write;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use toolkit::Catalog;

use crate::error::{CommandError, Exit};
use crate::flags;
use crate::options::program_name;

/// The maximum number of tools whose flags are in the script. With more tools it contains ids only, since it would have
/// megabytes.
const MAX_TOOLS_WITH_FLAGS: usize = 200;

pub(crate) fn command() -> Command {
    Command::new("completions")
        .about("Print a shell completion script with the tools and their flags")
        .arg(Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(Shell)))
}

/// Prints the script for the command line `program`.
pub(crate) fn run(catalog: &Catalog, matches: &ArgMatches, program: Command) -> Result<Exit, CommandError> {
    let Some(&shell) = matches.get_one::<Shell>("shell") else {
        return Ok(Exit::Usage);
    };
    let name = program_name();
    // The shell looks up completions by the first word, which is `cargo` here.
    if name.contains(' ') {
        let message =
            format!("`{name}` does not support completions; use a binary with `toolkit_cli::program!().main()`");
        return Err(CommandError::usage(message));
    }
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_tools(program, catalog), &name, &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => {
            // clap_complete spells a hyphen in the name of the program in two ways, which its script compares.
            let label = |hyphen| format!("\n        {}", name.replace('-', hyphen));
            script = script.replace(&label("__subcmd__"), &label("__"));
            // bash splits words at colons, which ids contain.
            script.push_str("COMP_WORDBREAKS=${COMP_WORDBREAKS//:}\n");
        }
        // In zsh, a colon separates a candidate from its description.
        Shell::Zsh => {
            for tool in catalog.latest() {
                let id = tool.id().unversioned().to_string();
                let escaped = id.replace(':', r"\:");
                script = script.replace(&format!("\n'{id}:"), &format!("\n'{escaped}:"));
            }
        }
        _ => {}
    }
    std::io::stdout().lock().write_all(script.as_bytes())?;
    Ok(Exit::Success)
}

/// Adds the tools and their flags to the command line of the program.
fn with_tools(program: Command, catalog: &Catalog) -> Command {
    let ids: Vec<String> = catalog.latest().map(|tool| tool.id().unversioned().to_string()).collect();
    let has_flags = ids.len() <= MAX_TOOLS_WITH_FLAGS;
    let calls: Vec<Command> = catalog
        .latest()
        .zip(&ids)
        .map(|(tool, id)| {
            if has_flags {
                let flags = flags::from_schema(tool.input().as_value());
                flags::command(tool, &flags).name(id.clone())
            } else {
                Command::new(id.clone()).about(tool.summary())
            }
        })
        .collect();
    program
        .mut_subcommand("call", |call| call.subcommands(calls))
        .mut_subcommand("show", |show| show.mut_arg("id", |id| id.value_parser(PossibleValuesParser::new(ids.clone()))))
}
