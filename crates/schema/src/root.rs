//! The type of the values that match the root of a schema.

use serde_json::{Map, Value};

use super::walk;

/// The maximum number of schemas that are visited. Sufficient for any type, and the end of recursive references.
const MAX_SCHEMAS: usize = 256;

/// Returns true if every value that matches is an object, judging by the root and the schemas that it refers to.
pub fn is_object(schema: &Value) -> bool {
    Root { document: schema, left: MAX_SCHEMAS, counts: |_| true }.is_object(schema)
}

/// Returns true if every value that matches is an object with declared properties: a struct as opposed to a map.
pub fn declares_properties(schema: &Value) -> bool {
    Root { document: schema, left: MAX_SCHEMAS, counts: |object| !is_map(object) }.is_object(schema)
}

/// A closed schema without properties is a struct without fields, not a map.
fn is_map(object: &Value) -> bool {
    let is_empty = |keyword| object.get(keyword).and_then(Value::as_object).is_none_or(Map::is_empty);
    let others = object.get("additionalProperties").is_some_and(|others| *others != Value::Bool(false));
    is_empty("properties") && (others || !is_empty("patternProperties"))
}

struct Root<'a> {
    document: &'a Value,
    left: usize,
    /// Selects the objects to accept.
    counts: fn(&Value) -> bool,
}

impl<'a> Root<'a> {
    fn is_object(&mut self, schema: &'a Value) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        (schema.get("type").and_then(Value::as_str) == Some("object") && (self.counts)(schema))
            || self.target(schema).is_some_and(|target| self.is_object(target))
            || self.every(schema, "oneOf")
            || self.every(schema, "anyOf")
            || list(schema, "allOf").iter().any(|part| self.is_object(part))
    }

    fn every(&mut self, schema: &'a Value, keyword: &str) -> bool {
        let branches = list(schema, keyword);
        !branches.is_empty() && branches.iter().all(|branch| self.is_object(branch))
    }

    fn target(&self, schema: &Value) -> Option<&'a Value> {
        let reference = schema.get("$ref")?.as_str()?;
        walk::resolve(self.document, reference)
    }
}

fn list<'a>(schema: &'a Value, keyword: &str) -> &'a [Value] {
    schema.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{declares_properties, is_object};

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
            json!({ "allOf": [{ "$ref": "#" }, { "$ref": "#" }, { "$ref": "#" }] }),
            json!({ "$ref": "#/$defs/B" }),
            json!({ "properties": { "type": "object" } }),
        ] {
            assert!(!is_object(&schema), "{schema}");
        }
    }

    #[test]
    fn a_map_is_an_object_that_declares_no_property() {
        let fields =
            json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": { "type": "string" } });
        for schema in [
            fields.clone(),
            json!({ "type": "object", "additionalProperties": false }),
            json!({ "oneOf": [fields, { "type": "object" }] }),
        ] {
            assert!(declares_properties(&schema), "{schema}");
        }
        for schema in [
            json!({ "type": "object", "additionalProperties": true }),
            json!({ "type": "object", "properties": {}, "additionalProperties": {} }),
            json!({ "type": "object", "patternProperties": { "^\\d+$": {} }, "additionalProperties": false }),
            json!({ "oneOf": [fields, { "type": "object", "additionalProperties": {} }] }),
            json!({ "oneOf": [fields, { "type": "string" }] }),
            json!({ "type": "string" }),
            json!({}),
        ] {
            assert!(!declares_properties(&schema), "{schema}");
        }
    }
}
