//! The same tools with tools-rs, which does not support enums and takes strings instead.
//!
//! Only serde's checks are made.

use serde::Deserialize;
use serde_json::Value;
use tools_rs::{FunctionCall, ToolCollection, ToolSchema, tool};

use crate::tools::{self, Bill, Bills, Hits, Search, Sort, Sum};

/// Adds two integers.
#[tool]
async fn add(a: i64, b: i64) -> Sum {
    tools::add(a, b)
}

/// Searches.
#[tool]
#[expect(clippy::too_many_arguments, reason = "its parameters are its arguments")]
async fn search(
    query: String,
    limit: u32,
    offset: Option<u32>,
    sort: String,
    lang: Option<String>,
    tags: Vec<String>,
    min_score: Option<f64>,
    exact: bool,
) -> Hits {
    let sort = match sort.as_str() {
        "newest" => Sort::Newest,
        "oldest" => Sort::Oldest,
        "title" => Sort::Title,
        _ => Sort::Relevance,
    };
    tools::search(Search { query, limit, offset, sort, lang, tags, min_score, exact })
}

#[derive(Deserialize, ToolSchema)]
#[expect(dead_code, reason = "as many fields are read as the other rows read")]
struct Row {
    id: u64,
    name: String,
    email: String,
    amount: f64,
    status: String,
    note: Option<String>,
}

/// Bills customers.
#[tool]
async fn batch(rows: Vec<Row>) -> Bills {
    let bill = |row: Row| {
        let due = if row.status == "Paid" { 0.0 } else { row.amount };
        Bill { id: row.id, name: row.name, due }
    };
    Bills { bills: rows.into_iter().map(bill).collect() }
}

pub(crate) async fn call(tools: &ToolCollection, name: &str, arguments: &[u8]) -> Vec<u8> {
    let arguments: Value = serde_json::from_slice(arguments).expect("valid");
    // No id of its own: creating one costs as much as the call.
    let call = FunctionCall { id: None, name: name.to_owned(), arguments };
    let response = tools.call(call).await.expect("it succeeds");
    serde_json::to_vec(&response.result).expect("a result is JSON")
}
