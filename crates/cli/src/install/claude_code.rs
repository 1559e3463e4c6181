//! The commands of Claude Code, which alone changes its configuration of the user.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Map, Value};

use super::entry::Entry;
use crate::style::printable;

/// The program of Claude Code.
const PROGRAM: &str = "claude";

/// A command of Claude Code.
pub(super) struct ClaudeCommand(Vec<String>);

impl ClaudeCommand {
    /// Creates the command that adds a server for the user. The entry contains no secret.
    pub(super) fn add(server: &str, entry: &Entry) -> Self {
        let fields = entry.fields.iter().map(|(field, value)| ((*field).to_owned(), value.clone()));
        let json = Value::Object(fields.collect::<Map<_, _>>()).to_string();
        Self(["mcp", "add-json", "--scope", "user", server, &json].map(str::to_owned).to_vec())
    }

    /// Creates the command that removes a server of the user.
    pub(super) fn remove(server: &str) -> Self {
        Self(["mcp", "remove", "--scope", "user", server].map(str::to_owned).to_vec())
    }

    /// Returns the command for a shell.
    pub(super) fn line(&self) -> String {
        let quoted = |word: &String| match word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:".contains(c)) {
            true => word.clone(),
            false => format!("'{}'", word.replace('\'', r"'\''")),
        };
        let words: Vec<String> = self.0.iter().map(quoted).collect();
        format!("{PROGRAM} {}", words.join(" "))
    }

    /// Runs the command, whose output goes to stderr.
    ///
    /// # Errors
    ///
    /// Returns an error if Claude Code is not installed or fails.
    pub(super) fn run(&self) -> Result<(), String> {
        let output = Command::new(PROGRAM).args(&self.0).output();
        let output = output.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                format!("`{PROGRAM}` is not installed here; where it is, run: {}", self.line())
            }
            _ => format!("cannot run `{PROGRAM}`: {error}"),
        })?;
        let mut err = anstream::stderr();
        for text in [output.stdout, output.stderr] {
            // Errors while writing to stderr cannot be reported.
            let _ = write!(err, "{}", printable(&String::from_utf8_lossy(&text)));
        }
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("`{PROGRAM}` failed with {}", output.status)),
        }
    }
}

/// Returns the file in which Claude Code stores the servers of the user.
pub(super) fn file(
    variable: &dyn Fn(&str) -> Option<PathBuf>,
    home: Result<PathBuf, String>,
) -> Result<PathBuf, String> {
    match variable("CLAUDE_CONFIG_DIR") {
        Some(directory) => Ok(directory.join(".claude.json")),
        None => Ok(home?.join(".claude.json")),
    }
}
