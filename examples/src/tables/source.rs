//! Seventh lesson, continued: a choice of sources.

use csv::StringRecord;
use schemars::JsonSchema;
use serde::Deserialize;
use toolkit::ToolError;

use crate::root::{RelativePath, Root, RootError};

/// The maximum size of a table file, in bytes.
const MAX_TABLE: u64 = 10_000_000;

/// The maximum number of rows and columns of a table: short rows take more memory than their text.
const MAX_ROWS: usize = 250_000;
const MAX_COLUMNS: usize = 1000;

/// Source of a table.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The CSV text itself; at most a million characters.
    Text(#[schemars(length(max = 1_000_000))] String),
    /// A file below the root; at most 10 MB, 250,000 rows and 1000 columns.
    File(RelativePath),
}

/// Separator between the cells of a row.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delimiter {
    /// `,`
    #[default]
    Comma,
    /// `;`
    Semicolon,
    /// A tab.
    Tab,
    /// `|`
    Pipe,
}

pub(super) struct Table {
    pub(super) headers: Vec<String>,
    pub(super) rows: Vec<StringRecord>,
}

impl Table {
    pub(super) fn read(source: Source, delimiter: Delimiter, root: &Root) -> Result<Self, ToolError> {
        let text = match source {
            Source::Text(text) => text,
            Source::File(path) => root.read_text(&path, MAX_TABLE).map_err(|error| match error {
                RootError::TooLarge { .. } => ToolError::failed(format!("{error}; split the table")),
                error => error.into(),
            })?,
        };
        let delimiter = match delimiter {
            Delimiter::Comma => b',',
            Delimiter::Semicolon => b';',
            Delimiter::Tab => b'\t',
            Delimiter::Pipe => b'|',
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        // The reader takes 16 bytes for each cell, so a row of ten million empty cells is rejected before.
        if is_too_wide(text, delimiter) {
            return Err(ToolError::failed(format!("the table has more than {MAX_COLUMNS} columns; split it")));
        }
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes());
        let wrong = |error: csv::Error| ToolError::failed(format!("the table cannot be read: {error}"));
        let headers: Vec<String> = reader.headers().map_err(wrong)?.iter().map(|name| name.trim().to_owned()).collect();
        if headers.is_empty() {
            return Err(ToolError::failed("the table is empty; its first row names the columns"));
        }
        let rows = reader.records().take(MAX_ROWS + 1).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        if rows.len() > MAX_ROWS {
            return Err(ToolError::failed(format!("the table has more than {MAX_ROWS} rows; split it")));
        }
        Ok(Self { headers, rows })
    }

    pub(super) fn column(&self, name: &str) -> Result<usize, ToolError> {
        self.headers.iter().position(|header| header == name).ok_or_else(|| {
            let short = |name: &str| name.chars().take(60).collect::<String>();
            let names: Vec<String> = self.headers.iter().take(20).map(|name| short(name)).collect();
            let more = if self.headers.len() > names.len() { ", and more" } else { "" };
            let (name, names) = (short(name), names.join("`, `"));
            ToolError::failed(format!("there is no column `{name}`; there are `{names}`{more}"))
        })
    }
}

/// Returns true if a row has more cells than the maximum number of columns.
fn is_too_wide(text: &str, delimiter: u8) -> bool {
    // A quote opens a cell only at its start; two quotes inside close and reopen it.
    let (mut n_cells, mut is_start, mut is_quoted) = (1, true, false);
    text.bytes().any(|byte| {
        match byte {
            b'"' if is_quoted || is_start => is_quoted = !is_quoted,
            b'\n' | b'\r' if !is_quoted => n_cells = 1,
            _ if byte == delimiter && !is_quoted => n_cells += 1,
            _ => {}
        }
        // A quote directly after a closing quote reopens the same cell.
        is_start = !is_quoted && (byte == delimiter || matches!(byte, b'\n' | b'\r' | b'"'));
        n_cells > MAX_COLUMNS
    })
}

pub(super) fn number(cell: &str) -> Option<f64> {
    cell.trim().parse().ok().filter(|number: &f64| number.is_finite())
}
