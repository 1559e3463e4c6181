//! Plain schemas, which are valid without any further check: they have only common keywords, with values of the right
//! shape, and are small with all definitions in place of the references to them. Almost all tools have such schemas.

use serde_json::{Map, Value};

use crate::dialect::Dialect;
use crate::walk::CONTAINERS;

/// The maximum number of subschemas, with those of a definition for each reference to it. No value can be expensive to
/// validate against so few.
const MAX_SUBSCHEMAS: usize = 1_000;
/// The maximum depth of subschemas, in which a reference counts as well. A recursive schema is deeper.
const MAX_DEPTH: usize = 12;
/// The maximum number of values in defaults, enums and examples, counted like subschemas. A definition with a long enum
/// that is referred to often must not take time for each reference.
const MAX_VALUES: usize = 10_000;
/// The maximum depth of such a value.
const MAX_VALUE_DEPTH: usize = 16;
/// The maximum number of names in a list that must not have duplicates.
const MAX_NAMES: usize = 64;
/// The maximum length in bytes of such a name, and of a reference.
const MAX_NAME_LEN: usize = 256;

/// Returns true if a schema is plain. Other schemas may be valid as well.
pub(crate) fn is_plain(schema: &Value) -> bool {
    let Value::Object(keywords) = schema else { return false };
    let is_known_dialect = Dialect::from_document(schema).is_ok();
    let mut plain = Plain { root: keywords, n_subschemas_left: MAX_SUBSCHEMAS, n_values_left: MAX_VALUES };
    is_known_dialect && plain.accepts_keywords(keywords, MAX_DEPTH)
}

struct Plain<'s> {
    root: &'s Map<String, Value>,
    n_subschemas_left: usize,
    n_values_left: usize,
}

impl Plain<'_> {
    fn accepts(&mut self, schema: &Value, depth_left: usize) -> bool {
        if !take_one(&mut self.n_subschemas_left) {
            return false;
        }
        match schema {
            Value::Bool(_) => true,
            Value::Object(keywords) if depth_left > 0 => {
                !keywords.contains_key("$schema") && self.accepts_keywords(keywords, depth_left - 1)
            }
            _ => false,
        }
    }

    fn accepts_keywords(&mut self, keywords: &Map<String, Value>, depth_left: usize) -> bool {
        keywords.iter().all(|(keyword, value)| match &**keyword {
            "title" | "description" | "format" | "$comment" | "$schema" => value.is_string(),
            "type" => {
                value.as_str().is_some_and(is_type) || are_distinct(value, is_type) && *value != Value::Array(vec![])
            }
            "$ref" => {
                let schema = value.as_str().and_then(|reference| definition(self.root, reference));
                schema.is_some_and(|schema| self.accepts(schema, depth_left))
            }
            "properties" | "$defs" | "definitions" => {
                let named = value.as_object();
                named.is_some_and(|named| named.values().all(|schema| self.accepts(schema, depth_left)))
            }
            "required" => are_distinct(value, |_| true),
            "items" | "additionalProperties" | "propertyNames" => self.accepts(value, depth_left),
            "anyOf" | "oneOf" | "allOf" => value.as_array().is_some_and(|branches| {
                !branches.is_empty() && branches.iter().all(|schema| self.accepts(schema, depth_left))
            }),
            "enum" | "examples" => value.is_array() && self.accepts_value(value, MAX_VALUE_DEPTH),
            "default" | "const" => self.accepts_value(value, MAX_VALUE_DEPTH),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => value.is_u64(),
            "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.is_boolean(),
            _ => false,
        })
    }

    /// Returns true for a value that is not too deep, and of which enough others are left.
    fn accepts_value(&mut self, value: &Value, depth_left: usize) -> bool {
        take_one(&mut self.n_values_left)
            && match value {
                Value::Array(_) | Value::Object(_) if depth_left == 0 => false,
                Value::Array(items) => items.iter().all(|item| self.accepts_value(item, depth_left - 1)),
                Value::Object(object) => object.values().all(|value| self.accepts_value(value, depth_left - 1)),
                _ => true,
            }
    }
}

/// Decrements a number, unless it is 0.
fn take_one(n_left: &mut usize) -> bool {
    let is_left = *n_left > 0;
    *n_left = n_left.saturating_sub(1);
    is_left
}

