//! `bundle`: this program for distribution, as an MCPB file, and its metadata for the MCP registry and for images.
//!
//! | module | part |
//! |---|---|
//! | `mcpb` | the MCPB file |
//! | `registry` | metadata for the MCP registry and for images |
//! | `settings` | what the client asks its user for |

mod mcpb;
mod registry;
mod settings;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::builder::NonEmptyStringValueParser;
use clap::{Arg, ArgMatches, Command};
use toolkit::Catalog;
use toolkit_runtime::{FileAccess, Replacement, ShutdownSignals};

use crate::error::{CommandError, Exit};
use crate::options::option;
use crate::program::Program;
use crate::runtime;

pub(crate) fn command() -> Command {
    Command::new("bundle")
        .about("Write this program as an MCPB file, its entry in the MCP registry, or the labels of its image")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommands([mcpb::command(), registry::command(), registry::labels_command()])
}

pub(crate) fn run(catalog: &Catalog, matches: &ArgMatches, program: &Program) -> Result<Exit, CommandError> {
    match matches.subcommand() {
        Some(("mcpb", matches)) => mcpb::run(catalog, matches, program),
        Some(("server-json", matches)) => registry::run(catalog, matches, program),
        Some((_, matches)) => registry::labels(matches, program),
        None => unreachable!("clap requires a subcommand"),
    }
}

/// The metadata that every format contains.
struct Metadata<'a> {
    version: &'a str,
    description: &'a str,
}

impl<'a> Metadata<'a> {
    /// Reads `--description`, and what the program knows about its package.
    fn new(matches: &'a ArgMatches, program: &'a Program) -> Result<Self, CommandError> {
        let Some(version) = &program.version else {
            return Err(CommandError::usage("this program has no version; `toolkit_cli::program!()` sets it"));
        };
        let given = matches.get_one::<String>("description");
        let Some(description) = given.or(program.package.description.as_ref()) else {
            let message = "a description is required; --description sets it, and so does `description` in Cargo.toml";
            return Err(CommandError::usage(message));
        };
        Ok(Self { version, description })
    }
}

/// Creates the option `--description`.
fn description() -> Arg {
    text("description", "TEXT").help("What the server does [default: the description of the package]")
}

/// Creates the option `--title`.
fn title() -> Arg {
    text("title", "TEXT").help("Name for readers")
}

/// Creates an option whose value is not empty.
fn text(name: &'static str, value: &'static str) -> Arg {
    option(name, value).value_parser(NonEmptyStringValueParser::new())
}

/// Creates the option `--name`, the name of a server in the MCP registry.
fn registry_name() -> Arg {
    option("name", "NAME")
        .required(true)
        .value_parser(parse_registry_name)
        .help("Name in the MCP registry, such as io.github.USER/NAME")
}

/// Parses a name: a reverse domain, a slash, and a name.
fn parse_registry_name(text: &str) -> Result<String, String> {
    let expected =
        || "expected a reverse domain and a name, such as io.github.USER/NAME, of at most 200 characters".to_owned();
    let (namespace, name) = text.split_once('/').ok_or_else(expected)?;
    let is_in = |text: &str, other: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || other.contains(c))
    };
    match is_in(namespace, ".-") && is_in(name, "._-") && text.len() <= 200 {
        true => Ok(text.to_owned()),
        false => Err(expected()),
    }
}

/// Returns the error of a file.
fn failed(path: &Path, reason: &dyn std::fmt::Display) -> CommandError {
    CommandError::failed("io", format!("{}: {reason}", path.display()))
}

/// Writes a file by `write`, under another name until it is complete: the file is complete or absent. A signal that would end
/// the process ends `write` instead, so that the file under the other name is removed.
fn create(path: &Path, write: impl FnOnce(Interruptible<'_>) -> io::Result<()>) -> Result<(), CommandError> {
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let runtime = runtime::with_threads(1)?;
    let mut signals = runtime.block_on(async { ShutdownSignals::listen() });
    let interrupted = Arc::clone(&is_interrupted);
    runtime.spawn(async move {
        signals.next().await;
        interrupted.store(true, Ordering::Relaxed);
    });
    let created = Replacement::create(path, FileAccess::Default).and_then(|replacement| {
        write(Interruptible { file: replacement.file(), is_interrupted: &is_interrupted })?;
        replacement.commit()
    });
    match created {
        Err(_) if is_interrupted.load(Ordering::Relaxed) => {
            let message = format!("interrupted, and {} was not written", path.display());
            Err(CommandError::Other { exit: Exit::Interrupted, kind: "cancelled", message })
        }
        created => created.map_err(|error| failed(path, &error)),
    }
}

/// A file that cannot be written after a signal.
struct Interruptible<'f> {
    file: &'f File,
    is_interrupted: &'f AtomicBool,
}

impl Write for Interruptible<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.is_interrupted.load(Ordering::Relaxed) {
            // Writers repeat a write that failed as `ErrorKind::Interrupted`.
            true => Err(io::ErrorKind::Other.into()),
            false => self.file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
