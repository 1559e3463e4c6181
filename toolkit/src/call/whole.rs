//! Whole numbers that are spelled as floats: to a schema `3.0` is an integer, to serde it is none.

use std::borrow::Cow;

use serde_json::Value;

use super::coerce::Change;
use crate::arguments::Arguments;
use toolkit_schema::child;
use toolkit_schema::tree::Tree;

const READ_AS_INTEGER: &str = "a whole number read as an integer";

/// How often arguments are decoded to find out which of their numbers a type asks for as integers.
const MAX_TRIALS: usize = 64;

/// The arguments as text: as they were sent, or as they were changed.
pub(super) fn text<'a>(sent: &'a Arguments<'_>, tree: &Tree, changes: &[Change]) -> Cow<'a, [u8]> {
    match sent {
        Arguments::Json(text) if changes.is_empty() => Cow::Borrowed(text),
        _ => Cow::Owned(tree.to_text()),
    }
}

/// The change that such a number is.
pub(super) fn change(pointer: String) -> Change {
    Change { pointer, what: READ_AS_INTEGER }
}

/// The value, with integers in place of those whole floats without which it does not fit. Where a type looks at a value
/// before it decides what it is (`untagged`, `flatten`), the type cannot ask for an integer, so this is found by trying.
/// A value that does not fit has integers throughout, so that whatever is wrong with it is something else.
pub(super) fn respelled(tree: &Tree, fits: &mut dyn FnMut(&Value) -> bool) -> (Value, Vec<String>) {
    let mut value = tree.value.clone();
    let mut floats = Vec::new();
    find(&mut value, "", tree, &mut floats);
    if floats.is_empty() || !fits(&value) {
        return (value, Vec::new());
    }
    // As they were, in halves as long as that goes.
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

/// Puts an integer in place of every float that was sent as a whole number.
fn find(value: &mut Value, pointer: &str, tree: &Tree, floats: &mut Vec<Float>) {
    match value {
        Value::Number(number) if number.is_f64() => {
            if let Some(integer) = tree.whole(pointer).of_tree().map(Value::Number) {
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
