//! Seventh lesson, continued: a choice of sources.

use csv::StringRecord;
use schemars::JsonSchema;
use serde::Deserialize;
use toolkit::ToolError;

use crate::root::{Refusal, RelativePath, Root};

/// The largest table that is read from a file, in bytes.
const MAX_TABLE: u64 = 10_000_000;

/// Where a table comes from.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The CSV text itself; at most a million characters.
    Text(#[schemars(length(max = 1_000_000))] String),
    /// A file below the root; at most 10 MB.
    File(RelativePath),
}

/// What stands between the cells of a row.
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
            Source::File(path) => root.read_text(&path, MAX_TABLE).map_err(|refusal| match refusal {
                Refusal::TooLarge { .. } => ToolError::failed(format!("{refusal}; split the table")),
                refusal => refusal.into(),
            })?,
        };
        let delimiter = match delimiter {
            Delimiter::Comma => b',',
            Delimiter::Semicolon => b';',
            Delimiter::Tab => b'\t',
            Delimiter::Pipe => b'|',
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes());
        let wrong = |error: csv::Error| ToolError::failed(format!("the table cannot be read: {error}"));
        let headers: Vec<String> = reader.headers().map_err(wrong)?.iter().map(|name| name.trim().to_owned()).collect();
        if headers.is_empty() {
            return Err(ToolError::failed("the table is empty; its first row names the columns"));
        }
        let rows = reader.records().collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        Ok(Self { headers, rows })
    }

    pub(super) fn column(&self, name: &str) -> Result<usize, ToolError> {
        self.headers.iter().position(|header| header == name).ok_or_else(|| {
            let names = self.headers.join("`, `");
            ToolError::failed(format!("there is no column `{name}`; there are `{names}`"))
        })
    }
}

pub(super) fn number(cell: &str) -> Option<f64> {
    cell.trim().parse().ok().filter(|number: &f64| number.is_finite())
}
