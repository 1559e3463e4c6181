//! Random schemas that have a plan, and instances of them.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::mutate::{Dice, WORDS, anything};

const NAMES: &[&str] = &["a", "b", "c", "id", "name", "é", "x\"y", "next"];

/// Returns random schemas.
pub fn schema() -> impl Strategy<Value = Value> {
    (node(), node()).prop_map(|(mut root, shared)| {
        if let Value::Object(keywords) = &mut root {
            keywords.insert("$defs".to_owned(), json!({ "shared": shared }));
        }
        root
    })
}

fn node() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            3 => object(inner.clone()),
            2 => array(inner.clone()),
            1 => inner.clone().prop_map(|schema| json!({ "anyOf": [schema, { "type": "null" }] })),
            1 => (any::<bool>(), prop::collection::vec(inner.clone(), 1..4)).prop_map(|(one, branches)| {
                json!({ (if one { "oneOf" } else { "anyOf" }): branches })
            }),
            1 => (any::<bool>(), prop::collection::vec(inner.clone(), 1..4)).prop_map(|(closed, content)| tagged(closed, &content)),
            1 => prop::collection::vec(inner.clone(), 1..4).prop_map(|content| externally_tagged(&content)),
            1 => inner.prop_map(|schema| json!({ "allOf": [schema], "description": "alone" })),
        ]
    })
}

fn leaf() -> impl Strategy<Value = Value> {
    let number = -4..8_i64;
    let half = (-8..16_i64).prop_map(|n| n as f64 / 2.0);
    let words = prop::collection::vec(prop::sample::select(WORDS), 1..4);
    prop_oneof![
        1 => prop::sample::select(&["null", "boolean", "integer", "number", "string", "array", "object"][..])
            .prop_map(|name| json!({ "type": name, "x-note": 1, "format": "uuid" })),
        1 => Just(json!({ "type": ["string", "null"] })),
        1 => prop::sample::select(&["string", "integer"][..])
            .prop_map(|name| json!({ "type": "array", "items": { "type": name }, "uniqueItems": true })),
        1 => Just(json!({ "type": ["integer", "string"], "minimum": 0, "minLength": 1 })),
        1 => Just(json!({ "$ref": "#/$defs/shared" })),
        1 => Just(json!({ "$ref": "#", "description": "again" })),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => Just(json!({})),
        1 => number.clone().prop_map(|n| json!({ "type": "integer", "minimum": n, "maximum": n + 5 })),
        1 => (half, number.clone()).prop_map(|(low, high)| json!({ "type": "number", "exclusiveMinimum": low, "exclusiveMaximum": high })),
        1 => Just(json!({ "type": "integer", "maximum": u64::MAX, "exclusiveMinimum": i64::MIN })),
        1 => Just(json!({ "maximum": 1e19, "minimum": -9_223_372_036_854_775_809.0 })),
        1 => (1..5_u64).prop_map(|n| json!({ "type": "number", "multipleOf": n })),
        1 => (0..4_u64).prop_map(|n| json!({ "type": "string", "minLength": n, "maxLength": n + 2 })),
        1 => prop::sample::select(&["^[a-z]+$", "^\\w*$", "b|é", "^(A|B|Unit)$", "."][..]).prop_map(|p| json!({ "pattern": p })),
        1 => words.clone().prop_map(|words| json!({ "type": "string", "enum": words })),
        1 => words.prop_map(|words| {
            let branches = words.iter().map(|word| json!({ "const": word, "type": "string" }));
            json!({ "oneOf": branches.collect::<Value>() })
        }),
        1 => number.prop_map(|n| json!({ "enum": [n, null, "a", true, n + 3] })),
    ]
}

fn object(inner: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    let names = prop::sample::subsequence(NAMES, 0..5);
    let required = prop::sample::subsequence(NAMES, 0..3);
    let rest = prop::option::of(prop_oneof![3 => Just(json!(false)), 1 => inner.clone()]);
    let counts = prop::option::of((0..3_u64, 0..4_u64));
    (names, prop::collection::vec(inner, 5), required, rest, counts).prop_map(
        |(names, schemas, required, rest, counts)| {
            let properties: Map<String, Value> = names.iter().map(|name| (*name).to_owned()).zip(schemas).collect();
            let required: Vec<&str> =
                required.into_iter().filter(|name| names.contains(name) || name.len() > 3).collect();
            let mut schema = json!({ "type": "object", "properties": properties, "required": required });
            if let Some(rest) = rest {
                schema["additionalProperties"] = rest;
            }
            if let Some((least, more)) = counts {
                schema["minProperties"] = json!(least);
                schema["maxProperties"] = json!(least + more);
            }
            schema
        },
    )
}

