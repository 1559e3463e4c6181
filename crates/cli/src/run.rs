//! The command line of a program, and the dispatch to its commands.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgMatches, Command};
use toolkit::Catalog;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::options::program_name;
use crate::program::Program;
use crate::stderr::{self, FlushOnDrop};
use crate::{
    bundle, call, chain, check, code, completions, cost, diff, export, install, list, login, nats, search, serve, show,
    status,
};

const EXIT_CODES: &str = "\
Exit codes:
  0    success
  1    failure: the tool failed, its arguments are invalid, the catalog has problems, or a server is not ready
  2    usage error: an unknown command, flag or tool, or an invalid value of a flag
  130  the call was interrupted by Ctrl-C

With --json, stdout contains exactly one JSON document; an error is {\"error\": {\"kind\", \"message\", ...}}.";

impl Program {
    /// Runs the command line of this process.
    #[must_use]
    pub fn main(self) -> ExitCode {
        let _flush = FlushOnDrop;
        let words: Vec<OsString> = std::env::args_os().collect();
        let outcome = run(&words, self);
        // If clap rejects the command line, there are no matches that contain `--json`.
        let wants_json = words.iter().take_while(|word| *word != "--").any(|word| word == "--json");
        let exit = match outcome {
            Ok(exit) => exit,
            Err(failure) if wants_json => failure.report_as_json(),
            Err(failure) => failure.report(),
        };
        exit.into()
    }
}

/// Returns the command line of a program.
fn command(program: &Program) -> Command {
    let command = Command::new(program_name());
    let command = match &program.version {
        // `--version` prints the name of the program, not that of its file.
        Some(version) => command.display_name(program.name.clone()).version(version.clone()),
        None => command,
    };
    command
        .bin_name(program_name())
        .about("List, search, call, export, check and serve the tools of this program")
        .after_help(EXIT_CODES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommands([
            list::command(),
            search::command(),
            show::command(),
            call::command(),
            chain::command(),
            export::command(),
            cost::command(),
            check::command(),
            diff::command(),
            completions::command(),
            serve::command(),
            status::command(),
            bundle::command(),
        ])
        .subcommands(install::commands())
        .subcommands(code::commands())
        .subcommands(login::commands())
}

/// Parses the command line and runs its command.
fn run(words: &[OsString], mut program: Program) -> Result<Exit, CommandError> {
    let matches = command(&program).try_get_matches_from(words)?;
    let (name, matches): (&str, &ArgMatches) =
        matches.subcommand().expect("clap rejects a command line without a command");
    if matches!(name, "serve" | "serve-sandbox") {
        stderr::start()?;
    }
    let configure = std::mem::replace(&mut program.catalog, Box::new(Ok));
    let workers = match name {
        "list" | "search" | "show" => nats::catalog(matches)?,
        _ => None,
    };
    let catalog = || match workers {
        Some(workers) => Ok(workers),
        None => configure(Catalog::linked()?).map_err(CommandError::Setup),
    };
    match name {
        "list" => list::run(&catalog()?, matches),
        "search" => search::run(&catalog()?, matches),
        "show" => show::run(&catalog()?, matches),
        "export" => export::run(&catalog()?, matches),
        "cost" => cost::run(&catalog()?, matches),
        "completions" => completions::run(&catalog()?, matches, command(&program)),
        "call" => call::run(catalog, matches, program.dispatcher),
        "chain" => chain::run(catalog, matches, program.dispatcher),
        "run" => code::run(catalog()?, matches, program.dispatcher),
        "serve-sandbox" => code::serve_sandbox(matches),
        "serve" => serve::run(catalog()?, matches, program),
        "diff" => diff::run(matches),
        "status" => status::run(matches),
        "install" => install::install(&catalog()?, matches, &program),
        "uninstall" => install::uninstall(matches, &program),
        "bundle" => bundle::run(&catalog()?, matches, &program),
        "login" => login::login(matches, &program),
        "logout" => login::logout(matches, &program),
        _ => check::run(catalog, matches, program.dispatcher),
    }
}
