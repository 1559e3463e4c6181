//! `diff OLD NEW`: compares two manifests or locks. The changes are written as text, JSON or SARIF.

use std::io::{self, Write};

use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};
use toolkit_contract::{Change, Comparison, Lock, Verdict};

use crate::error::{CommandError, Exit};
use crate::options::{MAX_MANIFEST_BYTES, json_switch, read_text, switch};
use crate::report::counted;
use crate::style::{self, printable};

pub(crate) fn command() -> Command {
    let file = |name: &'static str, value: &'static str| {
        Arg::new(name).value_name(value).required(true).help("A manifest (the result of `tools/list`) or a lock")
    };
    Command::new("diff").about("Compare two manifests or locks, and fail if a change breaks callers").args([
        file("old", "OLD"),
        file("new", "NEW"),
        json_switch("Print the changes as JSON"),
        switch("sarif").help("Print the changes as SARIF, for code hosts"),
    ])
}

/// Compares two manifests, or two locks.
pub(crate) fn run(matches: &ArgMatches) -> Result<Exit, CommandError> {
    let path = |name: &str| matches.get_one::<String>(name).map(String::as_str).unwrap_or_default();
    let comparison = read(path("old"))?.compare(&read(path("new"))?);
    write(&comparison, path("new"), matches)?;
    Ok(if comparison.verdict() >= Some(Verdict::Unknown) { Exit::Failed } else { Exit::Success })
}

/// Reads a manifest or a lock.
pub(crate) fn read(path: &str) -> Result<Lock, CommandError> {
    let text = read_text(path.as_ref(), MAX_MANIFEST_BYTES).map_err(|reason| CommandError::failed("io", reason))?;
    Lock::from_json(&text).map_err(|error| unreadable(path, &error))
}

/// Returns the error of a file that cannot be read or written.
pub(crate) fn unreadable(path: &str, error: &dyn std::fmt::Display) -> CommandError {
    CommandError::failed("io", format!("{path}: {error}"))
}

/// Writes the changes to stdout, as text, JSON (`--json`) or SARIF (`--sarif`).
pub(crate) fn write(comparison: &Comparison, path: &str, matches: &ArgMatches) -> io::Result<()> {
    if matches.get_flag("sarif") {
        return style::write_json(&sarif(comparison, path));
    }
    if matches.get_flag("json") {
        return style::write_json(comparison);
    }
    let mut out = anstream::stdout();
    for change in comparison.changes() {
        writeln!(out, "{}", printable(&change.to_string()))?;
    }
    let n_changes = comparison.changes().count();
    let breaking = comparison.changes().filter(|change| change.verdict >= Verdict::Unknown).count();
    writeln!(out, "{}, {breaking} breaking", counted(n_changes, "change"))
}

/// Converts the changes to SARIF 2.1.0.
fn sarif(comparison: &Comparison, path: &str) -> Value {
    let level = |change: &Change| match change.verdict {
        Verdict::Breaking | Verdict::Unknown if change.needs.is_some() => "error",
        Verdict::Breaking | Verdict::Unknown => "warning",
        _ => "note",
    };
    let results: Vec<Value> = comparison
        .changes()
        .map(|change| {
            json!({
                "ruleId": change.verdict.as_str(),
                "level": level(change),
                "message": { "text": change.to_string() },
                "locations": [{
                    "physicalLocation": { "artifactLocation": { "uri": path } },
                    "logicalLocations": [{ "fullyQualifiedName": change.tool }],
                }],
            })
        })
        .collect();
    let rules = ["cosmetic", "additive", "unknown", "breaking"].map(|id| json!({ "id": id }));
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": { "name": "toolkit", "rules": rules } }, "results": results }],
    })
}
