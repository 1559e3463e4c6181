//! The values that match a schema: whether all of them are objects, and whether any of them is finite.

use serde_json::{Map, Value};

use crate::types::Types;
use crate::view::View;

/// The maximum number of schemas that are visited to find objects.
const MAX_SCHEMAS: usize = 256;

/// Returns true if every value that matches is an object, judging by the root and the schemas that it refers to.
pub fn is_object(schema: &Value) -> bool {
    // Read for each call, and most schemas declare it at their root.
    schema.get("type").and_then(Value::as_str) == Some("object") || is_object_with(&View::new(schema), |_| true, &mut 0)
}

/// Returns true if every value that matches is an object with declared properties: a struct as opposed to a map.
pub fn declares_properties(schema: &Value) -> bool {
    is_object_with(&View::new(schema), |view| !is_map(view), &mut 0)
}

fn is_object_with(view: &View<'_>, counts: fn(&View<'_>) -> bool, n_visits: &mut usize) -> bool {
    *n_visits += 1;
    if *n_visits > MAX_SCHEMAS {
        return false;
    }
    if view.declared_types() == Types::OBJECT && !view.accepts_null() && counts(view) {
        return true;
    }
    let mut is_object = |view: &View<'_>| is_object_with(view, counts, n_visits);
    let alternatives = view.alternatives();
    let is_choice = !alternatives.is_empty() && !view.types().meets(Types::NULL);
    (is_choice && alternatives.iter().all(&mut is_object)) || view.branches("allOf").iter().any(is_object)
}

/// A closed schema without properties is a struct without fields, not a map.
fn is_map(view: &View<'_>) -> bool {
    let is_empty = |keyword| view.get(keyword).and_then(Value::as_object).is_none_or(Map::is_empty);
    let others = view.get("additionalProperties").is_some_and(|others| *others != Value::Bool(false));
    is_empty("properties") && (others || !is_empty("patternProperties"))
}

/// The maximum number of schemas that are visited. An undecided schema counts as finite.
const VISIT_BUDGET: usize = 10_000;

/// Returns false if every value that `schema` accepts would be infinite, as that of a type that contains itself in a
/// required field.
pub fn has_finite_value(schema: &Value) -> bool {
    Search { inside: Vec::new(), visits: VISIT_BUDGET }.is_finite(View::new(schema))
}

struct Search<'s> {
    /// The schemas that contain the current one.
    inside: Vec<View<'s>>,
    visits: usize,
}

impl<'s> Search<'s> {
    fn is_finite(&mut self, view: View<'s>) -> bool {
        let types = view.types();
        if self.visits == 0 || types.meets(Types::ALL.without(Types::OBJECT.or(Types::ARRAY))) {
            return true;
        }
        if self.inside.iter().any(|outer| outer.is_same(&view)) {
            return false;
        }
        self.visits -= 1;
        self.inside.push(view.clone());
        let is_finite = self.has_finite_parts(&view, types);
        self.inside.pop();
        is_finite
    }

    fn has_finite_parts(&mut self, view: &View<'s>, types: Types) -> bool {
        let alternatives = view.alternatives();
        if !alternatives.is_empty() && !alternatives.into_iter().any(|branch| self.is_finite(branch)) {
            return false;
        }
        let mut needed = view.branches("allOf");
        if types == Types::OBJECT {
            let required = view.declared_fields().into_iter().filter(|field| field.is_required);
            needed.extend(required.map(|field| field.view));
        } else if types == Types::ARRAY && view.get("minItems").and_then(Value::as_u64).is_some_and(|least| least > 0) {
            match view.branches("prefixItems") {
                places if places.is_empty() => needed.extend(view.part("items")),
                places => needed.extend(places),
            }
        }
        needed.into_iter().all(|part| self.is_finite(part))
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
