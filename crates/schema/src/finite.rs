//! Detection of schemas that accept only infinite values.

use serde_json::Value;

use super::walk;

/// The maximum number of schemas that are visited. An undecided schema counts as finite.
const VISIT_BUDGET: usize = 10_000;

/// Returns false if every value that `schema` accepts would be infinite, as that of a type that contains itself in a
/// required field.
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
            return true;
        };
        if self.visits == 0 || self.inside.len() > walk::MAX_DEPTH {
            return true;
        }
        self.visits -= 1;
        if let Some(reference) = object.get("$ref").and_then(Value::as_str)
            && !self.leads_to_an_end(reference)
        {
            return false;
        }
        let list = |keyword: &str| object.get(keyword).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for keyword in ["anyOf", "oneOf"] {
            let branches = list(keyword);
            if !branches.is_empty() && !branches.iter().any(|branch| self.is_finite(branch)) {
                return false;
            }
        }
        if !list("allOf").iter().all(|part| self.is_finite(part)) {
            return false;
        }
        let accepts = |name: &str| match object.get("type") {
            Some(Value::String(one)) => one == name,
            Some(Value::Array(several)) => several.iter().any(|one| one == name) && several.len() == 1,
            _ => false,
        };
        let required = list("required").iter().filter_map(Value::as_str);
        let mut needed = required.filter_map(|name| object.get("properties")?.get(name));
        if accepts("object") && !needed.all(|property| self.is_finite(property)) {
            return false;
        }
        let has_items = object.get("minItems").and_then(Value::as_u64).is_some_and(|least| least > 0);
        let items = object.get("items").filter(|_| list("prefixItems").is_empty());
        let mut elements = items.into_iter().chain(list("prefixItems"));
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

    use super::has_finite_value;

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
}
