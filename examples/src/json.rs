//! Fifth lesson: arguments of any shape, and results that programs and models read differently.
//!
//! `serde_json::Value` takes any JSON. `Structured<T>` keeps the data for programs and gives the model a text that
//! spares it the reading.

mod diff;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json_path::{JsonPath, PathElement};
use toolkit::schema::Schema;
use toolkit::{ToolError, tool};

pub use self::diff::{Change, JsonDifference, diff_json};

/// The most that is selected from a document, in bytes.
const MAX_SELECTED: usize = 4_000_000;

/// One place in a document, and what stands there.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Node {
    /// Where, as a normalised path such as `$['a'][0]`.
    pub path: String,
    /// What stands there.
    pub value: Value,
}

/// What a path selects.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Selection {
    /// The places, up to the limit, in the order of the document.
    pub nodes: Vec<Node>,
    /// How many there are in all.
    pub total: usize,
}

/// Selects parts of a JSON document by a JSONPath (RFC 9535).
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
    /// The path, as in `$.items[?@.price > 10].name`; at most one `..` and two filters.
    #[schemars(length(min = 1, max = 500), regex(pattern = r"^\$"))]
    path: String,
    /// The most places to give back.
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
        // A part is selected once for each part that it is in, and a long key stands in every path below it.
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

/// Refuses what could take for ever: each `,` may double the places, each filter may look at the document again for
/// every place, and each further `..` visits every place below every place.
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

/// How many values there are in a value, itself included.
fn places(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(places).sum(),
        Value::Object(object) => object.values().map(places).sum(),
        _ => 0,
    }
}

/// About how many bytes an element of a path takes.
fn path_bytes(element: &PathElement<'_>) -> usize {
    match element {
        PathElement::Name(name) => name.len() + 4,
        PathElement::Index(_) => 8,
    }
}

/// About how many bytes a value takes.
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

/// Whether a value fits a schema.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Verdict {
    /// Whether it fits.
    pub valid: bool,
    /// Every reason for which it does not.
    pub violations: Vec<String>,
}

/// Checks a JSON value against a JSON Schema (draft 2020-12 or draft-07).
#[tool(namespace = "json", version = "1.0.0", tags = ["schema"], category = "data", read_only, idempotent, open_world = false)]
pub fn validate_json(
    /// The value to check.
    value: Value,
    /// The schema; references stay inside it.
    schema: Value,
) -> Result<Verdict, ToolError> {
    let schema = Schema::from_value(schema).map_err(|error| ToolError::failed(error.to_string()))?;
    let violations = match schema.validate(&value) {
        Ok(()) => Vec::new(),
        Err(violations) => violations.iter().map(ToString::to_string).collect(),
    };
    Ok(Verdict { valid: violations.is_empty(), violations })
}
