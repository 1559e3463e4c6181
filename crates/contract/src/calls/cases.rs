//! Kept cases: arguments that failed once, one call on each line of a file.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolkit::call::BoxError;
use toolkit::{Catalog, Tool};
use toolkit_runtime::{FileAccess, read_regular_file, replace_file};

use super::report::CallsError;

/// The maximum size of the file.
const MAX_BYTES: u64 = 16 << 20;

/// A call that failed once.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    tool: String,
    arguments: Value,
}

/// The cases of a file, in its order.
pub(super) struct Cases {
    path: Option<PathBuf>,
    cases: Vec<Case>,
    is_changed: bool,
}

impl Cases {
    /// Reads the file, which may not exist yet.
    pub(super) fn read(path: Option<PathBuf>) -> Result<Self, CallsError> {
        let mut cases = Vec::new();
        if let Some(path) = &path {
            let text = match read_regular_file(path, MAX_BYTES) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
                read => read.map_err(|error| unusable(path, error))?,
            };
            for (idx, line) in text.split(|byte| *byte == b'\n').enumerate() {
                if line.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                let case = serde_json::from_slice(line).map_err(|error| {
                    let expected = r#"expected `{"tool": "ID", "arguments": {…}}`"#;
                    let path = path.display();
                    CallsError::new(format!("{path}: line {}: {error}; {expected}", idx + 1), error)
                })?;
                cases.push(case);
            }
        }
        Ok(Self { path, cases, is_changed: false })
    }

    /// Returns the arguments that are kept for a tool.
    pub(super) fn of<'c>(&'c self, catalog: &'c Catalog, tool: &'c Tool) -> impl Iterator<Item = Value> + 'c {
        let is_of = |case: &&Case| catalog.get(&case.tool).is_some_and(|other| other.id() == tool.id());
        self.cases.iter().filter(is_of).map(|case| case.arguments.clone())
    }

    /// Keeps arguments of a tool.
    pub(super) fn keep(&mut self, tool: String, arguments: &Value) {
        let case = Case { tool, arguments: arguments.clone() };
        if !self.cases.contains(&case) {
            self.cases.push(case);
            self.is_changed = true;
        }
    }

    /// Writes the file if there are new cases.
    pub(super) fn write(&self) -> Result<(), CallsError> {
        let Some(path) = self.path.as_deref().filter(|_| self.is_changed) else {
            return Ok(());
        };
        let mut text = String::new();
        for case in &self.cases {
            text += &serde_json::to_string(case).map_err(|error| unusable(path, error))?;
            text.push('\n');
        }
        replace_file(path, FileAccess::Default, text.as_bytes()).map_err(|error| unusable(path, error))
    }
}

fn unusable(path: &Path, error: impl Into<BoxError>) -> CallsError {
    let error = error.into();
    CallsError::new(format!("{}: {error}", path.display()), error)
}
