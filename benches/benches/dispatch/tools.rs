//! Three workloads: tiny, medium with many rules, and large with few rules.

// rust-mcp-sdk requires `Debug` and its own schema derive for arguments.
#[cfg(feature = "peers")]
use rust_mcp_sdk::macros::JsonSchema as SdkSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[cfg_attr(feature = "peers", derive(SdkSchema))]
pub(crate) struct Add {
    pub(crate) a: i64,
    pub(crate) b: i64,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Sum {
    sum: i64,
}

pub(crate) const ADD: &[u8] = br#"{"a":17,"b":25}"#;

/// Adds two integers.
#[tool]
pub(crate) fn add(a: i64, b: i64) -> Sum {
    Sum { sum: a + b }
}

/// Adds two integers, asynchronously.
#[tool]
pub(crate) async fn add_async(a: i64, b: i64) -> Sum {
    add(a, b)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[cfg_attr(feature = "peers", derive(SdkSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    #[schemars(length(min = 1, max = 200))]
    pub(crate) query: String,
    #[schemars(range(min = 1, max = 100))]
    pub(crate) limit: u32,
    pub(crate) offset: Option<u32>,
    pub(crate) sort: Sort,
    #[schemars(regex(pattern = r"^[a-z]{2}(-[A-Z]{2})?$"))]
    pub(crate) lang: Option<String>,
    #[schemars(length(max = 10), inner(length(min = 1, max = 40)))]
    pub(crate) tags: Vec<String>,
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) min_score: Option<f64>,
    pub(crate) exact: bool,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(feature = "peers", derive(SdkSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Sort {
    Relevance,
    Newest,
    Oldest,
    Title,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Hits {
    total: u32,
    sort: Sort,
    #[schemars(length(max = 100))]
    hits: Vec<Hit>,
}

#[derive(Serialize, JsonSchema)]
struct Hit {
    id: u64,
    #[schemars(length(max = 300))]
    title: String,
    #[schemars(range(min = 0.0, max = 1.0))]
    score: f64,
    lang: Option<String>,
}

pub(crate) const SEARCH: &[u8] = br#"{"query":"rust json schema","limit":20,"offset":40,"sort":"newest","lang":"en-GB","tags":["library","serde","validation"],"min_score":0.25,"exact":false}"#;

/// Arguments with one violation.
pub(crate) const REFUSED_ONCE: &[u8] = br#"{"query":"rust json schema","limit":20,"offset":40,"sort":"newest","lang":"en-GB","tags":["library","serde","validation"],"min_score":7.5,"exact":false}"#;

/// Arguments with four violations.
pub(crate) const REFUSED_FOUR_TIMES: &[u8] = br#"{"query":"","limit":2000,"offset":40,"sort":"best","lang":"en-GB","tags":["library","serde","validation"],"min_score":7.5,"exact":false}"#;

/// Arguments with nine violations.
pub(crate) const REFUSED: &[u8] = br#"{"query":"","limit":2000,"offset":-1,"sort":"best","lang":"english","tags":["","serde",7],"min_score":7.5,"exact":false,"extra":1}"#;

/// Searches.
#[tool]
pub(crate) fn search(args: Search) -> Hits {
    let base = args.min_score.unwrap_or(0.5);
    let hit = |n: u64| Hit {
        id: n + u64::from(args.offset.unwrap_or(0)) + u64::from(args.exact),
        title: format!("{} {}", args.query, args.tags.len()),
        score: base + n as f64 / 8.0,
        lang: args.lang.clone(),
    };
    Hits { total: args.limit, sort: args.sort, hits: (0..3).map(hit).collect() }
}

/// Searches, asynchronously.
#[tool]
pub(crate) async fn search_async(args: Search) -> Hits {
    search(args)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[cfg_attr(feature = "peers", derive(SdkSchema))]
pub(crate) struct Batch {
    #[schemars(length(max = 1000))]
    pub(crate) rows: Vec<Row>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(feature = "peers", derive(SdkSchema))]
pub(crate) struct Row {
    id: u64,
    #[schemars(length(min = 1, max = 80))]
    name: String,
    #[schemars(length(max = 120))]
    email: String,
    #[schemars(range(min = 0.0))]
    amount: f64,
    status: Status,
    #[schemars(length(max = 200))]
    note: Option<String>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(feature = "peers", derive(SdkSchema))]
enum Status {
    Open,
    Paid,
    Late,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Bills {
    #[schemars(length(max = 1000))]
    pub(crate) bills: Vec<Bill>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Bill {
    pub(crate) id: u64,
    #[schemars(length(max = 80))]
    pub(crate) name: String,
    #[schemars(range(min = 0.0))]
    pub(crate) due: f64,
}

/// Bills customers.
#[tool]
pub(crate) fn batch(args: Batch) -> Bills {
    let bill = |row: Row| {
        let due = if let Status::Paid = row.status { 0.0 } else { row.amount };
        Bill { id: row.id, name: row.name, due }
    };
    Bills { bills: args.rows.into_iter().map(bill).collect() }
}

/// Bills customers, asynchronously.
#[tool]
pub(crate) async fn batch_async(args: Batch) -> Bills {
    batch(args)
}

/// Arguments of `batch` with that number of rows.
pub(crate) fn rows(n_rows: u64) -> Vec<u8> {
    let row = |n: u64| Row {
        id: n,
        name: format!("Customer number {n}"),
        email: format!("customer{n}@example.com"),
        amount: n as f64 * 1.25,
        status: [Status::Open, Status::Paid, Status::Late].into_iter().nth((n % 3) as usize).expect("there are three"),
        note: n.is_multiple_of(4).then(|| "please call back in the afternoon".to_owned()),
    };
    #[derive(Serialize)]
    struct Sent {
        rows: Vec<Row>,
    }
    serde_json::to_vec(&Sent { rows: (0..n_rows).map(row).collect() }).expect("rows are JSON")
}
