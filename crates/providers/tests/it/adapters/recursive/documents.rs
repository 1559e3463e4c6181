//! Random recursive schemas.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Few names and values, so that random parts of a schema interact.
const NAMES: &[&str] = &["a", "b", "c", "1"];
const PATTERNS: &[&str] = &["^\\d+$", "^[ab]$", "^x"];
pub(super) const KEYS: &[&str] = &["a", "b", "c", "1", "2", "xy", "z"];

const PLACES: &[&str] =
    &["#/$defs/A", "#/$defs/B", "#/$defs/C%20D", "#/%24defs/A", "#", "#/properties/it", "#/$defs/B/not"];

fn any_reference() -> impl Strategy<Value = Value> {
    (prop::sample::select(PLACES), any::<bool>()).prop_map(|(place, described)| match described {
        true => json!({ "$ref": place, "description": "again" }),
        false => json!({ "$ref": place }),
    })
}

fn leaf() -> impl Strategy<Value = Value> {
    let types = &["null", "boolean", "integer", "number", "string", "array", "object"][..];
    prop_oneof![
        6 => any_reference(),
        3 => prop::sample::select(types).prop_map(|name| json!({ "type": name })),
        2 => prop::sample::subsequence(types, 1..4).prop_map(|names| json!({ "type": names })),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => Just(json!({})),
        1 => prop::sample::subsequence(NAMES, 1..3).prop_map(|names| json!({ "required": names })),
        1 => (0..3_u64).prop_map(|n| json!({ "minLength": n })),
        1 => (0..3_u64, 0..3_u64).prop_map(|(least, more)| json!({ "type": "array", "minItems": least, "maxItems": least + more })),
        1 => (-1..3_i64).prop_map(|n| json!({ "type": "integer", "exclusiveMinimum": n })),
        1 => (0..2_i64).prop_map(|n| json!({ "type": ["integer", "null"], "minimum": n, "maximum": n + 1 })),
        1 => prop::sample::subsequence(vec![json!("a"), json!("b"), json!(1), json!(1.0), json!(null), json!({ "a": 1 })], 1..4)
            .prop_map(|values| json!({ "enum": values })),
        1 => prop::sample::select(vec![json!("a"), json!(1), json!(null), json!([1]), json!({ "a": 1 })])
            .prop_map(|value| json!({ "const": value })),
        1 => Just(json!({ "type": ["string", "null"], "enum": ["a", "b"] })),
        1 => Just(json!({ "type": "string", "const": "a", "enum": ["a", "b"] })),
    ]
}

fn node() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            6 => object(inner.clone()),
            2 => array(inner.clone()),
            2 => (any_choice(), prop::collection::vec(inner.clone(), 1..4)).prop_map(|(choice, parts)| json!({ choice: parts })),
            3 => (any_choice(), prop::collection::vec(inner.clone(), 1..3), inner.clone()).prop_map(|(choice, parts, beside)| {
                merged(json!({ choice: parts }), beside)
            }),
            1 => (inner.clone(), inner.clone(), prop::option::of(inner.clone()), inner.clone()).prop_map(|(test, then, other, beside)| {
                let mut schema = json!({ "if": test, "then": then });
                if let Some(other) = other {
                    schema["else"] = other;
                }
                merged(schema, beside)
            }),
            1 => (inner.clone(), inner.clone()).prop_map(|(excluded, beside)| merged(json!({ "not": excluded }), beside)),
            2 => (inner.clone(), inner.clone()).prop_map(|(one, beside)| merged(one, beside)),
            1 => (inner.clone(), any::<bool>()).prop_map(|(schema, closed)| merged(json!({ "unevaluatedProperties": !closed }), schema)),
            1 => inner.clone().prop_map(|schema| json!({ "anyOf": [schema, { "type": "null" }] })),
        ]
    })
}

fn any_choice() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&["anyOf", "oneOf", "allOf"][..])
}

/// Merges the keywords of two schemas.
fn merged(schema: Value, beside: Value) -> Value {
    match (schema, beside) {
        (Value::Object(mut schema), Value::Object(beside)) => {
            for (keyword, value) in beside {
                schema.entry(keyword).or_insert(value);
            }
            schema.into()
        }
        (schema, _) => schema,
    }
}

