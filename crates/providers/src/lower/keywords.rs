//! The keywords of a schema: the values that each of them is about.
//!
//! A closed object accepts only declared properties. Therefore most questions are about the keywords that declare some.

use serde_json::Value;

use toolkit_schema::equality::equal;
use toolkit_schema::merge::Keywords;
use toolkit_schema::walk::{self, type_of};

/// Returns the values of `enum` or `const`.
pub(super) fn values(keywords: &Keywords) -> Option<Vec<Value>> {
    match (keywords.get("enum"), keywords.get("const")) {
        (Some(Value::Array(values)), None) => Some(values.clone()),
        (Some(Value::Array(values)), Some(constant)) => {
            Some(values.iter().filter(|value| equal(value, constant)).cloned().collect())
        }
        (_, Some(constant)) => Some(vec![constant.clone()]),
        (_, None) => None,
    }
}

pub(super) fn take(keywords: &mut Keywords, wanted: impl Fn(&str) -> bool) -> Keywords {
    let (taken, rest) = std::mem::take(keywords).into_iter().partition(|(keyword, _)| wanted(keyword));
    *keywords = rest;
    taken
}

/// Returns true if a keyword restricts values of a type.
pub(super) fn applies_to(keyword: &str, name: &str) -> bool {
    match keyword {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            matches!(name, "integer" | "number")
        }
        "format" => !matches!(name, "null" | "boolean"),
        "minLength" | "maxLength" | "pattern" | "contentEncoding" | "contentMediaType" | "contentSchema" => {
            name == "string"
        }
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" | "contains" | "minContains"
        | "maxContains" | "unevaluatedItems" | "additionalItems" => name == "array",
        keyword if constrains_object(keyword) => name == "object",
        _ => true,
    }
}

/// Returns true if a keyword restricts values of this type only.
pub(super) fn applies_only_to(keyword: &str, name: &str) -> bool {
    applies_to(keyword, name) && !applies_to_all_types(keyword)
}

/// Returns true if a keyword neither declares properties nor contains schemas that may.
pub(super) fn ignores_properties(keyword: &str) -> bool {
    applies_only_to(keyword, "string")
        || applies_only_to(keyword, "number")
        || applies_only_to(keyword, "array")
        || matches!(keyword, "type" | "enum" | "const" | "format" | "not" | "required")
        || matches!(keyword, "minProperties" | "maxProperties" | "propertyNames" | "dependentRequired")
}

pub(super) fn applies_to_all_types(keyword: &str) -> bool {
    ["string", "array", "object", "number"].into_iter().all(|name| applies_to(keyword, name))
}

pub(super) fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        name => type_of(value) == name,
    }
}

/// Returns true if a closed schema restricts the properties of objects.
pub(super) fn describes_objects(keywords: &Keywords) -> bool {
    walk::may_be(keywords, "object") || keywords.contains_key("properties")
}

/// Returns true if a keyword only applies to objects.
pub(super) fn constrains_object(keyword: &str) -> bool {
    matches!(
        keyword,
        "properties"
            | "required"
            | "additionalProperties"
            | "patternProperties"
            | "propertyNames"
            | "minProperties"
            | "maxProperties"
            | "dependentRequired"
            | "dependentSchemas"
            | "dependencies"
            | "unevaluatedProperties"
    )
}

/// Returns true if a schema, or one that applies to the same value, may restrict objects.
pub(super) fn may_concern_objects(schema: &Value) -> bool {
    let Value::Object(keywords) = schema else {
        return false;
    };
    let mut concerns = keywords.keys().any(|keyword| constrains_object(keyword) || keyword == "$ref");
    walk::each(keywords, |keyword, sub| {
        let is_in_place = matches!(keyword, "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else");
        concerns = concerns || is_in_place && may_concern_objects(sub);
    });
    concerns
}
