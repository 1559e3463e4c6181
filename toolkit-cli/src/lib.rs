//! Turns a program that links tools into a command-line program.
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     toolkit_cli::main()
//! }
//! ```
//!
//! The program then has the commands `list`, `search`, `show`, `call`, `export`, `cost`, `check`, `diff` and `completions`, and
//! with the features `mcp` or `otc` the command `serve`, over every tool that is linked into it. A package that has only
//! a library gets the same from `cargo toolkit COMMAND`, which the binary `cargo-toolkit` of this package provides: it
//! builds a program that links the library, and runs it.
//!
//! `serve` offers the tools to other programs until it is told to stop: over the Model Context Protocol (`mcp`), and by
//! the call format of Open Tool Calling (`otc`). With the feature `proxy` it serves the tools of other servers of MCP too.
//!
//! # Exit codes
//!
//! | code | meaning |
//! |---|---|
//! | 0 | it worked |
//! | 1 | the tool failed, its schema refused the arguments, or the catalogue has problems |
//! | 2 | the command line is wrong: an unknown command, flag or tool, or a value that a flag cannot take |
//! | 130 | Ctrl-C stopped the call |
//!
//! # Output
//!
//! Results go to stdout, everything else to stderr. With `--json`, stdout has exactly one JSON document, and an error is
//! that document too: `{"error": {"kind", "message", …}}`. What caused an internal error is for the eyes of whoever runs
//! the program: it is printed on stderr, and never part of the JSON, which may go on to a model.
#![forbid(unsafe_code)]

mod call;
mod check;
mod command;
mod completions;
mod cost;
mod diff;
mod exit;
mod export;
mod failure;
mod limits;
mod list;
mod manifest;
mod record;
mod search;
#[cfg(any(feature = "mcp", feature = "otc"))]
mod serve;
mod shape;
mod show;
mod style;
mod table;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::ArgMatches;
use toolkit::Catalog;
use toolkit::dispatch::DispatcherBuilder;

use self::exit::Exit;
use self::failure::Failure;

/// What a host gives to the dispatcher; its error is printed, and the exit code is 1.
trait Setup: FnOnce(DispatcherBuilder) -> Result<DispatcherBuilder, SetupError> {}

impl<F: FnOnce(DispatcherBuilder) -> Result<DispatcherBuilder, SetupError>> Setup for F {}

/// Whatever keeps a host from setting up its dispatcher.
pub type SetupError = Box<dyn std::error::Error + Send + Sync>;

/// Runs the command line of this process over every linked tool.
///
/// Tools that borrow state need [`main_with`].
#[must_use]
pub fn main() -> ExitCode {
    main_with(Ok)
}

/// Runs the command line of this process over every linked tool, with state, limits and policies of the host's.
///
/// `setup` is called only by the commands that need a dispatcher, `call`, `serve` and `check`, on a tokio runtime's
/// context; `list`, `search`, `show`, `export` and `cost` work where, say, no database can be reached.
///
/// ```no_run
/// struct Db;
/// # impl Db { fn open() -> std::io::Result<Db> { Ok(Db) } }
///
/// fn main() -> std::process::ExitCode {
///     toolkit_cli::main_with(|dispatcher| Ok(dispatcher.state(Db::open()?)))
/// }
/// ```
#[must_use]
pub fn main_with(setup: impl FnOnce(DispatcherBuilder) -> Result<DispatcherBuilder, SetupError>) -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let outcome = run(&words, setup);
    // Looked for by hand, because a command line that clap refuses has no matches to ask.
    let wants_json = words.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    let exit = match outcome {
        Ok(exit) => exit,
        Err(failure) if wants_json => failure.report_as_json(),
        Err(failure) => failure.report(),
    };
    exit.into()
}

fn run(words: &[OsString], setup: impl Setup) -> Result<Exit, Failure> {
    let matches = command::program().try_get_matches_from(words)?;
    let (name, matches): (&str, &ArgMatches) =
        matches.subcommand().expect("clap refuses a command line without a command");
    match name {
        "list" => list::run(&Catalog::linked()?, matches),
        "search" => search::run(&Catalog::linked()?, matches),
        "show" => show::run(&Catalog::linked()?, matches),
        "export" => export::run(&Catalog::linked()?, matches),
        "cost" => cost::run(&Catalog::linked()?, matches),
        "completions" => completions::run(&Catalog::linked()?, matches),
        "call" => call::run(Catalog::linked()?, matches, setup),
        #[cfg(any(feature = "mcp", feature = "otc"))]
        "serve" => serve::run(Catalog::linked()?, matches, setup),
        "diff" => diff::run(matches),
        _ => check::run(matches, setup),
    }
}
