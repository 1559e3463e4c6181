//! The rules of Open Tool Calling for schemas: they have no references, and each parameter has a description.

use serde_json::{Map, Value, json};
use toolkit::schema::inline;

/// The keywords that contain or refer to definitions.
const REFERRING: [&str; 5] = ["$ref", "$dynamicRef", "$recursiveRef", "$defs", "definitions"];

/// The keywords whose value is not a schema.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];

/// The keywords whose value is a map of schemas.
const NAMED: [&str; 6] =
    ["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"];

/// Returns the first keyword anywhere in a schema that the format does not support.
fn reference(schema: &Value) -> Option<&'static str> {
    match schema {
        Value::Object(map) => reference_in(map),
        Value::Array(parts) => parts.iter().find_map(reference),
        _ => None,
    }
}

pub(super) fn reference_in(map: &Map<String, Value>) -> Option<&'static str> {
    let own = REFERRING.iter().find(|keyword| map.contains_key(**keyword)).copied();
    own.or_else(|| {
        map.iter().filter(|(keyword, _)| !DATA.contains(&keyword.as_str())).find_map(|(keyword, value)| match value {
            Value::Object(named) if NAMED.contains(&keyword.as_str()) => named.values().find_map(reference),
            value => reference(value),
        })
    })
}

/// Inlines the definitions of a schema.
///
/// # Errors
///
/// Returns an error for a reference that cannot be inlined, such as a recursive one.
pub(super) fn inlined(schema: &Value) -> Result<Map<String, Value>, String> {
    let mut schema = schema.clone();
    inline::inline(&mut schema);
    if let Some(keyword) = reference(&schema) {
        return Err(format!(
            "has a `{keyword}` that cannot be inlined, but Open Tool Calling does not support references; a recursive \
             type can pass its inner values as JSON text instead"
        ));
    }
    match schema {
        Value::Object(map) => Ok(map),
        Value::Bool(false) => Err("accepts no value".to_owned()),
        _ => Ok(Map::new()),
    }
}

/// Adds a description to each parameter without one: its title, or its name in words.
pub(super) fn describe_parameters(parameters: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = parameters.get_mut("properties") else {
        return;
    };
    for (name, schema) in properties {
        match schema {
            Value::Object(map) => {
                let text = |key: &str| map.get(key)?.as_str().filter(|text| !text.trim().is_empty());
                if text("description").is_none() {
                    let description = text("title").map_or_else(|| in_words(name), str::to_owned);
                    map.insert("description".to_owned(), description.into());
                }
            }
            Value::Bool(true) => *schema = json!({ "description": in_words(name) }),
            other => *other = json!({ "description": in_words(name), "not": {} }),
        }
    }
}

/// Writes the parameters of a function like the published examples: without `additionalProperties: false`, and with
/// `required`, even if it is empty.
pub(super) fn match_published_style(parameters: &mut Map<String, Value>) {
    if parameters.get("additionalProperties") == Some(&Value::Bool(false)) {
        parameters.shift_remove("additionalProperties");
    }
    if parameters.get("properties").and_then(Value::as_object).is_some_and(|named| !named.is_empty()) {
        parameters.entry("required").or_insert_with(|| json!([]));
    }
}

/// `doorbellId` and `doorbell_id` as `doorbell id`.
fn in_words(name: &str) -> String {
    let mut words = String::new();
    let mut after_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && after_lower {
            words.push(' ');
        }
        after_lower = c.is_lowercase() || c.is_ascii_digit();
        match c {
            '_' | '-' | '.' => words.push(' '),
            c => words.extend(c.to_lowercase()),
        }
    }
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() { name.to_owned() } else { words }
}

/// Returns true if a schema accepts only `null`, as for a tool that returns nothing.
pub(super) fn accepts_only_null(schema: &Value) -> bool {
    let says = |keyword: &String| matches!(keyword.as_str(), "type" | "title" | "description" | "$schema");
    schema.get("type").is_some_and(|ty| ty == "null") && schema.as_object().is_some_and(|map| map.keys().all(says))
}