/// Returns the definition that a reference names, if the name has no escaped characters.
fn definition<'s>(root: &'s Map<String, Value>, reference: &str) -> Option<&'s Value> {
    let (container, name) =
        reference.strip_prefix("#/").filter(|_| reference.len() <= MAX_NAME_LEN)?.split_once('/')?;
    let is_unescaped = CONTAINERS.contains(&container) && !name.contains(['/', '~', '%']);
    root.get(container).filter(|_| is_unescaped)?.as_object()?.get(name)
}

fn is_type(name: &str) -> bool {
    matches!(name, "string" | "integer" | "number" | "boolean" | "null" | "array" | "object")
}

/// Returns true for a list of different strings, each of which is accepted.
fn are_distinct(list: &Value, accepts: impl Fn(&str) -> bool) -> bool {
    let Value::Array(list) = list else { return false };
    let accepts = |name: &str| name.len() <= MAX_NAME_LEN && accepts(name);
    list.len() <= MAX_NAMES
        && list.iter().enumerate().all(|(idx, name)| name.as_str().is_some_and(accepts) && !list[..idx].contains(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::check;
    use super::*;
    use crate::plan::Plan;

    /// All keywords of both dialects, and one that is unknown.
    #[rustfmt::skip]
    const KEYWORDS: [&str; 63] = [
        "$anchor", "$comment", "$defs", "$dynamicAnchor", "$dynamicRef", "$id", "$ref", "$schema", "$vocabulary",
        "additionalItems", "additionalProperties", "allOf", "anyOf", "const", "contains", "contentEncoding",
        "contentMediaType", "contentSchema", "default", "definitions", "dependencies", "dependentRequired",
        "dependentSchemas", "deprecated", "description", "else", "enum", "examples", "exclusiveMaximum",
        "exclusiveMinimum", "format", "if", "items", "maxContains", "maxItems", "maxLength", "maxProperties", "maximum",
        "minContains", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not", "oneOf", "pattern",
        "patternProperties", "prefixItems", "properties", "propertyNames", "readOnly", "required", "then", "title",
        "type", "unevaluatedItems", "unevaluatedProperties", "uniqueItems", "writeOnly", "x-order", "id", "$recursiveRef",
    ];

    fn values() -> Vec<Value> {
        let values = r##"[
            null, true, false, 0, 1, -1, 1.5, -0.5, 1e300, 18446744073709551615, "", "string", "any", "#", "(", [], [""],
            ["a", "a"], ["a", "b"], ["string"], ["string", "null"], ["string", "string"], ["any"], ["string", 1], [true],
            [{}, {}], [1, { "a": [] }], {}, { "type": "string" }, { "type": "strin" }, { "a": true }, { "a": [] },
            { "a": { "type": "strin" } }, { "a": { "minLength": -1 } }, { "items": { "$ref": "#/x" } }, [{ "title": 1 }],
            { "(": {} }, { "a": { "$schema": "https://json-schema.org/draft/2019-09/schema" } },
            "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema",
            "#/$defs/a", "#/definitions/a", "#/$defs/b", "#/$defs/a/items", "#/$defs/~0a", "#/properties/a", "a"
        ]"##;
        serde_json::from_str(values).unwrap()
    }

    #[test]
    fn a_plain_schema_passes_every_check() {
        let mut n_plain = 0;
        for dialect in [None, Some(Dialect::Draft202012.uri()), Some(Dialect::Draft7.uri())] {
            for keyword in KEYWORDS {
                for value in values() {
                    let part = json!({ keyword: value });
                    let nested = json!({ "anyOf": [part] });
                    for mut schema in [
                        part.clone(),
                        json!({ "properties": { "a": nested } }),
                        json!({ "$ref": "#/$defs/a", "$defs": { "a": nested }, "definitions": { "a": {} } }),
                    ] {
                        if let (Some(dialect), None) = (dialect, schema.get("$schema")) {
                            schema["$schema"] = dialect.into();
                        }
                        if is_plain(&schema) {
                            let checked = check(&schema, Plan::compile(&schema).is_some());
                            assert!(checked.is_ok(), "{schema} {:?}", checked.err());
                            n_plain += 1;
                        }
                    }
                }
            }
        }
        assert!(n_plain > 1_000, "{n_plain} schemas are plain");
    }

    #[test]
    fn the_keywords_of_ordinary_schemas_are_plain() {
        for (keyword, plain, other) in [
            ("type", json!("string"), json!("text")),
            ("type", json!(["string", "null"]), json!([])),
            ("type", json!(["integer"]), json!(["integer", "integer"])),
            ("description", json!("It."), json!(1)),
            ("properties", json!({ "a": {}, "b": true }), json!({ "a": {}, "b": { "not": {} } })),
            ("required", json!(["a", "b"]), json!(["a", "a"])),
            ("items", json!({ "type": "null" }), json!([])),
            ("additionalProperties", json!(false), json!(0)),
            ("anyOf", json!([{}, { "type": "null" }]), json!([])),
            ("oneOf", json!([{}]), json!([{ "type": "nul" }])),
            ("enum", json!(["a", 1]), json!("a")),
            ("const", json!({ "a": [1] }), Value::Null),
            ("maximum", json!(1.5), json!("1")),
            ("minLength", json!(0), json!(-1)),
            ("uniqueItems", json!(true), json!(1)),
        ] {
            assert!(is_plain(&json!({ keyword: plain })), "{keyword} {plain}");
            assert!(other.is_null() || !is_plain(&json!({ keyword: other })), "{keyword} {other}");
        }
    }

    #[test]
    fn schemas_that_are_large_or_deep_are_not_plain() {
        let nested = |n: usize| (0..n).fold(json!({}), |schema, _| json!({ "items": schema }));
        assert!(is_plain(&nested(MAX_DEPTH)) && !is_plain(&nested(MAX_DEPTH + 1)));
        let wide = |n: usize| json!({ "anyOf": vec![json!({}); n] });
        assert!(is_plain(&wide(MAX_SUBSCHEMAS)) && !is_plain(&wide(MAX_SUBSCHEMAS + 1)));
        let default = |n: usize| json!({ "default": (0..n).fold(json!(1), |value, _| json!([value])) });
        assert!(is_plain(&default(MAX_VALUE_DEPTH)) && !is_plain(&default(MAX_VALUE_DEPTH + 1)));
        let refers = |to: usize| json!({ "$ref": format!("#/$defs/{to}") });
        let chain = |n: usize| (0..n - 1).map(|nth| (nth.to_string(), refers(nth + 1)));
        let chain = |n: usize| {
            let last = [((n - 1).to_string(), json!({}))];
            json!({ "$ref": "#/$defs/0", "$defs": chain(n).chain(last).collect::<Map<_, _>>() })
        };
        assert!(is_plain(&chain(MAX_DEPTH)) && !is_plain(&chain(MAX_DEPTH + 1)));
        for recursive in [refers(0), json!({ "items": refers(0) }), json!({ "anyOf": [{}, refers(0)] })] {
            assert!(!is_plain(&json!({ "$ref": "#/$defs/0", "$defs": { "0": recursive } })), "{recursive}");
        }
        let required = |n: usize| json!({ "required": (0..n).map(|nth| nth.to_string()).collect::<Vec<_>>() });
        assert!(is_plain(&required(MAX_NAMES)) && !is_plain(&required(MAX_NAMES + 1)));
        for schema in
            [nested(MAX_DEPTH), wide(MAX_SUBSCHEMAS), default(MAX_VALUE_DEPTH), required(MAX_NAMES), chain(MAX_DEPTH)]
        {
            assert!(check(&schema, Plan::compile(&schema).is_some()).is_ok());
        }
    }

    #[test]
    fn each_reference_to_a_large_definition_counts() {
        let referring = |definition: Value, n: usize| {
            let properties: Map<_, _> = (0..n).map(|nth| (nth.to_string(), json!({ "$ref": "#/$defs/a" }))).collect();
            json!({ "properties": properties, "$defs": { "a": definition } })
        };
        // The list itself is a value too, and `$defs` contains the definition once more.
        let values = json!({ "enum": vec![1; 99] });
        assert!(is_plain(&referring(values.clone(), 99)) && !is_plain(&referring(values, 100)));
        let booleans = json!({ "anyOf": vec![true; 98] });
        assert!(is_plain(&referring(booleans.clone(), 9)) && !is_plain(&referring(booleans, 10)));
        let name = |length: usize| json!({ "required": ["x".repeat(length)] });
        assert!(is_plain(&name(MAX_NAME_LEN)) && !is_plain(&name(MAX_NAME_LEN + 1)));
        let reference = |length: usize| {
            let name = "x".repeat(length - "#/$defs/".len());
            json!({ "$ref": format!("#/$defs/{name}"), "$defs": { name: {} } })
        };
        assert!(is_plain(&reference(MAX_NAME_LEN)) && !is_plain(&reference(MAX_NAME_LEN + 1)));
    }
}
