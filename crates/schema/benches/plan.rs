//! The cost of validation during deserialization and serialization, relative to serde alone and to a validated tree.
//!
//! The three variants alternate within each round, so that other load on the machine affects them equally. The numbers
//! are medians over the rounds.

use std::hint::black_box;
use std::time::Instant;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit_schema::plan::Plan;

const ROUNDS: usize = 41;

fn main() {
    println!("{:<8} {:>10} {:>15} {:>15}", "", "serde", "plan", "tree + schema");
    measure("add", 20_000, &add_schemas(), br#"{"a":17,"b":25}"#, |add: Add| Sum { sum: add.a + add.b });
    measure("search", 4_000, &search_schemas(), SEARCH, search);
    let rows = serde_json::to_vec(&rows()).expect("rows are JSON");
    measure("rows", 12, &(rows_schema(), rows_schema()), &rows, |rows: Vec<Row>| rows);
}

fn measure<In: DeserializeOwned, Out: Serialize>(
    name: &str,
    calls: u32,
    (input, output): &(Value, Value),
    json: &[u8],
    tool: fn(In) -> Out,
) {
    let plan_in = Plan::compile(input).expect("the input schema has a plan");
    let plan_out = Plan::compile(output).expect("the output schema has a plan");
    let tree_in = jsonschema::validator_for(input).expect("the input schema is valid");
    let tree_out = jsonschema::validator_for(output).expect("the output schema is valid");
    let serde = || {
        let args = serde_json::from_slice(black_box(json)).expect("valid");
        serde_json::to_vec(&tool(args)).expect("valid")
    };
    let plan = || {
        let args = plan_in.decode(black_box(json)).expect("valid");
        let mut out = Vec::with_capacity(128);
        plan_out.encode(&tool(args), &mut out).expect("valid");
        out
    };
    let tree = || {
        let args: Value = serde_json::from_slice(black_box(json)).expect("valid");
        assert!(tree_in.is_valid(&args));
        let result = serde_json::to_value(tool(serde_json::from_value(args).expect("valid")));
        let result = result.expect("valid");
        assert!(tree_out.is_valid(&result));
        serde_json::to_vec(&result).expect("valid")
    };
    assert_eq!(serde(), plan());
    let mut nanos = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        nanos[0].push(time(calls, &serde));
        nanos[1].push(time(calls, &plan));
        nanos[2].push(time(calls, &tree));
    }
    let [serde, plan, tree] = nanos.map(|mut nanos| {
        nanos.sort_by(f64::total_cmp);
        nanos[nanos.len() / 2]
    });
    println!("{name:<8} {serde:>8.0}ns {plan:>8.0}ns {:>4.2} {tree:>8.0}ns {:>4.2}", plan / serde, tree / serde);
}

fn time(calls: u32, call: &impl Fn() -> Vec<u8>) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        black_box(call());
    }
    start.elapsed().as_nanos() as f64 / f64::from(calls)
}

#[derive(Deserialize)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Serialize)]
struct Sum {
    sum: i64,
}

fn add_schemas() -> (Value, Value) {
    let integer = json!({ "type": "integer", "format": "int64" });
    let input = json!({
        "type": "object",
        "properties": { "a": integer, "b": integer },
        "required": ["a", "b"],
        "additionalProperties": false
    });
    let output = json!({ "type": "object", "properties": { "sum": integer }, "required": ["sum"] });
    (input, output)
}

#[derive(Deserialize)]
struct Search {
    query: String,
    lang: Option<String>,
    sort: Sort,
    limit: u32,
    offset: Option<u32>,
    min_score: f64,
    exact: bool,
    tags: Vec<String>,
}

#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Sort {
    Newest,
    Oldest,
    Relevance,
}

#[derive(Serialize)]
struct Hits {
    total: u32,
    sort: Sort,
    hits: Vec<Hit>,
}

