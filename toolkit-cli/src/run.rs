//! The command line of a program: its subcommands, and what runs each.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgMatches, Command};
use toolkit::Catalog;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::options::program_name;
use crate::program::Program;
use crate::{call, check, completions, cost, diff, export, list, search, serve, show};

const EXIT_CODES: &str = "\
Exit codes:
  0    it worked
  1    the tool failed, its schema refused the arguments, or the catalogue has problems
  2    the command line is wrong: an unknown command, flag or tool, or a value that a flag cannot take
  130  Ctrl-C stopped the call

With --json, stdout has exactly one JSON document; an error is {\"error\": {\"kind\", \"message\", ...}}.";

impl Program {
    /// Runs the command line of this process.
    #[must_use]
    pub fn main(self) -> ExitCode {
        let words: Vec<OsString> = std::env::args_os().collect();
        let outcome = run(&words, self);
        // Looked for by hand, because a command line that clap rejects has no matches to ask.
        let wants_json = words.iter().take_while(|word| *word != "--").any(|word| word == "--json");
        let exit = match outcome {
            Ok(exit) => exit,
            Err(failure) if wants_json => failure.report_as_json(),
            Err(failure) => failure.report(),
        };
        exit.into()
    }
}

/// Creates the whole command line of a program.
fn command(program: &Program) -> Command {
    let command = Command::new(program_name());
    let command = match &program.version {
        // What is printed is the program's own name, not that of the file.
        Some(version) => command.display_name(program.name.clone()).version(version.clone()),
        None => command,
    };
    command
        .bin_name(program_name())
        .about("Lists, finds, shows, calls and checks the tools of this program")
        .after_help(EXIT_CODES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommands([
            list::command(),
            search::command(),
            show::command(),
            call::command(),
            export::command(),
            cost::command(),
            check::command(),
            diff::command(),
            completions::command(),
            serve::command(),
        ])
}

/// Runs the command that the words name.
fn run(words: &[OsString], mut program: Program) -> Result<Exit, Failure> {
    let matches = command(&program).try_get_matches_from(words)?;
    let (name, matches): (&str, &ArgMatches) =
        matches.subcommand().expect("clap rejects a command line without a command");
    let configure = std::mem::replace(&mut program.catalog, Box::new(Ok));
    let catalog = || configure(Catalog::linked()?).map_err(Failure::Setup);
    match name {
        "list" => list::run(&catalog()?, matches),
        "search" => search::run(&catalog()?, matches),
        "show" => show::run(&catalog()?, matches),
        "export" => export::run(&catalog()?, matches),
        "cost" => cost::run(&catalog()?, matches),
        "completions" => completions::run(&catalog()?, matches, command(&program)),
        "call" => call::run(catalog()?, matches, program.dispatcher),
        "serve" => serve::run(catalog()?, matches, program),
        "diff" => diff::run(matches),
        _ => check::run(catalog, matches, program.dispatcher),
    }
}
