//! Results that are no objects, for revisions that want nothing else.

use serde_json::{Map, Value, json};

use super::Revision;
use crate::tool::Tool;
use toolkit_schema::{root, walk};

/// The property that a result is put under where the protocol wants an object.
const RESULT: &str = "result";

/// Keywords that mean what they mean only at the root of a document.
const ROOT_KEYWORDS: [&str; 4] = ["$schema", "$id", "$defs", "definitions"];

/// The `structuredContent` of a result, as the tool's listed output schema describes it.
///
/// Up to 2025-11-25 it must be an object, so a result that need not be one becomes `{"result": …}`. By which rule it
/// goes is decided by the tool's output schema alone, never by the value: an `Option<Point>` is wrapped whether it is
/// there or not. Since 2026-07-28 (SEP-2106) a result stays what it is.
///
/// A tool without an output schema has no structured content, and the value comes back unchanged.
#[must_use]
pub fn wrap_result(tool: &Tool, revision: Revision, value: Value) -> Value {
    match tool.output() {
        Some(schema) if is_wrapped(revision, schema.as_value()) => json!({ RESULT: value }),
        _ => value,
    }
}

/// [`wrap_result`] for JSON text.
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
        Revision::V2025_11_25 => !root::is_object(schema),
        Revision::V2026_07_28 => false,
    }
}

/// The schema of the object that holds what fits `schema`.
pub(super) fn wrapped(mut schema: Value) -> Value {
    move_references(&mut schema);
    let mut object = Map::new();
    if let Value::Object(keywords) = &mut schema {
        for keyword in ROOT_KEYWORDS {
            if let Some(value) = keywords.remove(keyword) {
                object.insert(keyword.to_owned(), value);
            }
        }
    }
    object.insert("type".to_owned(), "object".into());
    object.insert("properties".to_owned(), json!({ RESULT: schema }));
    object.insert("required".to_owned(), json!([RESULT]));
    Value::Object(object)
}

/// Lets references to the root, and to what stays below it, follow it to its new place.
fn move_references(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            for (keyword, value) in keywords {
                match (keyword.as_str(), value) {
                    ("$ref", Value::String(reference)) => move_reference(reference),
                    // Data, in which `$ref` is a key like any other.
                    ("const" | "enum" | "default" | "examples", _) => {}
                    // Names, among which may be those of keywords.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::wrapped;

    #[test]
    fn references_follow_what_they_point_to() {
        let tree = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "anyOf": [
                { "type": "integer", "default": { "$ref": "#" } },
                { "type": "array", "items": { "$ref": "#" } },
                { "$ref": "#/$defs/Leaf" },
                { "$ref": "#/anyOf/0" },
            ],
            "$defs": { "Leaf": { "properties": { "default": { "$ref": "#" } } } },
        });
        let expected = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": { "result": { "anyOf": [
                { "type": "integer", "default": { "$ref": "#" } },
                { "type": "array", "items": { "$ref": "#/properties/result" } },
                { "$ref": "#/$defs/Leaf" },
                { "$ref": "#/properties/result/anyOf/0" },
            ] } },
            "required": ["result"],
            "$defs": { "Leaf": { "properties": { "default": { "$ref": "#/properties/result" } } } },
        });
        assert_eq!(wrapped(tree), expected);
    }
}
