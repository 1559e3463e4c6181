//! `completions`: a script for a shell, with the tools and their flags in it.

use std::io::Write;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use toolkit::Catalog;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags;
use crate::options::program_name;

/// Past this many tools the script would be megabytes, so it knows their ids and not their flags.
const MAX_TOOLS_WITH_FLAGS: usize = 200;

pub(crate) fn command() -> Command {
    Command::new("completions")
        .about("Prints a completion script that knows the tools and their flags")
        .arg(Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(Shell)))
}

/// Prints the script of a program whose command line is `program`.
pub(crate) fn run(catalog: &Catalog, matches: &ArgMatches, program: Command) -> Result<Exit, Failure> {
    let Some(&shell) = matches.get_one::<Shell>("shell") else {
        return Ok(Exit::Usage);
    };
    let name = program_name();
    // The shell completes what comes first on the line, and that is cargo.
    if name.contains(' ') {
        let message = format!(
            "`{name}` is not a program of its own; a binary with `toolkit_cli::program!().main()` has completions"
        );
        return Err(Failure::Own { exit: Exit::Usage, kind: "usage", message });
    }
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_tools(program, catalog), name, &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        // bash ends a word at a colon, and ids are full of them.
        Shell::Bash => script.push_str("COMP_WORDBREAKS=${COMP_WORDBREAKS//:}\n"),
        // zsh ends a candidate at a colon, and what follows is its description.
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

/// Adds the tools and their flags, which only the catalog has, to the command line of the program.
fn with_tools(program: Command, catalog: &Catalog) -> Command {
    let ids: Vec<String> = catalog.latest().map(|tool| tool.id().unversioned().to_string()).collect();
    let has_flags = ids.len() <= MAX_TOOLS_WITH_FLAGS;
    let calls: Vec<Command> = catalog
        .latest()
        .zip(&ids)
        .map(|(tool, id)| {
            if has_flags {
                let flags = flags::of(tool.input().as_value());
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
