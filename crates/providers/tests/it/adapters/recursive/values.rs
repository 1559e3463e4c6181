//! Random values that are likely to match a schema, or to violate it slightly.

use serde_json::{Map, Value, json};

use super::documents::KEYS;
use test_support::mutate::{Dice, mutate};

/// Generates a value that often matches the schema.
fn guess(schema: &Value, root: &Value, dice: &mut Dice, depth: usize) -> Value {
    let Value::Object(keywords) = schema else {
        return scalar(dice);
    };
    if depth == 0 {
        return if dice.one_in(2) { json!({}) } else { scalar(dice) };
    }
    let parts = ["allOf", "anyOf", "oneOf"].iter().filter_map(|choice| keywords.get(*choice)?.as_array());
    let parts: Vec<&Value> = parts.flatten().collect();
    let mut values = Vec::new();
    if let Some(to) = keywords.get("$ref").and_then(Value::as_str) {
        let to = to.replace("%20", " ").replace("%24", "$");
        let target = root.pointer(&to[1..]).unwrap_or(&Value::Null);
        values.push(guess(target, root, dice, depth - 1));
    }
    if !parts.is_empty() {
        values.push(guess(dice.pick::<&Value>(&parts), root, dice, depth - 1));
        if dice.one_in(2) {
            values.push(guess(dice.pick::<&Value>(&parts), root, dice, depth - 1));
        }
    }
    if let Some(then) = keywords.get("then").filter(|_| dice.one_in(2)) {
        values.push(guess(then, root, dice, depth - 1));
    }
    if let Some(listed) = keywords.get("const") {
        return listed.clone();
    }
    if let Some(Value::Array(listed)) = keywords.get("enum") {
        return dice.pick(listed).clone();
    }
    values.extend(own(keywords, root, dice, depth));
    let mut together: Option<Value> = None;
    for value in values {
        together = Some(match (together, value) {
            (Some(Value::Object(mut one)), Value::Object(other)) => {
                one.extend(other);
                one.into()
            }
            (Some(one), other) => {
                if dice.one_in(2) {
                    one
                } else {
                    other
                }
            }
            (None, value) => value,
        });
    }
    together.unwrap_or_else(|| scalar(dice))
}

fn own(keywords: &Map<String, Value>, root: &Value, dice: &mut Dice, depth: usize) -> Option<Value> {
    let has = |names: &[&str]| names.iter().any(|name| keywords.contains_key(*name));
    let kind = match keywords.get("type") {
        Some(Value::Array(names)) => dice.pick(names).as_str()?,
        Some(name) => name.as_str()?,
        None if has(&["properties", "required", "patternProperties", "additionalProperties"]) => "object",
        None if has(&["items", "prefixItems", "minItems", "contains"]) => "array",
        None => return None,
    };
    Some(match kind {
        "object" => {
            let mut members = Map::new();
            let empty = Map::new();
            let properties = keywords.get("properties").and_then(Value::as_object).unwrap_or(&empty);
            let required: Vec<&str> = keywords
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            for (name, schema) in properties {
                if required.contains(&name.as_str()) || dice.one_in(2) {
                    members.insert(name.clone(), guess(schema, root, dice, depth - 1));
                }
            }
            let others = keywords.get("additionalProperties").unwrap_or(&Value::Bool(true));
            let patterns = keywords.get("patternProperties").and_then(Value::as_object).unwrap_or(&empty);
            let more: Vec<&str> = if dice.one_in(2) { vec![*dice.pick(KEYS)] } else { Vec::new() };
            for name in required.into_iter().chain(more) {
                if !members.contains_key(name) && (*others != false || !patterns.is_empty()) {
                    let schema = patterns.values().next().filter(|_| dice.one_in(2)).unwrap_or(others);
                    members.insert(name.to_owned(), guess(schema, root, dice, depth - 1));
                }
            }
            members.into()
        }
        "array" => {
            let least = keywords.get("minItems").and_then(Value::as_u64).unwrap_or(0) as usize;
            let length = least + dice.below(3);
            let empty = Vec::new();
            let tuple = keywords.get("items").and_then(Value::as_array);
            let places = keywords.get("prefixItems").and_then(Value::as_array).or(tuple).unwrap_or(&empty);
            let items = keywords.get("items").or(keywords.get("contains")).unwrap_or(&Value::Null);
            (0..length).map(|n| guess(places.get(n).unwrap_or(items), root, dice, depth - 1)).collect()
        }
        "string" => json!(*dice.pick(&["a", "b", "", "abc"])),
        "integer" => json!(dice.below(4)),
        "number" => json!(*dice.pick(&[0.5, 1.0, 2.0])),
        "boolean" => json!(dice.one_in(2)),
        _ => Value::Null,
    })
}

fn scalar(dice: &mut Dice) -> Value {
    let values = [
        json!(null),
        json!(1),
        json!("a"),
        json!("b"),
        json!(0.5),
        json!([]),
        json!({}),
        json!({ "a": null }),
        json!({ "b": "a" }),
        json!(true),
    ];
    dice.pick(&values).clone()
}

/// Generates arguments, which are objects.
pub(super) fn instances(schema: &Value, dice: &mut Dice, n: usize) -> Vec<Value> {
    let mut instances = vec![json!({})];
    for _ in 0..n {
        let valid = guess(schema, schema, dice, 7);
        let mut damaged = valid.clone();
        mutate(&mut damaged, dice);
        let mut without = valid.clone();
        null_some(&mut without, dice);
        instances.extend([valid, damaged, without]);
    }
    instances.retain(Value::is_object);
    instances
}

/// Replaces some members by null.
fn null_some(value: &mut Value, dice: &mut Dice) {
    match value {
        Value::Object(members) => members.values_mut().for_each(|member| match dice.one_in(3) {
            true => *member = Value::Null,
            false => null_some(member, dice),
        }),
        Value::Array(items) => items.iter_mut().for_each(|item| null_some(item, dice)),
        _ => {}
    }
}
