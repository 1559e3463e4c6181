//! Comparison with `jsonschema`: the same values are valid, and the same violations are reported.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::compiled::Evaluated;
use crate::dialect::Dialect;
use crate::evaluate::Evaluator;
use crate::patterns::Patterns;
use crate::plan::Plan;
use crate::violation::{Violations, Wanted};

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-4_i64..12).prop_map(Value::from),
        prop_oneof![Just(1.0), Just(2.5), Just(-3.0), Just(1e20), Just(6.0)].prop_map(Value::from),
        "[ab\u{e9}]{0,4}".prop_map(Value::from),
        Just(json!(u64::MAX)),
        Just(json!(i64::MIN)),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("b"), Just("kind"), Just("x/y"), Just("n")].prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(key(), inner, 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// A schema without subschemas.
fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(true)),
        Just(json!(false)),
        Just(json!({})),
        proptest::sample::subsequence(vec!["string", "integer", "number", "boolean", "null", "array", "object"], 1..4)
            .prop_map(|names| json!({ "type": names })),
        proptest::sample::select(vec!["string", "integer", "number", "boolean", "null", "array", "object"])
            .prop_map(|name| json!({ "type": name })),
        proptest::collection::vec(scalar(), 1..4).prop_map(|options| json!({ "enum": options })),
        scalar().prop_map(|constant| json!({ "const": constant })),
        (-4_i64..6, 0_i64..8).prop_map(|(least, more)| json!({ "minimum": least, "maximum": least + more })),
        (-4_i64..6)
            .prop_map(|limit| json!({ "type": "number", "exclusiveMinimum": limit, "exclusiveMaximum": limit + 3 })),
        (-40_i64..60).prop_map(|limit| json!({ "minimum": limit as f64 / 10.0 })),
        (1_i64..4).prop_map(|divisor| json!({ "type": "number", "multipleOf": divisor })),
        (0_u64..3, 0_u64..3).prop_map(|(least, more)| json!({ "minLength": least, "maxLength": least + more })),
        Just(json!({ "type": "string", "pattern": "^a+$" })),
        Just(json!({ "pattern": "b" })),
        Just(json!({ "uniqueItems": true })),
        (0_u64..3, 0_u64..3).prop_map(|(least, more)| json!({ "minItems": least, "maxItems": least + more })),
        (0_u64..3, 0_u64..3).prop_map(|(least, more)| json!({ "minProperties": least, "maxProperties": least + more })),
        Just(json!({ "$ref": "#" })),
        Just(json!({ "$ref": "#/$defs/shared", "description": "refers" })),
    ]
}

fn object(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let properties = proptest::collection::btree_map(key(), inner.clone(), 0..4);
    let required = proptest::collection::vec(key(), 0..3);
    (properties, required, proptest::option::of(prop_oneof![Just(json!(false)), inner]), any::<bool>()).prop_map(
        |(properties, mut required, additional, is_typed)| {
            required.sort();
            required.dedup();
            // `jsonschema` reports such a key as missing although it is present.
            if additional == Some(json!(false)) {
                required.retain(|name| properties.contains_key(name));
            }
            let mut schema = Map::new();
            if is_typed {
                schema.insert("type".to_owned(), "object".into());
            }
            schema.insert("properties".to_owned(), Value::Object(properties.into_iter().collect()));
            schema.insert("required".to_owned(), required.into());
            schema.extend(additional.map(|additional| ("additionalProperties".to_owned(), additional)));
            Value::Object(schema)
        },
    )
}

/// An object whose property `kind` is a constant.
fn tagged(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    proptest::collection::vec(inner, 2..4).prop_map(|parts| {
        let branches = ["a", "b", "ab"].into_iter().zip(parts).map(|(tag, part)| {
            json!({
                "type": "object",
                "properties": { "kind": { "const": tag }, "a": part },
                "required": ["kind", "a"],
            })
        });
        json!({ "oneOf": branches.collect::<Vec<_>>() })
    })
}

/// Schemas that apply to one value, and one for what none of them has evaluated.
fn unevaluating(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let parts = proptest::collection::vec(prop_oneof![object(inner.clone()).boxed(), inner.clone()], 1..3);
    let keyword = proptest::sample::select(vec!["allOf", "anyOf", "oneOf"]);
    (parts, keyword, prop_oneof![Just(json!(false)), inner], any::<bool>()).prop_map(
        |(parts, keyword, rest, refers)| {
            let mut schema = json!({ keyword: parts, "unevaluatedProperties": rest.clone(), "unevaluatedItems": rest });
            if refers {
                schema["$ref"] = "#/$defs/shared".into();
            }
            schema
        },
    )
}

