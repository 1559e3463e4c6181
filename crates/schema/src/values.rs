//! The values that match a schema: whether all of them are objects, and whether any of them is finite.

use serde_json::{Map, Value, json};

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

/// Returns true if the root is a choice between objects of which one may become something else with another variant: an enum
/// without a tag. `schema` is that of the type, before it is closed.
///
/// The values of an enum with `#[serde(tag = "…")]` are objects, whichever variants it has, and so are those of a struct that
/// contains a flattened enum.
pub fn is_untagged_choice(schema: &Value) -> bool {
    let mut root = schema;
    for _ in 0..MAX_SCHEMAS {
        match root.get("$ref").and_then(Value::as_str).and_then(|reference| walk::resolve(schema, reference)) {
            Some(target) if root.get("type").is_none() => root = target,
            _ => break,
        }
    }
    let branches = [list(root, "oneOf"), list(root, "anyOf")].concat();
    let tags = |branch: &Value| -> Vec<String> {
        let properties = branch.get("properties").and_then(Value::as_object).into_iter().flatten();
        let tags = properties.filter(|(name, tag)| tag.get("const").is_some() && walk::requires(branch, name));
        tags.map(|(name, _)| name.clone()).collect()
    };
    let Some(first) = branches.first().filter(|_| root.get("type").is_none()) else { return false };
    !tags(first).iter().any(|tag| branches.iter().all(|branch| tags(branch).contains(tag)))
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

/// The maximum number of schemas that are visited. An undecided schema counts as finite.
const VISIT_BUDGET: usize = 10_000;

/// Returns false if `schema` accepts no value, as that of an enum without variants, or if every value that it accepts would
/// be infinite, as that of a type that contains itself in a required field.
pub fn has_finite_value(schema: &Value) -> bool {
    Search { document: schema, inside: Vec::new(), visits: VISIT_BUDGET }.is_finite(schema)
}

struct Search<'a> {
    document: &'a Value,
    /// The references that were followed.
    inside: Vec<&'a str>,
    visits: usize,
}

impl<'a> Search<'a> {
    fn is_finite(&mut self, schema: &'a Value) -> bool {
        let Value::Object(object) = schema else {
            return *schema != Value::Bool(false);
        };
        // An enum without variants has `not`.
        let is_all = |not: &Value| *not == Value::Bool(true) || not.as_object().is_some_and(Map::is_empty);
        if object.get("not").is_some_and(is_all) || object.get("enum").is_some_and(|values| *values == json!([])) {
            return false;
        }
        if self.visits == 0 || self.inside.len() > walk::MAX_DEPTH {
            return true;
        }
        self.visits -= 1;
        if let Some(reference) = object.get("$ref").and_then(Value::as_str)
            && !self.leads_to_an_end(reference)
        {
            return false;
        }
        for keyword in ["anyOf", "oneOf"] {
            let branches = list(schema, keyword);
            if !branches.is_empty() && !branches.iter().any(|branch| self.is_finite(branch)) {
                return false;
            }
        }
        if !list(schema, "allOf").iter().all(|part| self.is_finite(part)) {
            return false;
        }
        let accepts = |name: &str| match object.get("type") {
            Some(Value::String(one)) => one == name,
            Some(Value::Array(several)) => several.iter().any(|one| one == name) && several.len() == 1,
            _ => false,
        };
        let mut needed = walk::required(object).filter_map(|name| object.get("properties")?.get(name));
        if accepts("object") && !needed.all(|property| self.is_finite(property)) {
            return false;
        }
        let has_items = object.get("minItems").and_then(Value::as_u64).is_some_and(|least| least > 0);
        let items = object.get("items").filter(|_| list(schema, "prefixItems").is_empty());
        let mut elements = items.into_iter().chain(list(schema, "prefixItems"));
        !(accepts("array") && has_items) || elements.all(|item| self.is_finite(item))
    }

    fn leads_to_an_end(&mut self, reference: &'a str) -> bool {
        if self.inside.contains(&reference) || (reference == "#" && self.inside.is_empty()) {
            return false;
        }
        let Some(target) = walk::resolve(self.document, reference) else {
            return true;
        };
        self.inside.push(reference);
        let is_finite = self.is_finite(target);
        self.inside.pop();
        is_finite
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{declares_properties, has_finite_value, is_object};

    #[test]
    fn a_schema_without_a_base_case_accepts_nothing_finite() {
        let needs = |next: serde_json::Value| json!({ "type": "object", "properties": { "next": next, "value": {} }, "required": ["next"] });
        for schema in [
            needs(json!(false)),
            needs(json!({ "not": {} })),
            needs(json!({ "anyOf": [{ "enum": [] }, false] })),
            needs(json!({ "$ref": "#" })),
            json!({ "$ref": "#/$defs/A", "$defs": { "A": needs(json!({ "$ref": "#/$defs/A" })) } }),
            json!({ "oneOf": [needs(json!({ "$ref": "#" })), { "type": "array", "minItems": 1, "items": { "$ref": "#" } }] }),
        ] {
            assert!(!has_finite_value(&schema), "{schema}");
        }
        for schema in [
            needs(json!({ "anyOf": [{ "$ref": "#" }, { "type": "null" }] })),
            needs(json!({ "type": "array", "items": { "$ref": "#" } })),
            json!({ "type": "object", "properties": { "next": { "$ref": "#" } } }),
            json!({ "oneOf": [needs(json!({ "$ref": "#" })), { "type": "string" }] }),
            json!({ "$ref": "#/$defs/missing" }),
            json!({ "type": "object", "properties": { "next": false } }),
            json!(true),
        ] {
            assert!(has_finite_value(&schema), "{schema}");
        }
    }

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
