//! `serve --http --server-card FILE`: how clients find the server.

#[cfg(feature = "http")]
use clap::ArgMatches;
use clap::{Arg, value_parser};

use crate::options::{self, unless};

/// Returns the option, which is hidden without the feature `http`.
pub(super) fn option() -> Arg {
    let option = options::option("server-card", "FILE")
        .value_parser(value_parser!(std::path::PathBuf))
        .requires("http")
        .help("Publish a server card, from the FILE of `bundle server-json`");
    unless(cfg!(feature = "http"), "http", option)
}

/// Reads the card of the file, if there is one.
///
/// # Errors
///
/// Returns an error if the file cannot be read, is not of this version, or lacks what a card needs.
#[cfg(feature = "http")]
pub(super) fn read(
    matches: &ArgMatches,
    version: &str,
) -> Result<Option<toolkit_mcp_server::ServerCard>, crate::error::CommandError> {
    use toolkit_mcp_server::ServerCard;
    use toolkit_runtime::read_regular_file;

    use crate::error::CommandError;
    use crate::options::MAX_MANIFEST_BYTES;

    let Some(path) = matches.get_one::<std::path::PathBuf>("server-card") else { return Ok(None) };
    let wrong = |reason: &dyn std::fmt::Display| {
        CommandError::failed("invalid_server_card", format!("--server-card {}: {reason}", path.display()))
    };
    let text = read_regular_file(path, MAX_MANIFEST_BYTES).map_err(|error| wrong(&error))?;
    let entry: serde_json::Value = serde_json::from_slice(&text).map_err(|error| wrong(&error))?;
    let card = ServerCard::from_server_json(&entry).map_err(|error| wrong(&error))?;
    match entry["version"].as_str() {
        Some(of_file) if of_file != version => Err(wrong(&format_args!(
            "the file is about version {of_file}, and this program has version {version}; `bundle server-json` writes it again"
        ))),
        _ => Ok(Some(card)),
    }
}
