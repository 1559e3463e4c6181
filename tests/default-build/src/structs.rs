//! Argument structs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::tool;

#[derive(Deserialize, JsonSchema)]
struct Query {
    /// Text to look for.
    #[serde(alias = "q")]
    text: String,
    #[serde(default = "ten", alias = "max")]
    limit: usize,
    #[serde(alias = "in")]
    scope: Option<Scope>,
    #[serde(default)]
    more: Vec<Scope>,
}

fn ten() -> usize {
    10
}

#[derive(Deserialize, JsonSchema)]
struct Scope {
    #[serde(alias = "dir")]
    folder: Option<String>,
    #[serde(default, alias = "deep")]
    recursive: bool,
    inner: Option<Box<Scope>>,
}

/// Finds with an argument struct.
#[tool(namespace = "structs")]
fn find(query: Query) -> usize {
    let depth = |scope: &Scope| scope.inner.as_ref().map_or(1, |inner| 1 + usize::from(inner.recursive));
    query.text.len()
        + query.limit
        + query.scope.iter().chain(&query.more).map(depth).sum::<usize>()
        + query.scope.and_then(|scope| scope.folder).map_or(0, |folder| folder.len())
}

/// Finds with a named struct.
#[tool(namespace = "structs")]
fn find_named(#[arg] query: Query, exact: bool) -> usize {
    query.text.len() + usize::from(exact)
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Page {
    number: u32,
    #[serde(default, alias = "per_page")]
    size: u32,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Listing {
    name: String,
    #[serde(flatten)]
    page: Page,
}

/// Lists with a flattened struct.
#[tool(namespace = "structs")]
fn flattened(listing: Listing) -> Listing {
    listing
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Strict {
    name: String,
    page: Page,
    #[serde(default)]
    words: Words,
}

#[derive(Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Words {
    #[serde(default)]
    first_word: Option<String>,
}

/// Denies unknown fields.
#[tool(namespace = "structs")]
fn strict(strict: Strict) -> Strict {
    strict
}

/// Takes arguments of any name.
#[tool(namespace = "structs")]
fn any_name(#[serde(flatten)] others: BTreeMap<String, i64>) -> i64 {
    others.values().sum()
}

#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "u8")]
struct Even(u8);

impl TryFrom<u8> for Even {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        if number % 2 == 0 { Ok(Self(number)) } else { Err(format!("{number} is odd")) }
    }
}

/// Takes a converted type.
#[tool(namespace = "structs")]
fn converted(even: Even, with: Option<Even>) -> u8 {
    even.0 + with.map_or(0, |with| with.0)
}
