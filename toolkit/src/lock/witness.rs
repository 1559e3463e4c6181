//! A value that shows what a change breaks.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Map, Value, json};

use super::covers::canonical;
use crate::schema::{Schema, walk};

/// A value that `accepts` accepts and `refuses` refuses, if one is found.
pub(super) fn witness(accepts: &Value, refuses: &Value) -> Option<Value> {
    let [accepting, refusing] = [accepts, refuses].map(|schema| Schema::from_value(schema.clone()));
    let (accepting, refusing) = (accepting.ok()?, refusing.ok()?);
    let shows = |value: &Value| accepting.is_valid(value) && !refusing.is_valid(value);
    let mut samples = samples(accepts, accepts, MAX_DEPTH);
    // What one says and the other does not is where they differ, so the samples of both are looked at.
    samples.extend(self::samples(refuses, refuses, MAX_DEPTH));
    let sampled = samples.into_iter().find(|value| shows(value));
    sampled.or_else(|| of_difference(accepts, refuses).filter(shows))
}

/// An example of the values between two schemas.
fn of_difference(accepts: &Value, refuses: &Value) -> Option<Value> {
    let asked = catch_unwind(AssertUnwindSafe(|| {
        let difference = canonical(accepts).ok()?.subtract(&canonical(refuses).ok()?).ok()?;
        Some(difference.to_json_schema())
    }));
    Schema::from_value(asked.ok()??).ok()?.example()
}

/// How deep samples are made.
const MAX_DEPTH: usize = 8;
/// How many samples of one schema are kept.
const MAX_SAMPLES: usize = 48;

/// Values of a schema, at its bounds and just beyond them; not all of them fit.
fn samples(schema: &Value, root: &Value, depth: usize) -> Vec<Value> {
    let Value::Object(keywords) = schema else {
        return vec![Value::Null, json!(1)];
    };
    if depth == 0 {
        return vec![Value::Null];
    }
    if let Some(Value::String(to)) = keywords.get("$ref") {
        return walk::resolve(root, to).map_or_else(Vec::new, |to| samples(to, root, depth - 1));
    }
    let mut found = Vec::new();
    found.extend(keywords.get("const").cloned());
    found.extend(keywords.get("enum").and_then(Value::as_array).into_iter().flatten().cloned());
    for choice in ["anyOf", "oneOf", "allOf"] {
        for branch in keywords.get(choice).and_then(Value::as_array).into_iter().flatten() {
            found.extend(samples(branch, root, depth - 1));
        }
    }
    let names: Vec<&str> = match keywords.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ if keywords.contains_key("properties") => vec!["object"],
        _ if found.is_empty() => vec!["null", "boolean", "integer", "string", "array", "object"],
        _ => Vec::new(),
    };
    for name in names {
        match name {
            "null" => found.push(Value::Null),
            "boolean" => found.extend([json!(true), json!(false)]),
            "integer" | "number" => found.extend(numbers(keywords, name)),
            "string" => found.extend(texts(keywords)),
            "array" => found.extend(lists(keywords, root, depth)),
            "object" => found.extend(objects(keywords, root, depth)),
            _ => {}
        }
    }
    found.truncate(MAX_SAMPLES);
    found
}

fn numbers(keywords: &Map<String, Value>, name: &str) -> Vec<Value> {
    let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
    let bounds = bounds.into_iter().filter_map(|bound| keywords.get(bound)?.as_f64());
    let mut numbers = vec![json!(0), json!(1), json!(-1), json!(1000)];
    for bound in bounds.filter(|bound| bound.abs() < 1e15) {
        numbers.extend([bound - 1.0, bound, bound + 1.0].map(|near| json!(near.trunc() as i64)));
    }
    if name == "number" {
        numbers.push(json!(0.5));
    }
    numbers
}

fn texts(keywords: &Map<String, Value>) -> Vec<Value> {
    /// Longer texts show nothing that shorter ones do not.
    const MAX_LENGTH: u64 = 4096;

    let lengths = ["minLength", "maxLength"].into_iter().filter_map(|bound| keywords.get(bound)?.as_u64());
    let mut texts = vec![json!(""), json!("a"), json!("Text 1")];
    for length in lengths.filter(|length| *length <= MAX_LENGTH) {
        texts.extend([length.saturating_sub(1), length, length + 1].map(|length| json!("a".repeat(length as usize))));
    }
    texts.extend(Schema::from_value(keywords.clone().into()).ok().and_then(|schema| schema.example()));
    texts
}

fn lists(keywords: &Map<String, Value>, root: &Value, depth: usize) -> Vec<Value> {
    const MAX_ITEMS: u64 = 64;

    let items = samples(keywords.get("items").unwrap_or(&Value::Bool(true)), root, depth - 1);
    let places: Vec<Value> = keywords
        .get("prefixItems")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|place| samples(place, root, depth - 1).into_iter().next())
        .collect();
    let bounds = ["minItems", "maxItems"].into_iter().filter_map(|bound| keywords.get(bound)?.as_u64());
    let mut lengths: Vec<u64> = bounds.flat_map(|bound| [bound.saturating_sub(1), bound, bound + 1]).collect();
    lengths.extend([0, 1, 2]);
    lengths.retain(|length| *length <= MAX_ITEMS);
    let least = keywords.get("minItems").and_then(Value::as_u64).unwrap_or(1).min(MAX_ITEMS);
    let filled = |item: &Value, length: u64| -> Value {
        let rest = (places.len() as u64..length).map(|_| item.clone());
        places.iter().take(length as usize).cloned().chain(rest).collect()
    };
    let mut lists: Vec<Value> = items.iter().map(|item| filled(item, least.max(1))).collect();
    if let Some(item) = items.first() {
        lists.extend(lengths.into_iter().map(|length| filled(item, length)));
    }
    lists
}

/// The least object, the fullest one, and the fullest with one property otherwise or left out.
fn objects(keywords: &Map<String, Value>, root: &Value, depth: usize) -> Vec<Value> {
    let empty = Map::new();
    let properties = keywords.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required: Vec<&str> =
        keywords.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let mut of_each: Vec<(&str, Vec<Value>)> =
        properties.iter().map(|(name, schema)| (name.as_str(), fitting(schema, root, depth))).collect();
    of_each
        .extend(required.iter().filter(|name| !properties.contains_key(**name)).map(|name| (*name, vec![Value::Null])));
    let first = |(name, values): &(&str, Vec<Value>)| Some(((*name).to_owned(), values.first()?.clone()));
    let full: Map<String, Value> = of_each.iter().filter_map(first).collect();
    let least: Map<String, Value> = full
        .iter()
        .filter(|(name, _)| required.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let mut objects = vec![least.clone(), full.clone()];
    for (name, values) in &of_each {
        let mut without = full.clone();
        without.remove(*name);
        objects.push(without);
        for value in values.iter().skip(1) {
            // Alone as well: two values together may be refused for another reason.
            for base in [&least, &full] {
                let mut object = base.clone();
                object.insert((*name).to_owned(), value.clone());
                objects.push(object);
            }
        }
    }
    let mut more = least;
    more.insert("another".to_owned(), json!(1));
    objects.push(more);
    objects.into_iter().map(Value::Object).collect()
}

/// The samples of a property, those that fit first.
fn fitting(schema: &Value, root: &Value, depth: usize) -> Vec<Value> {
    let mut values = samples(schema, root, depth - 1);
    if let Ok(schema) = Schema::from_value(super::covers::alone(schema, root)) {
        values.sort_by_key(|value| !schema.is_valid(value));
    }
    values
}
