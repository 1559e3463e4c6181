//! The journal of the process that makes the calls: one line for each call before it is made, and for each tool after its calls.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolkit_contract::calls::CallReport;

/// The environment variable with the path of the journal, for the process that makes the calls.
pub(super) const JOURNAL: &str = "TOOLKIT_CALLS_JOURNAL";

/// Returns the path of the journal if this process makes the calls.
pub(super) fn inherited() -> Option<PathBuf> {
    std::env::var_os(JOURNAL).map(PathBuf::from)
}

/// A line of a journal.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    /// A call that is about to be made.
    Call { tool: String, arguments: Value },
    /// All calls of a tool were made.
    Tool { tool: String, report: CallReport },
    /// The calls of all tools were made.
    End,
}

/// A journal that is written.
pub(super) struct JournalWriter(File);

impl JournalWriter {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(OpenOptions::new().append(true).open(path)?))
    }

    pub(super) fn write(&self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        (&self.0).write_all(&text)
    }
}

/// A journal that is read while it is written.
pub(super) struct JournalReader {
    file: BufReader<File>,
    /// The start of a line whose end is not written yet.
    begun: Vec<u8>,
}

impl JournalReader {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: BufReader::new(File::open(path)?), begun: Vec::new() })
    }

    /// Returns the next line, or `None` if it is not written yet.
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        self.file.read_until(b'\n', &mut self.begun)?;
        if !self.begun.ends_with(b"\n") {
            return Ok(None);
        }
        let line = serde_json::from_slice(&self.begun)?;
        self.begun.clear();
        Ok(Some(line))
    }
}