fn subschema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            2 => object(inner.clone()),
            1 => tagged(inner.clone()),
            1 => (proptest::collection::vec(inner.clone(), 0..3), inner.clone())
                .prop_map(|(prefix, items)| json!({ "prefixItems": prefix, "items": items })),
            1 => inner.clone().prop_map(|items| json!({ "type": "array", "items": items, "uniqueItems": true })),
            1 => inner.clone().prop_map(|part| json!({ "allOf": [part] })),
            1 => inner.clone().prop_map(|part| json!({ "anyOf": [part, { "type": "null" }] })),
            1 => proptest::collection::vec(inner.clone(), 2..4).prop_map(|parts| json!({ "anyOf": parts })),
            1 => (object(inner.clone().boxed()), proptest::collection::vec(inner.clone(), 2..4)).prop_map(|(mut object, parts)| {
                object["oneOf"] = parts.into();
                object
            }),
            1 => object(inner.clone().boxed()).prop_map(|mut object| {
                object["$ref"] = "#/$defs/shared".into();
                object
            }),
            1 => (object(inner.clone().boxed()), inner.clone()).prop_map(|(mut object, part)| {
                object["patternProperties"] = json!({ "^[ab]$": part, "/": true });
                object
            }),
            1 => inner.clone().prop_map(|part| json!({ "not": part })),
            1 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(condition, then, other)| json!({ "if": condition, "then": then, "else": other })),
            1 => leaf().prop_map(|names| json!({ "propertyNames": names })),
            1 => (inner.clone(), 0_u64..3, proptest::option::of(0_u64..3)).prop_map(|(part, least, more)| {
                let mut schema = json!({ "contains": part, "minContains": least });
                if let Some(more) = more {
                    schema["maxContains"] = (least + more).into();
                }
                schema
            }),
            1 => (key(), key(), inner.clone()).prop_map(|(key, needed, part)| {
                json!({ "dependentRequired": { key.clone(): [needed] }, "dependentSchemas": { key: part } })
            }),
            2 => (unevaluating(inner.clone().boxed()), object(inner.clone().boxed())).prop_map(|(mut schema, object)| {
                schema["properties"] = object["properties"].clone();
                schema
            }),
            1 => (unevaluating(inner.clone().boxed()), inner).prop_map(|(mut schema, item)| {
                schema["prefixItems"] = json!([item]);
                schema
            }),
        ]
    })
}

fn schema() -> impl Strategy<Value = Value> {
    (subschema(), leaf()).prop_map(|(root, shared)| {
        let mut root = if root.is_object() { root } else { json!({ "properties": { "a": root } }) };
        root["$defs"] = json!({ "shared": shared });
        root
    })
}

proptest! {
    #![proptest_config(test_support::random(4_000))]

    #[test]
    fn the_violations_are_those_of_jsonschema(schema in schema(), values in proptest::collection::vec(value(), 8)) {
        let plan = Plan::compile(&schema);
        let plan = plan.as_ref();
        // Some of the schemas refer to themselves endlessly.
        if super::check(&schema, plan.is_some()).is_err() {
            return Ok(());
        }
        let Ok(library) = Patterns::default().options(Dialect::Draft202012).build(&schema) else { return Ok(()) };
        let evaluator = Evaluator::new(&schema, 1 << 20);
        let evaluated = Evaluated { evaluator: &evaluator, schema: &schema, plan, is_brief: false };
        for value in &values {
            prop_assert_eq!(evaluator.is_valid(&schema, plan, value), library.is_valid(value), "{} {}", schema, value);
            let brief = evaluator.failures(&schema, plan, value, usize::MAX, true);
            prop_assert_eq!(brief.is_empty(), library.is_valid(value), "{} {}", schema, value);
            // Beside other failures, `jsonschema` counts some of the parts as unevaluated, and others not.
            if library.is_valid(value) || schema.to_string().contains("unevaluated") {
                continue;
            }
            let ours = Violations::collect(&schema, false, &evaluated, value, Wanted::All);
            let theirs = Violations::collect(&schema, false, &library, value, Wanted::All);
            prop_assert_eq!(ours, theirs, "{} {}", schema, value);
        }
    }
}

#[test]
fn the_evaluation_stops_at_the_number_of_failures_that_is_asked_for() {
    let keywords = json!({ "type": "string", "minimum": 10, "multipleOf": 4 });
    let properties = json!({ "properties": { "a": { "type": "string" }, "b": false, "n": { "maximum": 0 } } });
    let items = json!({ "items": { "type": "string" } });
    for (schema, value) in
        [(keywords, json!(3)), (properties, json!({ "a": 1, "b": 1, "n": 1 })), (items, json!([1, 2, 3]))]
    {
        let evaluator = Evaluator::new(&schema, 1 << 20);
        for (most, expected) in [(1, 1), (2, 2), (3, 3), (usize::MAX, 3)] {
            let n_failures = evaluator.failures(&schema, None, &value, most, false).len();
            assert_eq!(n_failures, expected, "at most {most} of {schema}");
        }
    }
}
