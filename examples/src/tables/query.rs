//! Seventh lesson, continued: an argument struct, for a tool with many arguments.

use csv::StringRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::{Context, ToolError, tool};

use super::condition::Condition;
use super::{Delimiter, Source, Table, compare};
use crate::root::Root;

/// The maximum size of the values that are selected from a table, in bytes.
const MAX_SELECTED: usize = 4_000_000;

/// A sort order.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Order {
    /// The column; numbers sort as numbers, before all texts.
    pub column: String,
    /// Sorts the largest value first if true.
    #[serde(default)]
    pub descending: bool,
}

/// A query of a table.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct QueryArgs {
    /// The table; its first row contains the column names.
    pub source: Source,
    /// The separator between cells.
    #[serde(default)]
    pub delimiter: Delimiter,
    /// The columns to return, in this order; all by default.
    #[schemars(length(min = 1, max = 200))]
    pub select: Option<Vec<String>>,
    /// Conditions that a row must match, all of them.
    #[schemars(length(max = 20))]
    #[serde(default, rename = "where")]
    pub conditions: Vec<Condition>,
    /// The sort order; table order by default.
    pub order_by: Option<Order>,
    /// The maximum number of rows to return.
    #[schemars(range(min = 1, max = 1000))]
    #[serde(default = "fifty")]
    pub limit: usize,
}

fn fifty() -> usize {
    50
}

/// The selected rows.
#[derive(Debug, Serialize, JsonSchema)]
pub struct QueryResult {
    /// The column names.
    pub columns: Vec<String>,
    /// The rows, each with one cell for each column.
    pub rows: Vec<Vec<String>>,
    /// Number of rows that match the conditions.
    pub matched: usize,
    /// Number of rows in the table.
    pub total: usize,
}

/// Selects columns and rows of a CSV table.
#[tool(
    namespace = "csv",
    version = "1.0.0",
    category = "data",
    tags = ["filter"],
    read_only,
    idempotent,
    open_world = false,
    blocking,
    timeout = "30s",
    examples = [r#"{
        "source": {"text": "city,people\nLima,10092000\nCusco,428450"},
        "where": [{"op": "between", "column": "people", "least": 1000000}],
        "order_by": {"column": "people", "descending": true}
    }"#]
)]
pub fn query_csv(args: QueryArgs, ctx: &Context, root: &Root) -> Result<QueryResult, ToolError> {
    let QueryArgs { source, delimiter, select, conditions, order_by, limit } = args;
    let table = Table::read(source, delimiter, root)?;
    let columns = select.unwrap_or_else(|| table.headers.clone());
    let picked = columns.iter().map(|name| table.column(name)).collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::new();
    if conditions.iter().map(Condition::count).sum::<usize>() > 100 {
        let message = "there are more than 100 conditions, counted with those inside others; use fewer";
        return Err(message.into());
    }
    let conditions = conditions.into_iter().map(|condition| condition.prepare(&table));
    let conditions = conditions.collect::<Result<Vec<_>, _>>()?;
    for (idx, row) in table.rows.iter().enumerate() {
        if idx % 1000 == 0 && ctx.is_cancelled() {
            return Err("the query was cancelled".into());
        }
        if conditions.iter().all(|condition| condition.holds(row)) {
            rows.push(row);
        }
    }
    if let Some(order) = order_by {
        let idx = table.column(&order.column)?;
        rows.sort_by(|a, b| {
            let ascending = compare(a[idx].trim(), b[idx].trim(), true);
            if order.descending { ascending.reverse() } else { ascending }
        });
    }
    // One column can be selected many times.
    let n_bytes = |row: &&StringRecord| picked.iter().map(|&idx| row[idx].len() + 8).sum::<usize>();
    let selected = rows.iter().take(limit).map(n_bytes).sum::<usize>() + columns.iter().map(String::len).sum::<usize>();
    if selected > MAX_SELECTED {
        return Err(ToolError::failed(format!(
            "the selected cells have more than {MAX_SELECTED} bytes together; select fewer columns, or set `limit`"
        )));
    }
    let cells = |row: &&StringRecord| picked.iter().map(|&idx| row[idx].to_owned()).collect();
    Ok(QueryResult {
        rows: rows.iter().take(limit).map(cells).collect(),
        matched: rows.len(),
        total: table.rows.len(),
        columns,
    })
}
