//! What every format has: the metadata of the program, from its package and the command line, and the file that is
//! written.

use std::fs::File;
use std::io;
use std::path::Path;

use clap::builder::NonEmptyStringValueParser;
use clap::{Arg, ArgMatches};
use toolkit_runtime::{FileAccess, Replacement};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::program::Program;

/// The metadata that every format contains.
pub(super) struct Metadata<'a> {
    pub(super) version: &'a str,
    pub(super) description: &'a str,
}

impl<'a> Metadata<'a> {
    /// Reads `--description`, and what the program knows about its package.
    pub(super) fn new(matches: &'a ArgMatches, program: &'a Program) -> Result<Self, CommandError> {
        let Some(version) = &program.version else {
            return Err(usage("this program has no version; `toolkit_cli::program!()` sets it".to_owned()));
        };
        let given = matches.get_one::<String>("description");
        let Some(description) = given.or(program.package.description.as_ref()) else {
            let message = "a description is required; --description sets it, and so does `description` in Cargo.toml";
            return Err(usage(message.to_owned()));
        };
        Ok(Self { version, description })
    }
}

/// Creates the option `--description`.
pub(super) fn description() -> Arg {
    text("description", "TEXT").help("What the server does [default: the description of the package]")
}

/// Creates the option `--title`.
pub(super) fn title() -> Arg {
    text("title", "TEXT").help("Name for readers")
}

/// Creates an option whose value is not empty.
pub(super) fn text(name: &'static str, value: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).value_parser(NonEmptyStringValueParser::new())
}

/// Creates the option `--name`, the name of a server in the MCP registry.
pub(super) fn registry_name() -> Arg {
    Arg::new("name")
        .long("name")
        .value_name("NAME")
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

/// Returns the error of an invalid command line.
pub(super) fn usage(message: String) -> CommandError {
    CommandError::Other { exit: Exit::Usage, kind: "usage", message }
}

/// Returns the error of a file.
pub(super) fn failed(path: &Path, reason: &dyn std::fmt::Display) -> CommandError {
    CommandError::Other { exit: Exit::Failed, kind: "io", message: format!("{}: {reason}", path.display()) }
}

/// Writes a file by `write`, under another name until it is complete: the file is complete or absent.
pub(super) fn create(path: &Path, write: impl FnOnce(&File) -> io::Result<()>) -> Result<(), CommandError> {
    let created = Replacement::create(path, FileAccess::Default).and_then(|replacement| {
        write(replacement.file())?;
        replacement.commit()
    });
    created.map_err(|error| failed(path, &error))
}