#[derive(Serialize)]
struct Hit {
    id: u64,
    title: String,
    score: f64,
    lang: Option<String>,
}

const SEARCH: &[u8] = br#"{"query":"rust json schema","lang":"en","sort":"newest","limit":20,"offset":null,"min_score":0.25,"exact":false,"tags":["library","serde"]}"#;

fn search(args: Search) -> Hits {
    let hit = |n: u64| Hit {
        id: n + u64::from(args.offset.unwrap_or(0)) + u64::from(args.exact),
        title: format!("{} {}", args.query, args.tags.len()),
        score: args.min_score + n as f64 / 8.0,
        lang: args.lang.clone(),
    };
    Hits { total: args.limit, sort: args.sort, hits: (0..3).map(hit).collect() }
}

fn search_schemas() -> (Value, Value) {
    let sort = json!({
        "oneOf": [
            { "type": "string", "enum": ["newest", "oldest"] },
            { "type": "string", "const": "relevance", "description": "Best match first" }
        ]
    });
    let lang = json!({ "type": ["string", "null"], "pattern": "^[a-z]{2}$" });
    let input = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "Sort": sort },
        "properties": {
            "query": { "type": "string", "minLength": 1, "maxLength": 200 },
            "lang": lang,
            "sort": { "$ref": "#/$defs/Sort" },
            "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
            "offset": { "type": ["integer", "null"], "minimum": 0 },
            "min_score": { "type": "number", "minimum": 0.0, "maximum": 1.0 },
            "exact": { "type": "boolean" },
            "tags": { "type": "array", "items": { "type": "string", "maxLength": 40 }, "maxItems": 10 }
        },
        "required": ["query", "sort", "limit", "min_score", "exact", "tags"],
        "additionalProperties": false
    });
    let hit = json!({
        "type": "object",
        "properties": {
            "id": { "type": "integer", "minimum": 0 },
            "title": { "type": "string", "maxLength": 300 },
            "score": { "type": "number", "minimum": 0.0, "maximum": 2.0 },
            "lang": lang
        },
        "required": ["id", "title", "score"]
    });
    let output = json!({
        "type": "object",
        "$defs": { "Hit": hit, "Sort": sort },
        "properties": {
            "total": { "type": "integer", "minimum": 0 },
            "sort": { "$ref": "#/$defs/Sort" },
            "hits": { "type": "array", "items": { "$ref": "#/$defs/Hit" }, "maxItems": 100 }
        },
        "required": ["total", "sort", "hits"]
    });
    (input, output)
}

#[derive(Deserialize, Serialize)]
struct Row {
    id: u64,
    name: String,
    email: String,
    amount: f64,
    status: Status,
    note: Option<String>,
}

#[derive(Deserialize, Serialize)]
enum Status {
    Open,
    Paid,
    Late,
}

fn rows() -> Vec<Row> {
    let row = |n: u64| Row {
        id: n,
        name: format!("Customer number {n}"),
        email: format!("customer{n}@example.com"),
        amount: n as f64 * 1.25,
        status: [Status::Open, Status::Paid, Status::Late].into_iter().nth((n % 3) as usize).expect("there are three"),
        note: n.is_multiple_of(4).then(|| "please call back in the afternoon".to_owned()),
    };
    (0..500).map(row).collect()
}

fn rows_schema() -> Value {
    json!({
        "type": "array",
        "maxItems": 1000,
        "items": {
            "type": "object",
            "properties": {
                "id": { "type": "integer", "minimum": 0 },
                "name": { "type": "string", "minLength": 1, "maxLength": 80 },
                "email": { "type": "string", "maxLength": 120 },
                "amount": { "type": "number", "minimum": 0.0 },
                "status": { "type": "string", "enum": ["Open", "Paid", "Late"] },
                "note": { "type": ["string", "null"], "maxLength": 200 }
            },
            "required": ["id", "name", "email", "amount", "status"],
            "additionalProperties": false
        }
    })
}
