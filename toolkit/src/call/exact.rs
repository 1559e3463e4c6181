//! Integers that a tree rounds, as exactly as a schema compares them.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use toolkit_schema::plan::Whole;
use toolkit_schema::tree::Tree;

/// Returns the value with the integers at these places, where they are others than the floats that stand for them.
///
/// An integer beyond 64 bits stays a float, since a tree holds no other. A schema compares it with its own numbers, and
/// those are floats there too; rounding changes an order only where it meets one of them. There the float next to it
/// takes its place, on the side of the integer that was sent.
pub(crate) fn exactly(tree: &Tree, pointers: &[String], schema: &Value) -> Option<Value> {
    let mut rounded = pointers.iter().filter(|pointer| tree.rounded(pointer).is_some()).peekable();
    rounded.peek()?;
    let mut floats = Vec::new();
    collect(schema, &mut floats);
    let mut value = tree.value.clone();
    for pointer in rounded {
        let Some(slot) = value.pointer_mut(pointer) else { continue };
        let whole = tree.whole(pointer);
        let exact = whole.of_tree().or_else(|| beside(whole, slot.as_f64()?, &floats));
        if let Some(exact) = exact {
            *slot = exact.into();
        }
    }
    Some(value)
}

/// The numbers of a schema as floats, wherever they stand.
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

/// Compares an integer with the float that it is rounded to.
fn compare(whole: Whole, float: f64) -> Option<Ordering> {
    match whole {
        // As a float, the largest integers of 128 bits are one of 129.
        Whole::Natural(_) if float >= 2_f64.powi(128) => Some(Ordering::Less),
        Whole::Natural(value) => Some(value.cmp(&(float as u128))),
        Whole::Negative(value) => Some(value.cmp(&(float as i128))),
        Whole::Wider | Whole::Fraction => None,
    }
}
