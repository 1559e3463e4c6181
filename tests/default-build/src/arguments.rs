//! Parameters: owned and borrowed, with defaults, and with the attributes of serde and schemars.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::num::{NonZeroI8, NonZeroI32, NonZeroI64, NonZeroI128, NonZeroIsize, NonZeroU16};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::tool;

/// Takes borrowed arguments.
#[tool(namespace = "arguments")]
fn borrowed(text: &str, numbers: &[i32], more: Option<&str>, lists: Option<&[String]>) -> usize {
    text.len() + numbers.len() + more.map_or(0, str::len) + lists.map_or(0, <[String]>::len)
}

/// Takes absent arguments.
#[tool(namespace = "arguments")]
fn defaults(
    /// A count.
    #[arg(default = 3)]
    count: u8,
    #[arg(default)] names: Vec<String>,
    note: Option<String>,
) -> String {
    format!("{count} {names:?} {note:?}")
}

/// Takes limits.
#[tool(namespace = "arguments")]
fn limits(
    #[schemars(range(min = 1, max = 14))] days: u8,
    #[schemars(range(min = 0.5))] share: f64,
    #[schemars(length(min = 2, max = 3))] code: String,
    #[schemars(length(min = 1), inner(length(max = 2)))] codes: Vec<String>,
    #[schemars(contains(pattern = "a&b"))] text: Option<String>,
    #[schemars(required)] note: Option<String>,
) -> String {
    format!("{days} {share} {code} {codes:?} {text:?} {note:?}")
}

/// Takes other names.
#[tool(namespace = "arguments")]
fn aliases(
    #[serde(alias = "q")] query: String,
    #[serde(alias = "max", alias = "top")] limit: Option<u32>,
    #[serde(alias = "lang")]
    #[arg(default)]
    language: String,
    #[serde(rename = "type")] kind: Option<String>,
) -> String {
    format!("{query} {limit:?} {language} {kind:?}")
}

/// Takes signed numbers except zero.
#[tool(namespace = "arguments")]
fn non_zero(
    a: NonZeroI32,
    b: Option<NonZeroI8>,
    c: Vec<NonZeroI64>,
    d: Option<NonZeroIsize>,
    e: Option<NonZeroI128>,
    f: Option<NonZeroU16>,
) -> NonZeroI32 {
    let _ = (b, c, d, e, f);
    a
}

/// Takes numbers of every width.
#[tool(namespace = "arguments")]
fn numbers(a: i8, b: u64, c: f32, d: Option<i128>, e: Option<char>, f: Option<bool>) -> String {
    format!("{a} {b} {c} {d:?} {e:?} {f:?}")
}

/// Takes lists and maps.
#[tool(namespace = "arguments")]
fn collections(
    pair: (String, i32),
    triple: [u8; 3],
    set: BTreeSet<String>,
    by_name: BTreeMap<String, i32>,
    by_number: Option<HashMap<u32, String>>,
    by_signed: Option<BTreeMap<i16, String>>,
    nested: Option<Vec<Vec<Option<f64>>>>,
) -> usize {
    let _ = (pair, triple, by_signed, nested);
    set.len() + by_name.len() + by_number.map_or(0, |map| map.len())
}

/// Takes times and addresses.
#[tool(namespace = "arguments")]
fn standard_types(host: IpAddr, wait: Duration) -> String {
    format!("{host} {wait:?}")
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Code(#[schemars(regex(pattern = "^[A-Z]{2}$"))] String);

/// Takes a newtype.
#[tool(namespace = "arguments")]
fn newtype(code: Code) -> Code {
    code
}

/// Takes one list.
#[tool(namespace = "arguments")]
fn list(items: Vec<u8>) -> usize {
    items.len()
}