fn object(inner: impl Strategy<Value = Value> + Clone + 'static) -> impl Strategy<Value = Value> {
    let properties = prop::collection::vec(inner.clone(), 4);
    let names = prop::sample::subsequence(NAMES, 0..4);
    let required = prop::sample::subsequence(NAMES, 0..3);
    let others = prop::option::of(prop_oneof![4 => Just(json!(false)), 1 => Just(json!(true)), 1 => inner.clone()]);
    let patterns = prop::option::weighted(0.2, (prop::sample::select(PATTERNS), inner.clone()));
    let extra = prop_oneof![
        12 => Just(json!({})),
        1 => Just(json!({ "unevaluatedProperties": false })),
        1 => inner.clone().prop_map(|schema| json!({ "unevaluatedProperties": schema })),
        1 => (prop::sample::select(NAMES), inner.clone()).prop_map(|(name, schema)| json!({ "dependentSchemas": { name: schema } })),
        1 => Just(json!({ "dependentRequired": { "a": ["b"] } })),
        1 => Just(json!({ "minProperties": 1, "maxProperties": 2 })),
        1 => inner.clone().prop_map(|schema| json!({ "propertyNames": schema })),
    ];
    let typed =
        prop::sample::select(vec![json!({ "type": "object" }), json!({ "type": ["object", "null"] }), json!({})]);
    (properties, names, required, others, patterns, extra, typed).prop_map(
        |(schemas, names, required, others, patterns, extra, typed)| {
            let properties: Map<String, Value> = names.iter().map(|name| (*name).to_owned()).zip(schemas).collect();
            let mut schema = merged(typed, extra);
            if !properties.is_empty() {
                schema["properties"] = properties.into();
            }
            if !required.is_empty() {
                schema["required"] = json!(required);
            }
            if let Some(others) = others {
                schema["additionalProperties"] = others;
            }
            if let Some((pattern, value)) = patterns {
                schema["patternProperties"] = json!({ pattern: value });
            }
            schema
        },
    )
}

fn array(inner: impl Strategy<Value = Value> + Clone + 'static) -> impl Strategy<Value = Value> {
    let places = prop::option::weighted(0.4, prop::collection::vec(inner.clone(), 1..3));
    let items = prop::option::weighted(0.8, inner.clone());
    let extra = prop_oneof![
        8 => Just(json!({})),
        1 => Just(json!({ "unevaluatedItems": false })),
        1 => inner.prop_map(|schema| json!({ "contains": schema, "minContains": 1, "maxContains": 2 })),
        1 => Just(json!({ "uniqueItems": true })),
        2 => (0..2_u64).prop_map(|least| json!({ "minItems": least })),
    ];
    (places, items, extra, any::<bool>()).prop_map(|(places, items, extra, typed)| {
        let mut schema = extra;
        if typed {
            schema["type"] = json!("array");
        }
        if let Some(places) = places {
            schema["prefixItems"] = places.into();
        }
        if let Some(items) = items {
            schema["items"] = items;
        }
        schema
    })
}

/// An input schema with definitions that refer to each other, in either draft.
pub(crate) fn document() -> impl Strategy<Value = Value> {
    let definitions = (node(), node(), node());
    let roots = prop_oneof![
        2 => node().prop_map(|it| json!({ "type": "object", "properties": { "it": it }, "required": ["it"], "additionalProperties": false })),
        1 => object(node().boxed()),
        1 => (any_choice(), prop::collection::vec(object(node().boxed()), 1..3), object(node().boxed()), any::<bool>()).prop_map(|(choice, parts, beside, alone)| {
            let choice = json!({ choice: parts });
            if alone { choice } else { merged(choice, beside) }
        }),
        1 => any_reference(),
    ];
    (definitions, roots, prop::bool::weighted(0.15)).prop_map(|((a, b, c), root, is_legacy)| {
        let mut root = merged(json!({ "$defs": { "A": a, "B": b, "C D": c } }), root);
        if is_legacy {
            root["$schema"] = json!("http://json-schema.org/draft-07/schema#");
            legacy(&mut root);
        }
        root
    })
}

/// Rewrites tuples and dependencies to draft-07.
fn legacy(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            if let Some(places) = keywords.shift_remove("prefixItems") {
                let others = keywords.insert("items".to_owned(), places);
                keywords.extend(others.map(|others| ("additionalItems".to_owned(), others)));
            }
            for name in ["dependentSchemas", "dependentRequired"] {
                keywords
                    .shift_remove(name)
                    .into_iter()
                    .for_each(|it| drop(keywords.insert("dependencies".to_owned(), it)));
            }
            keywords.values_mut().for_each(legacy);
        }
        Value::Array(list) => list.iter_mut().for_each(legacy),
        _ => {}
    }
}
