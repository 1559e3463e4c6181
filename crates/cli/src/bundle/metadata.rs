//! The metadata of a program, from its package and the command line.

use clap::builder::NonEmptyStringValueParser;
use clap::{Arg, ArgMatches};

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

/// Returns the error of an invalid command line.
pub(super) fn usage(message: String) -> CommandError {
    CommandError::Other { exit: Exit::Usage, kind: "usage", message }
}

/// Returns the error of a file.
pub(super) fn failed(path: &std::path::Path, reason: &dyn std::fmt::Display) -> CommandError {
    CommandError::Other { exit: Exit::Failed, kind: "io", message: format!("{}: {reason}", path.display()) }
}
