//! The command line of a program, and the dispatch to its commands.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgMatches, Command};
use toolkit::Catalog;

#[cfg(feature = "bundle")]
use crate::bundle;
#[cfg(feature = "chain")]
use crate::chain;
#[cfg(feature = "code")]
use crate::code;
use crate::error::{CommandError, Exit};
#[cfg(feature = "install")]
use crate::install;
use crate::options::{disabled_command, program_name};
use crate::program::Program;
#[cfg(feature = "mcp")]
use crate::resources;
#[cfg(feature = "search")]
use crate::search;
#[cfg(any(feature = "durable", feature = "mcp", feature = "nats", feature = "otc"))]
use crate::serve;
use crate::stderr::{self, FlushOnDrop, LogFormat};
use crate::{call, check, completions, diff, list, nats, proxied, show};
#[cfg(feature = "export")]
use crate::{cost, export};
#[cfg(feature = "proxy")]
use crate::{login, status};

const EXIT_CODES: &str = "\
Exit codes:
  0    success
  1    failure: the tool failed, its arguments are invalid, the catalog has problems, or a server is not ready
  2    usage error: an unknown command, option or tool, or an invalid value of an option
  130  the call was interrupted by Ctrl-C

With --json, stdout contains exactly one JSON document; an error is {\"error\": {\"kind\", \"message\", ...}}.";

/// The commands of disabled features, with the features. They are hidden, and their error contains the name of the feature.
const DISABLED: &[(&str, &str)] = &[
    #[cfg(not(any(feature = "durable", feature = "mcp", feature = "nats", feature = "otc")))]
    ("serve", "mcp"),
    #[cfg(not(feature = "proxy"))]
    ("status", "proxy"),
    #[cfg(not(feature = "search"))]
    ("search", "search"),
    #[cfg(not(feature = "chain"))]
    ("chain", "chain"),
    #[cfg(not(feature = "export"))]
    ("export", "export"),
    #[cfg(not(feature = "export"))]
    ("cost", "export"),
    #[cfg(not(feature = "bundle"))]
    ("bundle", "bundle"),
    #[cfg(not(feature = "install"))]
    ("install", "install"),
    #[cfg(not(feature = "install"))]
    ("uninstall", "install"),
    #[cfg(not(feature = "code"))]
    ("run", "code"),
    #[cfg(not(feature = "code"))]
    ("serve-sandbox", "code"),
    #[cfg(not(feature = "proxy"))]
    ("login", "proxy"),
    #[cfg(not(feature = "proxy"))]
    ("logout", "proxy"),
];

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
            Err(failure) => {
                if !stderr::is_json() && LogFormat::of_rejected(&words) == LogFormat::Json {
                    // Without the thread, the error is text.
                    let _ = stderr::start(LogFormat::Json);
                }
                failure.report()
            }
        };
        exit.into()
    }
}

