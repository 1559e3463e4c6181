//! What the root of a schema says of every value that fits.

use serde_json::Value;

/// How many references are followed before a schema counts as one that leads nowhere.
const MAX_HOPS: usize = 32;

/// Whether every value that fits is an object, as far as the root and what it refers to show.
pub(crate) fn is_object(schema: &Value) -> bool {
    is_object_in(schema, schema, MAX_HOPS)
}

fn is_object_in(document: &Value, schema: &Value, hops: usize) -> bool {
    let Some(hops) = hops.checked_sub(1) else {
        return false;
    };
    let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
    let holds = |schema: &Value| is_object_in(document, schema, hops);
    let every =
        |keyword: &str| list(keyword).is_some_and(|branches| !branches.is_empty() && branches.iter().all(holds));
    let reference = schema.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|reference| document.pointer(reference.strip_prefix('#')?));

    schema.get("type").and_then(Value::as_str) == Some("object")
        || target.is_some_and(holds)
        || every("oneOf")
        || every("anyOf")
        || list("allOf").is_some_and(|parts| parts.iter().any(holds))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::is_object;

    #[test]
    fn a_root_is_an_object_if_every_way_through_it_is() {
        let object = json!({ "type": "object" });
        for schema in [
            object.clone(),
            json!({ "$ref": "#/$defs/A", "$defs": { "A": object } }),
            json!({ "oneOf": [object, object] }),
            json!({ "allOf": [{}, object] }),
        ] {
            assert!(is_object(&schema), "{schema}");
        }
        for schema in [
            json!(true),
            json!({}),
            json!({ "type": ["object", "null"] }),
            json!({ "anyOf": [] }),
            json!({ "anyOf": [object, { "type": "null" }] }),
            json!({ "$ref": "#" }),
            json!({ "$ref": "#/$defs/B" }),
            json!({ "properties": { "type": "object" } }),
        ] {
            assert!(!is_object(&schema), "{schema}");
        }
    }
}
