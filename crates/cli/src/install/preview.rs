//! The difference between two versions of a configuration, without the secrets in it.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use jsonc_parser::parse_to_serde_value;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::syntax;
use crate::style::printable;

/// The number of unchanged lines around a change.
const CONTEXT: usize = 2;

/// Writes the changed lines.
pub(super) fn write(out: &mut impl Write, old: &str, new: &str) -> io::Result<()> {
    let secrets = secrets(old);
    let diff = TextDiff::from_lines(old, new);
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        writeln!(out, "{}", hunk.header())?;
        for change in hunk.iter_changes() {
            let (sign, style) = match change.tag() {
                ChangeTag::Delete => ("-", AnsiColor::Red.on_default()),
                ChangeTag::Insert => ("+", AnsiColor::Green.on_default()),
                ChangeTag::Equal => (" ", Style::new()),
            };
            let line = masked(change.value().trim_end_matches(['\r', '\n']), &secrets);
            writeln!(out, "{style}{sign}{}{style:#}", printable(&line))?;
        }
    }
    Ok(())
}

/// Returns the texts of a configuration that may be secrets, in quotes.
fn secrets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Ok(root) = parse_to_serde_value::<Value>(text, &syntax::options()) {
        collect(&root, false, &mut found);
    }
    found
}

/// Collects the texts in `env`, `headers`, `args` and `url` of all servers.
fn collect(value: &Value, is_secret: bool, found: &mut Vec<String>) {
    match value {
        Value::String(text) if is_secret && !text.is_empty() && !text.starts_with("${") => {
            found.push(Value::String(text.clone()).to_string());
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, is_secret, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                let is_secret = is_secret || ["env", "headers", "args", "url"].contains(&&**name);
                collect(value, is_secret, found);
            }
        }
        _ => {}
    }
}

fn masked(line: &str, secrets: &[String]) -> String {
    secrets.iter().fold(line.to_owned(), |line, secret| line.replace(&**secret, "\"…\""))
}
