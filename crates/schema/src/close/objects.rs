//! The keywords of a schema that describe objects.

use serde_json::{Map, Value};

/// Returns true if `keyword` determines which objects are accepted, and so must be known where the object is closed.
pub(super) fn is_about_objects(keyword: &str) -> bool {
    matches!(
        keyword,
        "type" | "properties" | "patternProperties" | "required" | "additionalProperties" | "unevaluatedProperties"
    )
}

/// Returns true if the keywords of a schema describe objects, as opposed to any value.
pub(super) fn allows_objects(map: &Map<String, Value>) -> bool {
    match map.get("type") {
        Some(Value::String(one)) => one == "object",
        Some(Value::Array(several)) => several.iter().any(|one| one == "object"),
        _ => map.contains_key("properties") || map.contains_key("patternProperties"),
    }
}

/// Returns true if a schema states itself which undeclared properties it accepts.
pub(super) fn is_explicit(map: &Map<String, Value>) -> bool {
    map.contains_key("additionalProperties") || map.contains_key("unevaluatedProperties")
}

/// Returns true if a keyword rejects every undeclared property.
pub(super) fn refuses_the_rest(keyword: &str, value: &Value) -> bool {
    matches!(keyword, "additionalProperties" | "unevaluatedProperties") && *value == false
}

/// Adds `additionalProperties: false` to a schema that describes an object by its properties.
pub(super) fn seal(map: &mut Map<String, Value>) {
    let by_value = map.contains_key("const") || map.contains_key("enum");
    if by_value || is_explicit(map) || !allows_objects(map) {
        return;
    }
    let named = |keyword: &str| map.get(keyword).and_then(Value::as_object).map_or(0, Map::len);
    let by_pattern = named("patternProperties") > 0;
    // Rules for keys or their number, without declared keys, describe a map.
    let rules = ["propertyNames", "minProperties", "maxProperties"];
    if named("properties") == 0 && !by_pattern && rules.iter().any(|k| map.contains_key(*k)) {
        return;
    }
    // A required property is declared, even without a schema of its own.
    if let (Some(Value::Array(required)), false) = (map.get("required").cloned(), by_pattern) {
        let properties = map.entry("properties").or_insert_with(|| Map::new().into()).as_object_mut();
        if let Some(properties) = properties {
            for name in required.iter().filter_map(Value::as_str) {
                properties.entry(name).or_insert_with(|| Map::new().into());
            }
        }
    }
    map.insert("additionalProperties".to_owned(), false.into());
}
