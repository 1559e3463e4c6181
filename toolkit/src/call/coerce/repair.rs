//! Changes of arguments that repair violations.

use serde_json::Value;

use super::{Change, Coercion};
use toolkit_schema::pointer::unescaped;
use toolkit_schema::tree::Tree;
use toolkit_schema::{Violation, child, is_too_deep_below};

/// A change of the arguments that has not been made.
pub(super) struct Repair {
    pub(super) change: Change,
    value: NewValue,
}

/// The value that replaces a part of the arguments.
enum NewValue {
    Absent,
    Read(Tree),
    ListOfOne,
}

impl Repair {
    /// Returns the change that may repair a violation.
    pub(super) fn find(tree: &Tree, violation: &Violation, coercion: Coercion, changes: &[Change]) -> Option<Self> {
        let repair = |what: &'static str, value| {
            Some(Self { change: Change { pointer: violation.pointer.clone(), what: what.into() }, value })
        };
        let may_be_absent = violation.optional;
        let is_lossless = matches!(coercion, Coercion::Lossless | Coercion::Lenient);
        let is_of_wrong_type = is_lossless && violation.keyword == "type";
        // Of a choice, the allowed values are the types beside its constants.
        let may_be_read = is_of_wrong_type || (is_lossless && matches!(&*violation.keyword, "anyOf" | "oneOf"));
        if !may_be_absent && !may_be_read {
            return None;
        }
        let sent = tree.value.pointer(&violation.pointer)?;
        if sent.is_null() {
            return if may_be_absent { repair("null taken as absent", NewValue::Absent) } else { None };
        }
        if !may_be_read {
            return None;
        }
        let mut wanted = violation.allowed.iter().filter_map(Value::as_str);
        // Arguments that are coerced are nested as deeply as those that are sent.
        let n_levels = violation.pointer.matches('/').count();
        let exact = tree.rounded(&violation.pointer);
        if let Some((read, what)) = wanted.clone().find_map(|wanted| read_as(sent, exact, wanted, coercion)) {
            return if is_too_deep_below(&read.value, n_levels) { None } else { repair(what, NewValue::Read(read)) };
        }
        if !is_of_wrong_type {
            return None;
        }
        // An item that coercion has already wrapped would only be wrapped again.
        let wrapped = |change: &Change| change.what == LIST_OF_ONE && violation.pointer == child(&change.pointer, "0");
        let is_wrapped = wanted.any(|wanted| wanted == "array")
            && !sent.is_array()
            && !is_too_deep_below(sent, n_levels + 1)
            && !changes.iter().any(wrapped);
        if is_wrapped { repair(LIST_OF_ONE, NewValue::ListOfOne) } else { None }
    }

    /// Makes the change, if it is possible.
    pub(super) fn apply(self, tree: &mut Tree) -> Option<Change> {
        let Self { change, value } = self;
        match value {
            NewValue::Absent => return remove(&mut tree.value, &change.pointer).then_some(change),
            NewValue::Read(read) => tree.put(&change.pointer, read),
            NewValue::ListOfOne => tree.wrap(&change.pointer),
        }
        Some(change)
    }
}

/// Removes the property at `pointer`.
pub(super) fn remove(value: &mut Value, pointer: &str) -> bool {
    let Some((parent, key)) = pointer.rsplit_once('/') else {
        return false;
    };
    let parent = value.pointer_mut(parent).and_then(Value::as_object_mut);
    parent.is_some_and(|object| object.shift_remove(&*unescaped(key)).is_some())
}

/// Converts `sent` to the JSON type `wanted`. `exact` is the text of a number that was rounded.
fn read_as(sent: &Value, exact: Option<&str>, wanted: &str, coercion: Coercion) -> Option<(Tree, &'static str)> {
    match (sent, wanted) {
        (Value::String(text), "integer" | "number" | "boolean" | "array" | "object" | "null") => {
            let tree = Tree::parse(text.as_bytes()).ok()?;
            let read = &tree.value;
            let (fits, what) = match wanted {
                "integer" => (is_integer(&tree), "text read as an integer"),
                "number" => (read.is_number(), "text read as a number"),
                "boolean" => (read.is_boolean(), "text read as a boolean"),
                "array" => (read.is_array(), "text read as a list"),
                "object" => (read.is_object(), "text read as an object"),
                _ => (read.is_null(), "text read as null"),
            };
            fits.then_some((tree, what))
        }
        (Value::Number(number), "string") if coercion == Coercion::Lenient => {
            let text = exact.map_or_else(|| number.to_string(), str::to_owned);
            Some((Tree::plain(text.into()), "a number taken as text"))
        }
        _ => None,
    }
}

/// Returns true if the tree is an integer, in any notation.
fn is_integer(tree: &Tree) -> bool {
    tree.is_integer("")
}

/// The change of a single value into a list.
pub(super) const LIST_OF_ONE: &str = "taken as a list of one";
