//! `export`: the catalogue in the words of another system.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use serde_json::Value;
use toolkit::Catalog;
use toolkit::adapter::mcp::{self, Revision};
use toolkit::adapter::{Export, a2a, anthropic, gemini, markdown, openai};
use toolkit::catalog::Naming;

use crate::command::{naming, program_name};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::limits;
use crate::style::{self, printable};

/// What `--format` takes.
pub(crate) const FORMATS: &[&str] = &[
    "mcp",
    "openai",
    "openai-chat",
    "anthropic",
    "gemini",
    "gemini-openapi",
    "a2a",
    "markdown",
    #[cfg(feature = "html")]
    "html",
    #[cfg(feature = "otc")]
    "otc",
];

pub(crate) fn run(catalog: &Catalog, matches: &ArgMatches) -> Result<Exit, Failure> {
    #[cfg(feature = "otc")]
    if matches.get_one::<String>("format").is_some_and(|format| format == "otc") {
        let published = toolkit_otc::Published::of(catalog, &crate::serve::naming(matches));
        crate::serve::tell_problems(&published);
        write(&published.to_json(), matches)?;
        return Ok(Exit::Success);
    }
    if matches.get_one::<String>("format").is_some_and(|format| format == "markdown") {
        write_text(&markdown::document(&program_name(), catalog), matches)?;
        return Ok(Exit::Success);
    }
    #[cfg(feature = "html")]
    if matches.get_one::<String>("format").is_some_and(|format| format == "html") {
        let program = program_name();
        let page = toolkit::adapter::html::Page { title: &program, program: Some(&program) };
        write_text(&toolkit::adapter::html::document(&page, catalog), matches)?;
        return Ok(Exit::Success);
    }
    let (naming, strict) = (naming(matches), matches.get_flag("strict"));
    let format = matches.get_one::<String>("format").map(String::as_str).unwrap_or_default();
    let json = match described(catalog, format, naming, strict)? {
        Some(export) => {
            tell_losses(&export, matches.get_flag("losses"));
            export.json
        }
        None => {
            let revision = match matches.get_one::<String>("revision").map(String::as_str) {
                Some("2025-11-25") => Revision::V2025_11_25,
                _ => Revision::V2026_07_28,
            };
            mcp::list_tools(catalog, revision, naming)?
        }
    };
    write(&json, matches)?;
    Ok(Exit::Success)
}

/// The catalogue in the words of a provider; `None` for MCP, which loses nothing.
pub(crate) fn described(
    catalog: &Catalog,
    format: &str,
    naming: Naming,
    strict: bool,
) -> Result<Option<Export>, Failure> {
    let openai =
        |options: openai::Options| openai::tools(catalog, naming, if strict { options.strict() } else { options });
    let export = match format {
        "openai" => openai(openai::Options::responses())?,
        "openai-chat" => openai(openai::Options::chat_completions())?,
        "anthropic" => {
            let options = anthropic::Options::default();
            anthropic::tools(catalog, naming, if strict { options.strict() } else { options })?
        }
        "gemini" => gemini::tools(catalog, naming, gemini::Form::JsonSchema)?,
        "gemini-openapi" => gemini::tools(catalog, naming, gemini::Form::OpenApi)?,
        "a2a" => a2a::skills(catalog)?,
        _ => return Ok(None),
    };
    Ok(Some(export))
}

/// Says on stderr what the format has no words for, and no room.
fn tell_losses(export: &Export, all: bool) {
    let mut err = anstream::stderr();
    for usage in export.usage.iter().filter(|usage| all || usage.is_over()) {
        let label = if usage.is_over() { style::WARNING } else { style::NOTE };
        let _ = writeln!(err, "{label} {}", limits::line(usage));
    }
    for (id, reasons) in &export.not_strict {
        let why = reasons.first().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(err, "{} `{id}` is not strict: {}", style::NOTE, printable(&why));
    }
    if all {
        for (id, losses) in &export.losses {
            for loss in losses {
                let _ = writeln!(err, "{} {id}: {}", style::NOTE, printable(&loss.to_string()));
            }
        }
        return;
    }
    let n_losses: usize = export.losses.iter().map(|(_, losses)| losses.len()).sum();
    if n_losses > 0 {
        let _ = writeln!(err, "{} the format has no words for {n_losses} things; --losses tells them", style::NOTE);
    }
}

fn write(json: &Value, matches: &ArgMatches) -> Result<(), Failure> {
    // Always indented: the file is read and compared by people, and must not depend on where it is written to.
    let text = serde_json::to_string_pretty(json).map_err(std::io::Error::from)?;
    write_text(&text, matches)
}

fn write_text(text: &str, matches: &ArgMatches) -> Result<(), Failure> {
    let text = text.trim_end();
    match matches.get_one::<PathBuf>("output") {
        Some(path) if path != Path::new("-") => {
            std::fs::write(path, format!("{text}\n")).map_err(|error| Failure::Own {
                exit: Exit::Failed,
                kind: "io",
                message: format!("cannot write {}: {error}", path.display()),
            })
        }
        _ => Ok(style::write_line(text)?),
    }
}
