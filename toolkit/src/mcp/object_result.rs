//! Results that are not objects, for the revision that requires objects, and their schemas.

use serde_json::{Map, Value, json};

use super::Revision;
use crate::tool::Tool;
use toolkit_schema::{values, walk};

/// Converts an output schema of 2026-07-28 into that of 2025-11-25, in which each result is an object.
pub(super) fn in_object(schema: Value) -> Value {
    if is_wrapped(Revision::V2025_11_25, &schema) { wrapped(schema) } else { of_objects(schema) }
}

/// Adds `type: object` at the root of a schema that accepts only objects; a choice between objects has it only in its
/// branches.
pub(super) fn of_objects(mut schema: Value) -> Value {
    if values::is_object(&schema)
        && let Value::Object(keywords) = &mut schema
    {
        let is_sorted = keywords.keys().is_sorted();
        keywords.insert("type".to_owned(), "object".into());
        if is_sorted {
            keywords.sort_keys();
        }
    }
    schema
}

/// The property of a wrapped result.
const RESULT: &str = "result";

/// Keywords that have their meaning only at the root of a document.
const ROOT_KEYWORDS: [&str; 4] = ["$defs", "$id", "$schema", "definitions"];

/// Returns the `structuredContent` for a result, as the listed output schema of the tool describes it.
///
/// Up to 2025-11-25 it must be an object, so that a result that may be something else becomes `{"result": …}`. Only the
/// output schema decides, never the value: an `Option<Point>` is wrapped with and without a value. Since 2026-07-28
/// (SEP-2106) a result is not wrapped.
///
/// The value is also returned unchanged if the tool has no output schema, since it then has no structured content.
///
/// ```
/// use serde_json::json;
/// use toolkit::Tool;
/// use toolkit::mcp::{Revision, wrap_result};
///
/// let tool = Tool::builder("now").output(json!({ "type": "string" })).build()?;
/// assert_eq!(wrap_result(&tool, Revision::V2025_11_25, json!("noon")), json!({ "result": "noon" }));
/// assert_eq!(wrap_result(&tool, Revision::V2026_07_28, json!("noon")), json!("noon"));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[must_use]
pub fn wrap_result(tool: &Tool, revision: Revision, value: Value) -> Value {
    match tool.output() {
        Some(schema) if is_wrapped(revision, schema.as_value()) => json!({ RESULT: value }),
        _ => value,
    }
}

/// Does the same as [`wrap_result`] for JSON text.
pub(super) fn wrap(bytes: &mut Vec<u8>, json: &[u8], is_wrapped: bool) {
    if !is_wrapped {
        return bytes.extend_from_slice(json);
    }
    bytes.extend_from_slice(b"{\"");
    bytes.extend_from_slice(RESULT.as_bytes());
    bytes.extend_from_slice(b"\":");
    bytes.extend_from_slice(json);
    bytes.push(b'}');
}

pub(super) fn is_wrapped(revision: Revision, schema: &Value) -> bool {
    match revision {
        Revision::V2025_11_25 => !values::is_object(schema),
        Revision::V2026_07_28 => false,
    }
}

/// Returns the schema of the wrapping object for results that match `schema`.
fn wrapped(mut schema: Value) -> Value {
    move_references(&mut schema);
    let mut object = Map::new();
    if let Value::Object(keywords) = &mut schema {
        for keyword in ROOT_KEYWORDS {
            if let Some(value) = keywords.shift_remove(keyword) {
                object.insert(keyword.to_owned(), value);
            }
        }
    }
    object.insert("properties".to_owned(), json!({ RESULT: schema }));
    object.insert("required".to_owned(), json!([RESULT]));
    object.insert("type".to_owned(), "object".into());
    Value::Object(object)
}

/// Updates references to the root, and to what moves with it.
fn move_references(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            for (keyword, value) in keywords {
                match (keyword.as_str(), value) {
                    ("$ref", Value::String(reference)) => move_reference(reference),
                    // Data, in which `$ref` is an ordinary key.
                    ("const" | "enum" | "default" | "examples", _) => {}
                    // Names, which may be those of keywords.
                    (
                        "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions",
                        Value::Object(named),
                    ) => named.values_mut().for_each(move_references),
                    (_, value) => move_references(value),
                }
            }
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(move_references),
        _ => {}
    }
}

fn move_reference(reference: &mut String) {
    let Some(pointer) = reference.strip_prefix('#') else {
        return;
    };
    let decoded = walk::pointer(reference).unwrap_or_default();
    let is_lifted = decoded.starts_with("/$defs/") || decoded.starts_with("/definitions/");
    if (pointer.is_empty() || pointer.starts_with('/')) && !is_lifted {
        *reference = format!("#/properties/{RESULT}{pointer}");
    }
}
