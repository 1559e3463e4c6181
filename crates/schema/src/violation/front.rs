//! The front of a value that is too large to explain in full.
//!
//! Each error takes hundreds of bytes, and a choice collects the errors of all of its branches. Without truncation,
//! rejecting a call of a few megabytes with a mistake in every item would take gigabytes.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::pointer::{child, tokens};
use crate::violation::single::Violation;

/// The maximum number of values that are searched for violations.
const MAX_VALUES: usize = 20_000;

/// Returns the front of `instance`, or `None` if the value is small enough to be explained in full.
///
/// Arrays lose their last items, and objects the keys that the schema does not declare.
pub(super) fn trimmed(schema: &Value, instance: &Value) -> Option<Value> {
    if !is_large(instance) {
        return None;
    }
    let mut names = HashSet::new();
    property_names(schema, &mut names);
    Some(front(instance, &names, &mut MAX_VALUES.clone()))
}

/// Returns true if only the front of a value is explained.
pub(crate) fn is_large(instance: &Value) -> bool {
    has_more_than(instance, &mut MAX_VALUES.clone())
}

/// Returns true if a schema may have a choice.
pub(crate) fn has_choice(schema: &Value) -> bool {
    let text = schema.to_string();
    ["anyOf", "oneOf"].iter().any(|keyword| text.contains(keyword))
}

/// Returns true if a violation of the front is also one of the whole value. A missing part may have been truncated.
pub(super) fn is_certain(violation: &Violation) -> bool {
    !matches!(violation.keyword.as_str(), "minItems" | "minProperties" | "contains")
}

fn has_more_than(value: &Value, budget: &mut usize) -> bool {
    if *budget == 0 {
        return true;
    }
    *budget -= 1;
    match value {
        Value::Array(items) => items.iter().any(|item| has_more_than(item, budget)),
        Value::Object(object) => object.values().any(|value| has_more_than(value, budget)),
        _ => false,
    }
}

pub(super) fn front(value: &Value, names: &HashSet<&str>, budget: &mut usize) -> Value {
    *budget = budget.saturating_sub(1);
    match value {
        Value::Array(items) => {
            let mut kept = Vec::new();
            for item in items {
                if *budget == 0 {
                    break;
                }
                kept.push(front(item, names, budget));
            }
            Value::Array(kept)
        }
        Value::Object(object) => {
            let mut kept = Map::new();
            for (key, value) in object {
                if *budget > 0 || names.contains(key.as_str()) {
                    kept.insert(key.clone(), front(value, names, budget));
                }
            }
            Value::Object(kept)
        }
        scalar => scalar.clone(),
    }
}

/// Returns the pointer with `…` in place of each key that `schema` does not declare.
pub fn declared_pointer(schema: &Value, pointer: &str) -> String {
    let mut names = HashSet::new();
    property_names(schema, &mut names);
    let is_declared = |token: &str| token.bytes().all(|byte| byte.is_ascii_digit()) || names.contains(token);
    tokens(pointer).fold(String::new(), |place, token| child(&place, if is_declared(&token) { &token } else { "…" }))
}

fn property_names<'s>(schema: &'s Value, names: &mut HashSet<&'s str>) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Object(properties)) = object.get("properties") {
                names.extend(properties.keys().map(String::as_str));
            }
            object.values().for_each(|value| property_names(value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| property_names(item, names)),
        _ => {}
    }
}