/// Returns the command line of a program, with its own options.
fn command(program: &Program) -> Result<Command, CommandError> {
    let command = Command::new(program_name());
    let command = match &program.version {
        // `--version` prints the name of the program, not that of its file.
        Some(version) => command.display_name(program.name.clone()).version(version.clone()),
        None => command,
    };
    let command = command
        .bin_name(program_name())
        .about("List, search, call, export, check and serve the tools of this program")
        .after_help(EXIT_CODES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommands(commands())
        .subcommands(DISABLED.iter().map(|(name, _)| disabled_command(name)));
    match &program.options {
        Some(options) => options.add_to(command),
        None => Ok(command),
    }
}

/// Returns the commands of the enabled features.
fn commands() -> Vec<Command> {
    vec![
        list::command(),
        #[cfg(feature = "search")]
        search::command(),
        show::command(),
        call::command(),
        #[cfg(feature = "chain")]
        chain::command(),
        #[cfg(feature = "export")]
        export::command(),
        #[cfg(feature = "export")]
        cost::command(),
        check::command(),
        diff::command(),
        completions::command(),
        #[cfg(any(feature = "durable", feature = "mcp", feature = "nats", feature = "otc"))]
        serve::command(),
        #[cfg(feature = "proxy")]
        status::command(),
        #[cfg(feature = "bundle")]
        bundle::command(),
        #[cfg(feature = "install")]
        install::install_command(),
        #[cfg(feature = "install")]
        install::uninstall_command(),
        #[cfg(feature = "code")]
        code::run_command(),
        #[cfg(feature = "code")]
        code::serve_sandbox_command(),
        #[cfg(feature = "proxy")]
        login::login_command(),
        #[cfg(feature = "proxy")]
        login::logout_command(),
    ]
}

/// Parses the command line and runs its command.
fn run(words: &[OsString], mut program: Program) -> Result<Exit, CommandError> {
    let settled = program.options.as_ref().map(|options| options.without_empty(words));
    let matches = command(&program)?.try_get_matches_from(settled.as_deref().unwrap_or(words))?;
    let (name, matches_of_command): (&str, &ArgMatches) =
        matches.subcommand().expect("clap rejects a command line without a command");
    if let Some((_, feature)) = DISABLED.iter().find(|(disabled, _)| *disabled == name) {
        return Err(CommandError::missing_feature(feature));
    }
    if matches!(name, "serve" | "serve-sandbox") {
        stderr::start(LogFormat::of(matches_of_command))?;
    }
    if let Some(options) = &mut program.options
        && let Some(values) = options.read(name, &matches)?
        && let Some(configure) = program.configure.take()
    {
        program = configure(&values, program)?;
    }
    let matches = matches_of_command;
    let configure = std::mem::replace(&mut program.catalog, Box::new(Ok));
    let workers = match name {
        "list" | "search" | "show" => nats::catalog(matches)?,
        _ => None,
    };
    let is_proxied = matches!(name, "cost" | "export" | "list" | "search" | "show") && matches.contains_id("proxy");
    let of_program = program.name.clone();
    let catalog = || {
        let own = || configure(Catalog::linked()?).map_err(CommandError::Setup);
        match workers {
            Some(workers) => Ok(workers),
            None if is_proxied => proxied::catalog(own()?, matches, &of_program),
            None => own(),
        }
    };
    match name {
        #[cfg(feature = "mcp")]
        "list" if matches.get_flag("resources") => resources::list(catalog()?, matches, program),
        "list" => list::run(&catalog()?, matches),
        #[cfg(feature = "search")]
        "search" => search::run(&catalog()?, matches),
        #[cfg(feature = "mcp")]
        "show" if matches.get_one::<String>("id").is_some_and(|id| resources::is_uri(id)) => {
            if is_proxied {
                let message = "--proxy shows tools and prompts; `URI` of a resource is one of this program";
                return Err(CommandError::usage(message));
            }
            resources::show(catalog()?, matches, program)
        }
        "show" => show::run(&catalog()?, matches),
        #[cfg(feature = "export")]
        "export" => export::run(&catalog()?, matches, &program),
        #[cfg(feature = "export")]
        "cost" => cost::run(&catalog()?, matches),
        "completions" => completions::run(&catalog()?, matches, command(&program)?),
        "call" => call::run(catalog, matches, program.dispatcher, &program.name, program.options.as_ref()),
        #[cfg(feature = "chain")]
        "chain" => chain::run(catalog, matches, program.dispatcher, &program.name),
        #[cfg(feature = "code")]
        "run" => code::run(catalog()?, matches, program.dispatcher),
        #[cfg(feature = "code")]
        "serve-sandbox" => code::serve_sandbox(matches),
        #[cfg(any(feature = "durable", feature = "mcp", feature = "nats", feature = "otc"))]
        "serve" => serve::run(catalog()?, matches, program),
        "diff" => diff::run(matches),
        #[cfg(feature = "proxy")]
        "status" => status::run(matches),
        #[cfg(feature = "install")]
        "install" => install::install(&catalog()?, matches, &program),
        #[cfg(feature = "install")]
        "uninstall" => install::uninstall(matches, &program),
        #[cfg(feature = "bundle")]
        "bundle" => bundle::run(&catalog()?, matches, &program),
        #[cfg(feature = "proxy")]
        "login" => login::login(matches, &program),
        #[cfg(feature = "proxy")]
        "logout" => login::logout(matches, &program),
        _ => check::run(catalog, matches, program),
    }
}
