//! Comparison of integers that a tree rounds with the numbers of a schema.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use toolkit_schema::plan::Whole;
use toolkit_schema::tree::Tree;

/// Returns the value with the integers at these locations replaced where they differ from their floats in the schema's
/// order.
///
/// A tree holds integers beyond 64 bits as floats. A schema compares them with its own numbers, which are floats as
/// well, so rounding affects the order only if the float equals one of the schema's numbers. In that case the adjacent
/// float in the direction of the original integer replaces it.
pub(crate) fn exactly(tree: &Tree, pointers: &[String], schema: &Value) -> Option<Value> {
    let mut rounded = pointers.iter().filter(|pointer| tree.rounded(pointer).is_some()).peekable();
    rounded.peek()?;
    let mut floats = Vec::new();
    collect(schema, &mut floats);
    let mut value = tree.value.clone();
    for pointer in rounded {
        let Some(slot) = value.pointer_mut(pointer) else { continue };
        let whole = tree.whole(pointer);
        let exact = whole.to_number().or_else(|| beside(whole, slot.as_f64()?, &floats));
        if let Some(exact) = exact {
            *slot = exact.into();
        }
    }
    Some(value)
}

/// Collects all numbers of a schema as floats.
fn collect(schema: &Value, floats: &mut Vec<f64>) {
    match schema {
        Value::Number(number) => floats.extend(number.as_f64()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, floats)),
        Value::Object(object) => object.values().for_each(|value| collect(value, floats)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn beside(whole: Whole, float: f64, floats: &[f64]) -> Option<Number> {
    if !floats.contains(&float) {
        return None;
    }
    match compare(whole, float)? {
        Ordering::Less => Number::from_f64(float.next_down()),
        Ordering::Equal => None,
        Ordering::Greater => Number::from_f64(float.next_up()),
    }
}

/// Compares an integer with the float to which it rounds.
fn compare(whole: Whole, float: f64) -> Option<Ordering> {
    match whole {
        // The largest integers of 128 bits round up to 2^128.
        Whole::Natural(_) if float >= 2_f64.powi(128) => Some(Ordering::Less),
        Whole::Natural(value) => Some(value.cmp(&(float as u128))),
        Whole::Negative(value) => Some(value.cmp(&(float as i128))),
        Whole::Wider | Whole::Fraction => None,
    }
}
