//! `bundle labels`: the labels of a container image.

use clap::{ArgMatches, Command};

use super::metadata::{Metadata, description, registry_name, title};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::program::Program;
use crate::style;

pub(super) fn command() -> Command {
    Command::new("labels")
        .about("Print the labels of a container image with this program, for its Containerfile")
        .long_about(
            "Print the labels of a container image with this program, as instructions for its Containerfile.\n\n\
             The MCP registry accepts an image only if its label io.modelcontextprotocol.server.name is the name in \
             `server.json`. The revision and the time are known to the build: `--label` of the build adds \
             org.opencontainers.image.revision and org.opencontainers.image.created.",
        )
        .args([registry_name(), title(), description()])
}

pub(super) fn run(matches: &ArgMatches, program: &Program) -> Result<Exit, CommandError> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let metadata = Metadata::new(matches, program)?;
    let labels = [
        ("io.modelcontextprotocol.server.name", text("name")),
        ("org.opencontainers.image.title", text("title").or(Some(&program.name))),
        ("org.opencontainers.image.description", Some(metadata.description)),
        ("org.opencontainers.image.version", Some(metadata.version)),
        ("org.opencontainers.image.licenses", program.package.license.as_deref()),
        ("org.opencontainers.image.source", program.package.repository.as_deref()),
    ];
    for (label, value) in labels {
        if let Some(value) = value {
            style::write_line(&format!("LABEL {label}={}", quoted(value)))?;
        }
    }
    Ok(Exit::Success)
}

/// Quotes a value for a Containerfile, in which `$` begins a variable.
fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for c in value.chars() {
        match c {
            '"' | '\\' | '$' => text.extend(['\\', c]),
            c if c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}
