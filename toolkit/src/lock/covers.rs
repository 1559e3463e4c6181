//! Whether one schema accepts all that another does.

use std::panic::{AssertUnwindSafe, catch_unwind};

use jsonschema::canonical::{CanonicalSchema, Containment};
use serde_json::{Map, Value};

use crate::schema::walk;

/// How many values two schemas may have, to be compared by meaning.
const MAX_VALUES: usize = 20_000;
/// How deep objects are compared property by property.
const MAX_DEPTH: usize = 32;

/// Whether `wide` accepts all that `narrow` does, or why that cannot be told.
pub(super) fn covers(wide: &Value, narrow: &Value) -> Result<bool, String> {
    if wide == narrow {
        return Ok(true);
    }
    if walk::size(wide) + walk::size(narrow) > MAX_VALUES {
        return Err("has changed, and is too large to be compared by meaning".to_owned());
    }
    let told = by_canonical_form(wide, narrow);
    match told {
        Err(_) if by_properties(wide, narrow, wide, narrow, MAX_DEPTH) => Ok(true),
        told => told,
    }
}

fn by_canonical_form(wide: &Value, narrow: &Value) -> Result<bool, String> {
    let asked = catch_unwind(AssertUnwindSafe(|| {
        let (wide, narrow) = (canonical(wide)?, canonical(narrow)?);
        wide.covers(&narrow).map_err(|error| error.to_string())
    }));
    match asked {
        Ok(Ok(Containment::Yes)) => Ok(true),
        Ok(Ok(Containment::No)) => Ok(false),
        Ok(Ok(_)) => Err("has changed, and its two forms cannot be compared by meaning".to_owned()),
        Ok(Err(error)) => Err(format!("has changed, and cannot be compared by meaning: {error}")),
        Err(_) => Err("has changed, and cannot be compared by meaning".to_owned()),
    }
}

pub(super) fn canonical(schema: &Value) -> Result<CanonicalSchema, String> {
    jsonschema::canonicalize(schema).map_err(|error| error.to_string())
}

/// Whether two objects of the plain kind, or two lists, are such by their parts: enough where only a part of a schema
/// is beyond the canonical form.
fn by_properties(wide: &Value, narrow: &Value, wide_root: &Value, narrow_root: &Value, depth: usize) -> bool {
    if same(wide, narrow, wide_root, narrow_root) {
        return true;
    }
    let (Some(of_wide), Some(of_narrow)) = (wide.as_object(), narrow.as_object()) else {
        return wide == true;
    };
    if depth == 0 {
        return false;
    }
    let part = |a: &Value, b: &Value| {
        by_properties(a, b, wide_root, narrow_root, depth - 1)
            || matches!(by_canonical_form(&alone(a, wide_root), &alone(b, narrow_root)), Ok(true))
    };
    if of_wide.keys().all(|keyword| walk::is_annotation(keyword)) {
        return true;
    }
    if is_plain(of_wide, &LIST)
        && is_plain(of_narrow, &LIST)
        && has_type(of_wide, "array")
        && has_type(of_narrow, "array")
    {
        let any = Value::Bool(true);
        let items = |schema: &Map<String, Value>| schema.get("items").cloned().unwrap_or_else(|| any.clone());
        return part(&items(of_wide), &items(of_narrow));
    }
    if !(is_plain(of_wide, &OBJECT) && is_plain(of_narrow, &OBJECT)) {
        return false;
    }
    if !(has_type(of_wide, "object") && has_type(of_narrow, "object")) {
        return false;
    }
    let empty = Map::new();
    let [known, sent] =
        [of_wide, of_narrow].map(|schema| schema.get("properties").and_then(Value::as_object).unwrap_or(&empty));
    let [takes_others, sends_others] =
        [of_wide, of_narrow].map(|schema| schema.get("additionalProperties") != Some(&Value::Bool(false)));
    let required = |schema: &Map<String, Value>| -> Vec<Value> {
        schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let always_sent = required(of_narrow);
    (takes_others || !sends_others)
        && required(of_wide).iter().all(|name| always_sent.contains(name))
        && sent.iter().all(|(name, schema)| known.get(name).map_or(takes_others, |known| part(known, schema)))
        && (!sends_others
            || known.iter().all(|(name, known)| sent.contains_key(name) || part(known, &Value::Bool(true))))
}

const OBJECT: [&str; 6] = ["type", "properties", "required", "additionalProperties", "$defs", "definitions"];
const LIST: [&str; 4] = ["type", "items", "$defs", "definitions"];

/// Whether a schema has no words but these and those that describe.
fn is_plain(schema: &Map<String, Value>, words: &[&str]) -> bool {
    let says_whether_others = |value: &Value| value.is_boolean();
    schema.iter().all(|(keyword, value)| match keyword.as_str() {
        "$schema" => true,
        "additionalProperties" => words.contains(&"additionalProperties") && says_whether_others(value),
        keyword => walk::is_annotation(keyword) || words.contains(&keyword),
    })
}

fn has_type(schema: &Map<String, Value>, name: &str) -> bool {
    schema.get("type").is_some_and(|has| has == name)
}

/// The same text means the same where no reference leads into documents that differ.
fn same(a: &Value, b: &Value, a_root: &Value, b_root: &Value) -> bool {
    a == b && (a_root == b_root || !refers(a) || definitions(a_root) == definitions(b_root) && !refers_to_root(a))
}

fn definitions(root: &Value) -> [Option<&Value>; 2] {
    ["$defs", "definitions"].map(|container| root.get(container))
}

fn refers(schema: &Value) -> bool {
    schema.to_string().contains("$ref")
}

fn refers_to_root(schema: &Value) -> bool {
    let text = schema.to_string();
    text.matches("\"$ref\":\"#").count()
        != text.matches("\"$ref\":\"#/$defs/").count() + text.matches("\"$ref\":\"#/definitions/").count()
}

/// A part with the definitions that it may refer to.
pub(super) fn alone(part: &Value, document: &Value) -> Value {
    let mut part = match part {
        Value::Bool(true) => Value::Object(Map::new()),
        Value::Bool(false) => serde_json::json!({ "not": {} }),
        part => part.clone(),
    };
    if let (Value::Object(part), Some(document)) = (&mut part, document.as_object()) {
        for container in ["$defs", "definitions", "$schema"] {
            if let Some(definitions) = document.get(container) {
                part.entry(container).or_insert_with(|| definitions.clone());
            }
        }
    }
    part
}
