//! Whole numbers that are spelled as floats: `3.0` is an integer in JSON Schema and not in serde.

use std::borrow::Cow;

use serde_json::Value;

use super::coerce::Change;
use crate::arguments::Arguments;
use toolkit_schema::child;
use toolkit_schema::tree::Tree;

const READ_AS_INTEGER: &str = "a whole number read as an integer";

/// The maximum number of trial decodings to find the numbers that a type expects as integers.
const MAX_TRIALS: usize = 64;

/// Returns the arguments as text: the original, or the changed tree.
pub(super) fn text<'a>(sent: &'a Arguments<'_>, tree: &Tree, changes: &[Change]) -> Cow<'a, [u8]> {
    match sent {
        Arguments::Json(text) if changes.is_empty() => Cow::Borrowed(text),
        _ => Cow::Owned(tree.to_text()),
    }
}

/// Creates the change of a float that was read as an integer.
pub(super) fn change(pointer: String) -> Change {
    Change { pointer, what: READ_AS_INTEGER.into() }
}

/// Replaces whole floats by integers where the value does not fit otherwise, and returns their locations. A type that
/// buffers a value before it decides (`untagged`, `flatten`) cannot request an integer, so the locations are found by
/// trial. If the value does not fit with integers everywhere, all are replaced, because the error has another cause.
pub(super) fn respelled(tree: &Tree, fits: &mut dyn FnMut(&Value) -> bool) -> (Value, Vec<String>) {
    let mut value = tree.value.clone();
    let mut floats = Vec::new();
    find(&mut value, "", tree, &mut floats);
    if floats.is_empty() || !fits(&value) {
        return (value, Vec::new());
    }
    // Restores the floats, in halves as long as the value still fits.
    let mut trials = MAX_TRIALS;
    let mut needed = Vec::new();
    let mut parts = vec![&floats[..]];
    while let Some(part) = parts.pop() {
        if trials == 0 {
            needed.extend(part);
            continue;
        }
        trials -= 1;
        swap(&mut value, part, |float| &float.sent);
        if fits(&value) {
            continue;
        }
        swap(&mut value, part, |float| &float.integer);
        match part {
            [float] => needed.push(float),
            _ => parts.extend([&part[part.len() / 2..], &part[..part.len() / 2]]),
        }
    }
    (value, needed.iter().map(|float| float.pointer.clone()).collect())
}

struct Float {
    pointer: String,
    sent: Value,
    integer: Value,
}

fn swap(value: &mut Value, floats: &[Float], to: impl Fn(&Float) -> &Value) {
    for float in floats {
        if let Some(slot) = value.pointer_mut(&float.pointer) {
            *slot = to(float).clone();
        }
    }
}

/// Replaces each float that was sent as a whole number by an integer.
fn find(value: &mut Value, pointer: &str, tree: &Tree, floats: &mut Vec<Float>) {
    match value {
        Value::Number(number) if number.is_f64() => {
            if let Some(integer) = tree.whole(pointer).to_number().map(Value::Number) {
                let sent = std::mem::replace(value, integer.clone());
                floats.push(Float { pointer: pointer.to_owned(), sent, integer });
            }
        }
        Value::Array(items) => {
            for (idx, item) in items.iter_mut().enumerate() {
                find(item, &child(pointer, &idx.to_string()), tree, floats);
            }
        }
        Value::Object(object) => {
            for (key, value) in object {
                find(value, &child(pointer, key), tree, floats);
            }
        }
        _ => {}
    }
}
