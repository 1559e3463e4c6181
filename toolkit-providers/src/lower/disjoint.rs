//! A conservative check that the branches of a choice are disjoint, by types, constants and tags.

use serde_json::Value;

use super::join::names;

/// Returns true if no value can match two of the branches.
pub(crate) fn are_disjoint(branches: &[Value]) -> bool {
    let mut pairs = branches.iter().enumerate().flat_map(|(idx, a)| branches[idx + 1..].iter().map(move |b| (a, b)));
    pairs.all(|(a, b)| types_are_disjoint(a, b) || values_are_disjoint(a, b) || tags_are_disjoint(a, b))
}

fn types_are_disjoint(a: &Value, b: &Value) -> bool {
    let (Some(a), Some(b)) = (a.get("type").and_then(names), b.get("type").and_then(names)) else {
        return false;
    };
    let overlap = |a: &str, b: &str| a == b || matches!((a, b), ("integer", "number") | ("number", "integer"));
    !a.iter().any(|a| b.iter().any(|b| overlap(a, b)))
}

fn values_are_disjoint(a: &Value, b: &Value) -> bool {
    let (Some(a), Some(b)) = (values(a), values(b)) else {
        return false;
    };
    !a.iter().any(|a| b.iter().any(|b| same(a, b)))
}

fn values(schema: &Value) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(constant), _) => Some(vec![constant]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

/// Returns true if two values are equal, or may be: `1` and `1.0` are the same value.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// Returns true if both schemas are of objects that require a property with disjoint values.
fn tags_are_disjoint(a: &Value, b: &Value) -> bool {
    let requires = |schema: &Value, name: &str| {
        let required = schema.get("required").and_then(Value::as_array);
        required.is_some_and(|required| required.iter().any(|required| required == name))
    };
    let is_object = |schema: &Value| schema.get("type").is_some_and(|name| name == "object");
    let (Some(of_a), Some(of_b)) = (a.get("properties"), b.get("properties")) else {
        return false;
    };
    let mut names = of_a.as_object().into_iter().flatten();
    is_object(a)
        && is_object(b)
        && names.any(|(name, tag)| {
            requires(a, name)
                && requires(b, name)
                && of_b.get(name).is_some_and(|other| values_are_disjoint(tag, other) || types_are_disjoint(tag, other))
        })
}
