//! Seventh lesson: a small query language made of enums.
//!
//! An internally tagged enum is a choice of objects, each with its own fields: sources, conditions, sort orders. A
//! model composes them, the schema rejects meaningless combinations, and `match` covers all of them.

mod condition;
mod query;
mod source;

use csv::StringRecord;
use schemars::JsonSchema;
use serde::Serialize;
use toolkit::{ToolError, tool};

pub use self::condition::Condition;
pub use self::query::{Order, QueryArgs, QueryResult, query_csv};
pub use self::source::{Delimiter, Source};
use self::source::{Table, number};
use crate::root::Root;

/// Type of the cells in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ColumnType {
    /// All cells are empty.
    Empty,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Number,
    /// `true` and `false`.
    Boolean,
    /// Dates, as in `2024-05-06`.
    Date,
    /// Anything else.
    Text,
}

/// A column and statistics of its cells.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Column {
    /// Name of the column.
    pub name: String,
    /// Type of the cells.
    pub guessed_type: ColumnType,
    /// Number of empty cells.
    pub empty: usize,
    /// Number of distinct values, without empty cells.
    pub distinct: usize,
    /// The smallest value, compared as numbers where possible and as text otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<String>,
    /// The largest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<String>,
}

/// Statistics of a table.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TableDescription {
    /// Number of rows, without the header.
    pub rows: usize,
    /// The columns, in table order.
    pub columns: Vec<Column>,
}

/// Describes the columns of a CSV table: types, extremes, and number of empty cells.
#[tool(
    namespace = "csv",
    version = "1.0.0",
    category = "data",
    read_only,
    idempotent,
    open_world = false,
    blocking,
    examples = [r#"{"source": {"text": "city,people\nLima,10092000\nCusco,428450"}}"#]
)]
pub fn describe_csv(
    /// The table; its first row contains the column names.
    source: Source,
    /// The separator between cells.
    #[serde(default)]
    delimiter: Delimiter,
    root: &Root,
) -> Result<TableDescription, ToolError> {
    let table = Table::read(source, delimiter, root)?;
    let columns = table.headers.iter().enumerate();
    Ok(TableDescription {
        rows: table.rows.len(),
        columns: columns.map(|(idx, name)| describe(name, idx, &table.rows)).collect(),
    })
}

fn describe(name: &str, idx: usize, rows: &[StringRecord]) -> Column {
    let mut cells: Vec<&str> = rows.iter().map(|row| row[idx].trim()).filter(|cell| !cell.is_empty()).collect();
    let all = |fits: fn(&str) -> bool| cells.iter().all(|cell| fits(cell));
    let guessed_type = match () {
        () if cells.is_empty() => ColumnType::Empty,
        () if all(|cell| cell.parse::<i64>().is_ok()) => ColumnType::Integer,
        () if all(|cell| number(cell).is_some()) => ColumnType::Number,
        () if all(|cell| matches!(cell, "true" | "false")) => ColumnType::Boolean,
        () if all(|cell| cell.parse::<jiff::civil::Date>().is_ok()) => ColumnType::Date,
        () => ColumnType::Text,
    };
    let n_cells = cells.len();
    let by_number = matches!(guessed_type, ColumnType::Integer | ColumnType::Number);
    cells.sort_by(|a, b| compare(a, b, by_number));
    let (min, max) = (cells.first().map(|&cell| cell.to_owned()), cells.last().map(|&cell| cell.to_owned()));
    cells.dedup();
    Column { name: name.to_owned(), guessed_type, empty: rows.len() - n_cells, distinct: cells.len(), min, max }
}

/// Compares by number where requested and possible, with numbers before text.
fn compare(a: &str, b: &str, by_number: bool) -> std::cmp::Ordering {
    let numbers = if by_number { (number(a), number(b)) } else { (None, None) };
    match numbers {
        (Some(x), Some(y)) => x.total_cmp(&y).then_with(|| a.cmp(b)),
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}
