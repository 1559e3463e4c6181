//! `export`: the catalogue in the words of another system.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use toolkit::Catalog;
use toolkit::adapter::mcp::{self, Revision};

use crate::command::naming;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::style;

pub(crate) fn run(catalog: &Catalog, matches: &ArgMatches) -> Result<Exit, Failure> {
    let revision = match matches.get_one::<String>("revision").map(String::as_str) {
        Some("2025-11-25") => Revision::V2025_11_25,
        _ => Revision::V2026_07_28,
    };
    let listed = mcp::list_tools(catalog, revision, naming(matches))?;
    // Always indented: the file is read and compared by people, and must not depend on where it is written to.
    let text = serde_json::to_string_pretty(&listed).map_err(std::io::Error::from)?;
    match matches.get_one::<PathBuf>("output") {
        Some(path) if path != Path::new("-") => {
            std::fs::write(path, text + "\n").map_err(|error| Failure::Own {
                exit: Exit::Failed,
                kind: "io",
                message: format!("cannot write {}: {error}", path.display()),
            })?;
        }
        _ => style::write_line(&text)?,
    }
    Ok(Exit::Success)
}