fn array(inner: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    let prefix = prop::option::of(prop::collection::vec(inner.clone(), 1..3));
    let counts = prop::option::of((0..3_u64, 0..4_u64));
    (inner, prefix, counts).prop_map(|(items, prefix, counts)| {
        let mut schema = json!({ "type": "array", "items": items });
        if let Some(prefix) = prefix {
            schema["prefixItems"] = Value::Array(prefix);
        }
        if let Some((least, more)) = counts {
            schema["minItems"] = json!(least);
            schema["maxItems"] = json!(least + more);
        }
        schema
    })
}

fn tagged(closed: bool, content: &[Value]) -> Value {
    let branches = content.iter().zip(["A", "B", "C"]).map(|(content, tag)| {
        json!({
            "type": "object",
            "properties": { "kind": { "type": "string", "const": tag }, "value": content },
            "required": ["kind"],
            "additionalProperties": !closed
        })
    });
    json!({ "oneOf": branches.collect::<Value>() })
}

fn externally_tagged(content: &[Value]) -> Value {
    let unit = json!({ "type": "string", "enum": ["Unit"] });
    let branches = content.iter().zip(["A", "B", "C"]).map(|(content, tag)| {
        json!({ "type": "object", "properties": { tag: content }, "required": [tag], "additionalProperties": false })
    });
    json!({ "oneOf": branches.chain([unit]).collect::<Value>() })
}

/// Returns a value that often matches the schema.
pub fn instance(schema: &Value, root: &Value, dice: &mut Dice, depth: usize) -> Value {
    let Value::Object(keywords) = schema else {
        return anything(dice, 1);
    };
    if depth == 0 {
        return Value::Null;
    }
    if let Some(to) = keywords.get("$ref") {
        let to = root.pointer(&to.as_str().expect("a reference")[1..]).expect("it leads somewhere");
        return instance(to, root, dice, depth - 1);
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        if let Some(Value::Array(branches)) = keywords.get(keyword) {
            return instance(dice.pick(branches), root, dice, depth - 1);
        }
    }
    if let Some(value) = keywords.get("const") {
        return value.clone();
    }
    if let Some(Value::Array(values)) = keywords.get("enum") {
        return dice.pick(values).clone();
    }
    let kind = match keywords.get("type") {
        Some(Value::Array(names)) => dice.pick(names).as_str(),
        Some(name) => name.as_str(),
        None => None,
    };
    let count = |least: &str, most: &str, dice: &mut Dice| {
        let least = keywords.get(least).and_then(Value::as_u64).unwrap_or(0) as usize;
        let most = keywords.get(most).and_then(Value::as_u64).unwrap_or(least as u64 + 3) as usize;
        // No value matches a schema whose bounds contradict each other.
        least + dice.below(most.saturating_sub(least) + 1)
    };
    match kind {
        Some("null") => Value::Null,
        Some("boolean") => json!(dice.one_in(2)),
        Some("integer") => json!(keywords.get("minimum").and_then(Value::as_i64).unwrap_or(0) + dice.below(6) as i64),
        Some("number") => json!(dice.below(40) as f64 / 4.0 - 2.0),
        Some("string") => {
            let length = count("minLength", "maxLength", dice);
            json!((0..length).map(|_| *dice.pick(&['a', 'b', 'é', '😀'])).collect::<String>())
        }
        Some("array") => {
            let length = count("minItems", "maxItems", dice);
            let empty = json!([]);
            let prefix = keywords.get("prefixItems").unwrap_or(&empty);
            let items = keywords.get("items").unwrap_or(&Value::Null);
            (0..length).map(|n| instance(prefix.get(n).unwrap_or(items), root, dice, depth - 1)).collect()
        }
        Some("object") => {
            let mut members = Map::new();
            for (name, schema) in keywords.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let required = keywords.get("required").and_then(Value::as_array);
                let required = required.is_some_and(|required| required.iter().any(|other| other == name));
                if required || dice.one_in(2) {
                    members.insert(name.clone(), instance(schema, root, dice, depth - 1));
                }
            }
            match keywords.get("additionalProperties") {
                Some(Value::Bool(false)) => {}
                rest => {
                    for _ in 0..dice.below(3) {
                        let rest = rest.unwrap_or(&Value::Null);
                        let (name, value) = (*dice.pick(WORDS), instance(rest, root, dice, depth - 1));
                        if keywords.get("properties").and_then(|declared| declared.get(name)).is_none() {
                            members.insert(name.to_owned(), value);
                        }
                    }
                }
            }
            Value::Object(members)
        }
        _ => anything(dice, 2),
    }
}
