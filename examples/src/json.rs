//! Fifth lesson: arguments of any shape, and separate results for programs and for models.
//!
//! `serde_json::Value` accepts any JSON. `Structured<T>` returns the data to programs, and a shorter text to the model.

mod diff;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json_path::{JsonPath, PathElement};
use toolkit::schema::Schema;
use toolkit::{ToolError, tool};

pub use self::diff::{Change, JsonDifference, diff_json};

/// The maximum size of the values that are selected from a document, in bytes.
const MAX_SELECTED: usize = 4_000_000;

/// One location in a document, with its value.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Node {
    /// The location as a normalized path, such as `$['a'][0]`.
    pub path: String,
    /// The value at that location.
    pub value: Value,
}

/// The values that a path selects.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Selection {
    /// The locations, up to the limit, in document order.
    pub nodes: Vec<Node>,
    /// The total number of locations.
    pub total: usize,
}

/// Selects parts of a JSON document with a JSONPath (RFC 9535).
#[tool(
    namespace = "json",
    version = "1.0.0",
    tags = ["jsonpath"],
    category = "data",
    read_only,
    idempotent,
    open_world = false,
    blocking,
    timeout = "20s",
    examples = [r#"{"document": {"items": [{"price": 5}, {"price": 20}]}, "path": "$.items[?@.price > 10].price"}"#]
)]
pub fn query_json(
    /// The document.
    document: Value,
    /// The path, such as `$.items[?@.price > 10].name`; at most one `..` and two filters.
    #[schemars(length(min = 1, max = 500), regex(pattern = r"^\$"))]
    path: String,
    /// The maximum number of locations to return.
    #[schemars(range(min = 1, max = 1000))]
    #[serde(default = "hundred")]
    limit: usize,
) -> Result<Selection, ToolError> {
    bounded(&path, &document)?;
    let compiled =
        JsonPath::parse(&path).map_err(|error| ToolError::failed(format!("`{path}` is not a JSONPath: {error}")))?;
    let found = compiled.query_located(&document);
    let (mut nodes, mut n_bytes) = (Vec::new(), 0);
    for node in found.iter().take(limit) {
        // A value is selected once for each selected ancestor, and a long key is part of every path below it.
        n_bytes += node.location().iter().map(path_bytes).sum::<usize>() + bytes(node.node());
        if n_bytes > MAX_SELECTED {
            return Err(ToolError::failed(format!(
                "the selected parts have more than {MAX_SELECTED} bytes together; select smaller parts, or set `limit`"
            )));
        }
        nodes.push(Node { path: node.location().to_string(), value: node.node().clone() });
    }
    Ok(Selection { nodes, total: found.len() })
}

/// Rejects paths that could take unbounded time: each `,` may double the number of locations, each filter may scan the
/// document for every location, and each further `..` visits all descendants of every location.
fn bounded(path: &str, document: &Value) -> Result<(), ToolError> {
    let count = |what| path.matches(what).count();
    if count("..") > 1 || count("?") > 2 || count(",") > 4 {
        let message = "the path has more than one `..`, two filters or four commas; split the query";
        return Err(message.into());
    }
    let most = if count("?") > 0 { 20_000 } else { 200_000 };
    if places(document) > most {
        return Err(ToolError::failed(format!(
            "the document has more than {most} places, which is too much for this path; send the part that matters"
        )));
    }
    Ok(())
}

/// Counts the values in a value, including itself.
fn places(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(places).sum(),
        Value::Object(object) => object.values().map(places).sum(),
        _ => 0,
    }
}

/// Estimates the size of a path element, in bytes.
fn path_bytes(element: &PathElement<'_>) -> usize {
    match element {
        PathElement::Name(name) => name.len() + 4,
        PathElement::Index(_) => 8,
    }
}

/// Estimates the size of a value, in bytes.
fn bytes(value: &Value) -> usize {
    8 + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(bytes).sum(),
        Value::Object(object) => object.iter().map(|(key, value)| key.len() + bytes(value)).sum(),
        _ => 0,
    }
}

fn hundred() -> usize {
    100
}

/// Result of checking a value against a schema.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Verdict {
    /// True if the value is valid.
    pub valid: bool,
    /// All violations.
    pub violations: Vec<String>,
}

/// Checks a JSON value against a JSON Schema (draft 2020-12 or draft-07).
#[tool(namespace = "json", version = "1.0.0", tags = ["schema"], category = "data", read_only, idempotent, open_world = false)]
pub fn validate_json(
    /// The value to check.
    value: Value,
    /// The schema; its references must stay within it.
    schema: Value,
) -> Result<Verdict, ToolError> {
    let schema = Schema::from_value(schema).map_err(|error| ToolError::failed(error.to_string()))?;
    let violations = match schema.validate(&value) {
        Ok(()) => Vec::new(),
        Err(violations) => violations.iter().map(ToString::to_string).collect(),
    };
    Ok(Verdict { valid: violations.is_empty(), violations })
}
