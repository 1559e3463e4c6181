//! Seventh lesson, continued: an argument struct, for a tool with more arguments than a function likes to have.

use csv::StringRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::{Context, ToolError, tool};

use super::condition::Condition;
use super::{Delimiter, Source, Table, compare};
use crate::root::Root;

/// The most that is selected from a table, in bytes.
const MAX_SELECTED: usize = 4_000_000;

/// By which column to sort.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Order {
    /// The column; numbers sort as numbers, before all texts.
    pub column: String,
    /// Whether the largest comes first.
    #[serde(default)]
    pub descending: bool,
}

/// A question to a table.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct QueryArgs {
    /// The table; its first row names the columns.
    pub source: Source,
    /// What stands between the cells.
    #[serde(default)]
    pub delimiter: Delimiter,
    /// The columns to give back, in this order; all unless given.
    #[schemars(length(min = 1, max = 200))]
    pub select: Option<Vec<String>>,
    /// Conditions that a row must all fulfil.
    #[schemars(length(max = 20))]
    #[serde(default, rename = "where")]
    pub conditions: Vec<Condition>,
    /// How to sort; as in the table unless given.
    pub order_by: Option<Order>,
    /// The most rows to give back.
    #[schemars(range(min = 1, max = 1000))]
    #[serde(default = "fifty")]
    pub limit: usize,
}

fn fifty() -> usize {
    50
}

/// The rows that were asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct QueryResult {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, each with one cell per column.
    pub rows: Vec<Vec<String>>,
    /// How many rows fulfil the conditions.
    pub matched: usize,
    /// How many rows the table has.
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
