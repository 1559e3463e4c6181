//! Enums of every representation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::tool;

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    /// Degrees Celsius.
    #[serde(alias = "c")]
    Celsius,
    Kelvin,
}

/// Takes a name.
#[tool(namespace = "enums")]
fn unit(unit: Unit, other: Option<Unit>) -> Unit {
    other.unwrap_or(unit)
}

#[derive(Deserialize, Serialize, JsonSchema)]
enum Shape {
    Circle { radius: f64 },
    Line(f64, f64),
    Text(String),
}

/// Takes a variant with data.
#[tool(namespace = "enums")]
fn external(shape: Shape, more: Vec<Shape>) -> usize {
    let _ = shape;
    more.len()
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Filter {
    Equals { column: String, value: String },
    Between { column: String, low: i64, high: i64 },
}

/// Takes an enum as the only input.
#[tool(namespace = "enums")]
fn only_input(filter: Filter) -> Filter {
    filter
}

/// Takes an internally tagged enum.
#[tool(namespace = "enums")]
fn internal(filter: Filter, then: Option<Filter>) -> Filter {
    then.unwrap_or(filter)
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", content = "value")]
enum Setting {
    Text(String),
    Number(i64),
    Nothing,
}

/// Takes an adjacently tagged enum.
#[tool(namespace = "enums")]
fn adjacent(setting: Setting, more: Option<Setting>) -> Setting {
    more.unwrap_or(setting)
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum IdOrName {
    Id(u64),
    Name { name: String },
    Names(Vec<String>),
}

/// Takes an untagged enum.
#[tool(namespace = "enums")]
fn untagged(item: IdOrName, others: Vec<IdOrName>) -> IdOrName {
    let _ = others;
    item
}

#[derive(Deserialize, Serialize, JsonSchema)]
enum Never {}

/// Takes an enum without variants, which is never present.
#[tool(namespace = "enums")]
fn empty(text: String, never: Option<Never>, list: Vec<Never>) -> Option<Never> {
    let _ = (text, list);
    never
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(tag = "auth", rename_all = "lowercase")]
enum Login {
    Token { token: String },
    Password { user: String, password: String },
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Target {
    Host(String),
    File { path: String },
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Job {
    name: String,
    #[serde(flatten)]
    login: Login,
    #[serde(flatten)]
    target: Target,
}

/// Takes two flattened enums.
#[tool(namespace = "enums")]
fn two_flattened(job: Job) -> Job {
    job
}

/// Takes two flattened enums inside.
#[tool(namespace = "enums")]
fn two_flattened_inside(jobs: Vec<Job>, first: Option<Job>) -> Vec<Job> {
    jobs.into_iter().chain(first).collect()
}
