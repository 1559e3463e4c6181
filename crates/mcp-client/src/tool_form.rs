//! The form of the tools of a server.

use serde_json::{Map, Value, json};

/// Completes an input schema that accepts any arguments, omits an empty output schema, and converts both from earlier
/// drafts.
pub(super) fn valid_schemas(tool: &mut Value) {
    let Value::Object(tool) = tool else { return };
    let input = tool.entry("inputSchema").or_insert(Value::Null);
    if matches!(input, Value::Null | Value::Bool(true)) {
        *input = json!({});
    }
    if let Value::Object(schema) = input
        && !["type", "$ref", "allOf", "anyOf", "oneOf"].iter().any(|key| schema.contains_key(*key))
    {
        schema.insert("type".to_owned(), "object".into());
    }
    if matches!(tool.get("outputSchema"), Some(Value::Null)) {
        tool.remove("outputSchema");
    }
    for key in ["inputSchema", "outputSchema"] {
        if let Some(schema) = tool.get_mut(key) {
            let draft = schema["$schema"].as_str().unwrap_or_default();
            let is_early = ["draft-03", "draft-04"].iter().any(|early| draft.contains(early));
            convert(schema, is_early);
        }
    }
}

/// Keywords whose value is never `null`. Some libraries write `null` for one that is not set.
const NEVER_NULL: [&str; 27] = [
    "$defs",
    "$ref",
    "$schema",
    "additionalProperties",
    "allOf",
    "anyOf",
    "definitions",
    "description",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "properties",
    "required",
    "title",
];

/// Keywords with a schema, or a list of schemas.
const SCHEMAS: [&str; 13] = [
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedProperties",
];

/// Keywords with an object of schemas.
const MAPS: [&str; 5] = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

fn convert(schema: &mut Value, is_early: bool) {
    let Value::Object(schema) = schema else { return };
    schema.retain(|key, value| !(value.is_null() && (NEVER_NULL.contains(&&**key) || key == "type")));
    if is_early {
        schema.remove("$schema");
        if schema.get("id").is_some_and(Value::is_string) {
            schema.remove("id");
        }
        if schema.get("items").is_some_and(Value::is_array) {
            let rest = schema.remove("additionalItems");
            let items = schema.remove("items").unwrap_or_default();
            schema.insert("prefixItems".to_owned(), items);
            schema.extend(rest.map(|rest| ("items".to_owned(), rest)));
        }
    }
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        if let Some(is_exclusive) = schema.get(exclusive).and_then(Value::as_bool) {
            schema.remove(exclusive);
            if let (true, Some(limit)) = (is_exclusive, schema.get(bound).cloned()) {
                schema.remove(bound);
                schema.insert(exclusive.to_owned(), limit);
            }
        }
    }
    lift_required(schema);
    for (key, value) in schema {
        match value {
            Value::Object(schemas) if MAPS.contains(&&**key) => {
                schemas.values_mut().for_each(|schema| convert(schema, is_early));
            }
            Value::Array(schemas) if SCHEMAS.contains(&&**key) => {
                schemas.iter_mut().for_each(|schema| convert(schema, is_early));
            }
            schema if SCHEMAS.contains(&&**key) => convert(schema, is_early),
            _ => {}
        }
    }
}

/// Converts `"required": true` of a property (draft 3) into the list of the object.
fn lift_required(schema: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    let mut required = Vec::new();
    for (name, property) in properties {
        if let Some(is_required) = property.get("required").and_then(Value::as_bool) {
            property.as_object_mut().and_then(|property| property.remove("required"));
            required.extend(is_required.then(|| Value::from(name.as_str())));
        }
    }
    if required.is_empty() {
        return;
    }
    if let Value::Array(names) = schema.entry("required").or_insert_with(|| Value::Array(Vec::new())) {
        required.retain(|name| !names.contains(name));
        names.append(&mut required);
    }
}
