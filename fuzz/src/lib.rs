//! Tools with all kinds of arguments, to call with random bytes.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolkit::{Catalog, catalog, tool};

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Metre,
    Mile,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Leg {
    unit: Unit,
    #[schemars(range(min = 0, max = 9))]
    length: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Route {
    #[schemars(length(max = 3))]
    legs: Vec<Leg>,
    #[serde(default)]
    tags: BTreeSet<String>,
    #[serde(default)]
    prices: BTreeMap<String, f64>,
    back: Option<Box<Route>>,
}

/// Nested structs.
#[tool]
fn nested(route: Route) -> Route {
    route
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Shape {
    Circle { radius: f64 },
    Square { side: u8 },
    Nothing,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Choice {
    Plain,
    One(u8),
    Two(u8, bool),
    Named { x: i64 },
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Text(String),
    Count(u16),
    Nothing,
}

/// Enums with internal, external and adjacent tags.
#[tool]
fn tagged(shape: Shape, choice: Choice, beside: Option<Adjacent>) -> (Shape, Choice, Option<Adjacent>) {
    (shape, choice, beside)
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Flag(bool),
    Number(i16),
    Name { name: String },
    List(Vec<Either>),
}

/// Untagged enums.
#[tool]
fn untagged(#[arg] either: Either, #[serde(default)] others: Vec<Either>) -> (Either, Vec<Either>) {
    (either, others)
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Page {
    limit: Option<u8>,
    cursor: Option<char>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Query {
    #[serde(alias = "q")]
    text: String,
    #[serde(flatten)]
    page: Page,
    #[serde(flatten)]
    rest: BTreeMap<String, u32>,
}

/// Flattened structs.
#[tool]
fn flattened(query: Query) -> Query {
    query
}

/// Every width of number, and any JSON.
#[tool]
fn scalars(
    a: i8,
    b: u64,
    c: Option<i128>,
    d: Option<f32>,
    e: (u8, bool),
    #[schemars(regex(pattern = r"^[a-c]+$"), length(max = 5))] f: String,
    g: Option<Value>,
) -> (i8, u64, String) {
    let _ = (c, d, e, g);
    (a, b, f)
}

/// One value of each kind.
#[tool]
fn anything(#[arg] value: Value) -> Value {
    value
}

/// Returns the catalog of the tools.
///
/// # Panics
///
/// Never panics, since the list is sound.
#[must_use]
pub fn tools() -> Catalog {
    catalog![nested, tagged, untagged, flattened, scalars, anything].expect("the list has no tool twice")
}
