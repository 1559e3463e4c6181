//! Samples of schemas without subschemas.

use serde_json::{Map, Value, json};

use crate::{Schema, walk};

/// Returns numbers at the bounds of two schemas and just beyond them.
pub(super) fn numbers(keywords: &Map<String, Value>, other: Option<&Value>, name: &str) -> Vec<Value> {
    const BOUNDS: [&str; 5] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

    let both = BOUNDS.into_iter().flat_map(|bound| [keywords.get(bound), other.and_then(|other| other.get(bound))]);
    let bounds: Vec<f64> = both.filter_map(|bound| bound?.as_f64()).collect();
    let mut numbers = Vec::new();
    for bound in bounds.into_iter().filter(|bound| bound.abs() < 1e15) {
        numbers.extend([bound - 1.0, bound, bound + 1.0].map(|near| json!(near.trunc() as i64)));
        if name == "number" {
            numbers.extend([json!(bound), json!(bound + 0.5), json!(bound - 0.5)]);
        }
    }
    numbers.extend([json!(0), json!(1), json!(-1), json!(1000)]);
    if name == "number" {
        numbers.push(json!(0.5));
    }
    numbers
}

/// Returns strings of the minimum and maximum lengths.
pub(super) fn texts(keywords: &Map<String, Value>, other: Option<&Value>) -> Vec<Value> {
    /// Longer strings demonstrate nothing that shorter ones do not.
    const MAX_LENGTH: u64 = 4096;

    let lengths = ["minLength", "maxLength"].into_iter();
    let lengths = lengths.flat_map(|bound| [keywords.get(bound), other.and_then(|other| other.get(bound))]);
    let lengths = lengths.filter_map(|bound| bound?.as_u64());
    let mut texts: Vec<Value> = Vec::new();
    let pattern = |keywords: &Value| {
        let pattern = json!({ "type": "string", "pattern": keywords.get("pattern")? });
        Schema::from_value(pattern).ok()?.example()
    };
    if ["pattern", "format"].iter().any(|keyword| keywords.contains_key(*keyword)) {
        let text: Map<String, Value> = keywords
            .iter()
            .filter(|(keyword, _)| *keyword != "examples")
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        texts.extend(Schema::from_value(text.into()).ok().and_then(|schema| schema.example()));
    }
    texts.extend([json!("a"), json!(""), json!("Text 1")]);
    for length in lengths.filter(|length| *length <= MAX_LENGTH) {
        texts.extend([length.saturating_sub(1), length, length + 1].map(|length| json!("a".repeat(length as usize))));
    }
    texts.extend(keywords.get("examples").and_then(Value::as_array).into_iter().flatten().take(4).cloned());
    texts.extend(other.and_then(pattern));
    texts
}

/// Returns the strings of a keyword that is a list.
pub(super) fn names<'s>(keywords: Option<&'s Map<String, Value>>, keyword: &str) -> Vec<&'s str> {
    let names = keywords.and_then(|keywords| keywords.get(keyword)?.as_array());
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns a part of a document together with the definitions that it may refer to.
pub(super) fn alone(part: &Value, document: &Value) -> Value {
    let mut part = match part {
        Value::Bool(true) => Value::Object(Map::new()),
        Value::Bool(false) => json!({ "not": {} }),
        part => part.clone(),
    };
    if let (Value::Object(part), Some(document)) = (&mut part, document.as_object()) {
        for container in walk::CONTAINERS.into_iter().chain(["$schema"]) {
            if let Some(definitions) = document.get(container) {
                part.entry(container).or_insert_with(|| definitions.clone());
            }
        }
    }
    part
}
