//! Parsing of arguments into a tree, and deserialization of validated ones into a Rust type. Its integers may be spelled as
//! floats: `3.0` is an integer in JSON Schema and not in serde.

use std::borrow::Cow;
use std::cell::LazyCell;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::coerce::{Change, exactly, refusal};
use super::kind::ErrorKind;
use super::tool_error::ToolError;
use crate::arguments::Arguments;
use crate::tool::Tool;
use toolkit_schema::plan::{Plan, Read, SoleProperty, TypeError, into_slot};
use toolkit_schema::tree::{Tree, pointers};
use toolkit_schema::{Violation, Violations, child, example, format};

impl Arguments<'_> {
    /// Parses the arguments into a [`Value`] without duplicate keys and with limited depth. An integer that needs more
    /// than 64 bits is rounded to a float.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not JSON, has a duplicate key in an object, or is nested too deeply.
    pub fn to_value(&self) -> Result<Value, ToolError> {
        self.to_tree().map(|tree| tree.value)
    }

    /// Parses the arguments into a tree that keeps the text of numbers that a [`Value`] rounds.
    pub(crate) fn to_tree(&self) -> Result<Tree, ToolError> {
        let tree = match self {
            Arguments::Json(text) => Tree::parse(text),
            Arguments::Value(value) => Tree::from_value(value.clone().into_owned()),
        };
        tree.map_err(|reason| ToolError::new(ErrorKind::MalformedJson, reason))
    }
}

/// Deserializes arguments that match the input schema.
///
/// # Errors
///
/// Returns an error if the type rejects them.
pub fn typed_arguments<A: DeserializeOwned>(tool: &Tool, arguments: &Arguments<'_>) -> Result<A, ToolError> {
    if let (Arguments::Json(text), Some(plan)) = (arguments, tool.input().plan())
        && let Ok(arguments) = plan.decode(text)
    {
        return Ok(arguments);
    }
    let mut decoded = None;
    read_tree(tool, None, true, arguments, arguments.to_tree(), &mut Vec::new(), &mut into_slot(&mut decoded))?;
    decoded.ok_or_else(|| ToolError::internal("the arguments were not deserialized"))
}

/// Deserializes JSON text into the type of a tool, and appends the offsets of floats that were read as integers.
type Decode<'d> = dyn FnMut(&[u8], &mut Vec<usize>) -> Result<(), TypeError> + 'd;

/// Reads a tree that matches the input schema, or the only property of it. `sent` is the source of the tree. If the
/// arguments do not match the schema, their error is completed with the values that only the type rejects.
#[cold]
pub(crate) fn read_tree(
    tool: &Tool,
    property: Option<&'static SoleProperty>,
    validates: bool,
    sent: &Arguments<'_>,
    tree: Result<Tree, ToolError>,
    changes: &mut Vec<Change>,
    read: &mut Read<'_>,
) -> Result<(), ToolError> {
    let decode: &mut Decode<'_> = &mut |text, whole| Plan::read_approved(text, property, whole, &mut *read);
    let tree = &match tree {
        Ok(tree) => tree,
        Err(error) => return Err(completed(decode, tool, sent, error)),
    };
    let (text, mut whole) = (text_of(sent, tree, changes), Vec::new());
    if decode(&text, &mut whole).is_ok() {
        return approve(tool, validates, tree, pointers(&text, whole), changes);
    }
    let mut fits = |value: &Value| decode(&tree.text_of(value), &mut Vec::new()).is_ok();
    let (value, mut needed) = respelled(tree, &mut fits);
    let (text, mut whole) = (tree.text_of(&value), Vec::new());
    let decoded = decode(&text, &mut whole);
    needed.extend(pointers(&text, whole));
    approve(tool, validates, tree, needed, changes)?;
    decoded.map_err(|error| {
        let rejected = (error.pointer(&text), error.message);
        refusal(tool, Violations::from_type_errors(mismatches(decode, tool, tree, value, rejected)))
    })
}

/// The largest arguments whose error is completed, in bytes.
const MAX_COMPLETED: usize = 64 << 10;

/// Adds to the error of arguments that violate the schema the values that only the type rejects.
#[cold]
fn completed(decode: &mut Decode<'_>, tool: &Tool, sent: &Arguments<'_>, error: ToolError) -> ToolError {
    let is_large = matches!(sent, Arguments::Json(text) if text.len() > MAX_COMPLETED);
    if is_large || error.violations().is_empty() {
        return error;
    }
    let Ok(tree) = sent.to_tree() else { return error };
    // The sent arguments are not the validated ones if a conversion changed them.
    let sent = LazyCell::new(|| tool.input().validate(&tree.value).err());
    let is_in = |pointer: &str, violations: &[Violation]| {
        let rest = |violation: &Violation| violation.pointer.strip_prefix(pointer).map(str::to_owned);
        violations.iter().filter_map(rest).any(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let mut value = tree.value.clone();
    let Some(given) = value.as_object_mut() else { return error };
    // Most types accept the other values, and read them before those that are wrong.
    let wrong: Vec<String> = given.keys().filter(|name| is_in(&child("", name), error.violations())).cloned().collect();
    let mut may_be_inside = false;
    for name in wrong {
        let last = given.shift_remove(&name).unwrap_or_default();
        may_be_inside |= last.is_object();
        given.insert(name, last);
    }
    let is_wrong =
        |pointer: &str| is_in(pointer, error.violations()) || sent.as_ref().is_some_and(|sent| is_in(pointer, sent));
    let mut rejected =
        Rejected { decode, tool, tree: &tree, is_wrong: &is_wrong, trials: MAX_TRIALS, found: Vec::new() };
    let is_other = |pointer: &str| pointer.split('/').nth(1).is_some_and(|name| !is_wrong(&format!("/{name}")));
    if may_be_inside || rejected.rejected(&value).is_some_and(|(pointer, _)| is_other(&pointer)) {
        let Rejected { decode, .. } = &mut rejected;
        let (value, _) = respelled(&tree, &mut |value| decode(&tree.text_of(value), &mut Vec::new()).is_ok());
        rejected.search(&value, "");
    }
    match rejected.found.is_empty() {
        true => error,
        false => refusal(tool, Violations::from_type_errors(rejected.found).and(error.violations())),
    }
}

/// The maximum number of values that are reported for their type.
const MAX_REJECTED: usize = 16;

/// Returns the places and rules of the values that match the schema but not the type. `rejected` is the first, which is
/// reported in any case.
#[cold]
fn mismatches(
    decode: &mut Decode<'_>,
    tool: &Tool,
    tree: &Tree,
    value: Value,
    rejected: (String, String),
) -> Vec<(String, String)> {
    let mut search = Rejected { decode, tool, tree, is_wrong: &|_| false, trials: MAX_TRIALS, found: Vec::new() };
    search.search(&value, "");
    if search.found.is_empty() {
        let rule = mismatch(tool, tree, &rejected.0, &rejected.1);
        search.found.push((rejected.0, rule));
    }
    search.found
}

/// The search for all values that a type rejects. Deserialization stops at the first. A type reads the properties of an
/// object in the order of the text, so that each is moved to the front in turn, and an item of a list is replaced by an
/// example.
struct Rejected<'r, 'd> {
    decode: &'r mut Decode<'d>,
    tool: &'r Tool,
    tree: &'r Tree,
    /// Returns true for the pointer of a value that violates the schema at it or inside of it.
    is_wrong: &'r dyn Fn(&str) -> bool,
    trials: usize,
    found: Vec<(String, String)>,
}

impl Rejected<'_, '_> {
    /// Searches the object at a pointer, which is the first value of each object around it.
    fn search(&mut self, value: &Value, at: &str) {
        let Some(Value::Object(object)) = value.pointer(at) else { return };
        for name in object.keys() {
            let place = child(at, name);
            let mut first = value.clone();
            if let Some(Value::Object(object)) = first.pointer_mut(at)
                && let Some(inner) = object.shift_remove(name)
            {
                object.shift_insert(0, name.clone(), inner);
            }
            match (first.pointer(&place), (self.is_wrong)(&place)) {
                (Some(Value::Object(_)), true) => self.search(&first, &place),
                (_, true) => {}
                (_, false) => self.search_value(first, &place),
            }
        }
    }

    /// Searches the value at a pointer, which matches the schema.
    fn search_value(&mut self, mut value: Value, place: &str) {
        while let Some((pointer, message)) = self.rejected(&value)
            && pointer.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            && !self.found.iter().any(|(found, _)| *found == pointer)
        {
            if pointer != place && value.pointer(place).is_some_and(Value::is_object) {
                return self.search(&value, place);
            }
            let rule = mismatch(self.tool, self.tree, &pointer, &message);
            let example = example::at(self.tool.input().as_value(), &pointer);
            let slot = value.pointer_mut(&pointer);
            self.found.push((pointer, rule));
            let (Some(slot), Some(example)) = (slot, example) else { return };
            *slot = example;
        }
    }

    fn rejected(&mut self, value: &Value) -> Option<(String, String)> {
        if self.trials == 0 || self.found.len() >= MAX_REJECTED {
            return None;
        }
        self.trials -= 1;
        let text = self.tree.text_of(value);
        (self.decode)(&text, &mut Vec::new()).err().map(|error| (error.pointer(&text), error.message))
    }
}

/// Records the numbers at these locations as changes, because they were read as integers. If they differ from the
/// numbers that were validated, the tree is validated again.
#[cold]
fn approve(
    tool: &Tool,
    validates: bool,
    tree: &Tree,
    pointers: Vec<String>,
    changes: &mut Vec<Change>,
) -> Result<(), ToolError> {
    if let Some(value) = exactly(tree, &pointers).filter(|_| validates) {
        tool.input().validate(&value).map_err(|violations| refusal(tool, violations))?;
    }
    changes.extend(pointers.into_iter().filter(|pointer| !tree.is_wide(pointer)).map(read_as_integer));
    Ok(())
}

/// Returns the rule of a type that its schema lacks.
#[cold]
fn mismatch(tool: &Tool, tree: &Tree, pointer: &str, message: &str) -> String {
    // The message of serde quotes the value, and does not name the argument.
    match (tool.input().holds_secret(), tree.rounded(pointer)) {
        (true, _) => "is not a valid value".to_owned(),
        // Serde has seen only the rounded float.
        (false, Some(number)) => {
            let number: String = number.chars().take(60).collect();
            format!("is not a valid value: {number} does not fit the integer type")
        }
        (false, None) => {
            let text: String = message.chars().take(400).collect();
            match format::expected_at(tool.input().as_value(), pointer) {
                Some(expected) => format!("{expected}: {text}"),
                None => format!("is not a valid value: {text}"),
            }
        }
    }
}

const READ_AS_INTEGER: &str = "a whole number read as an integer";

/// The maximum number of trial decodings to find the numbers that a type expects as integers.
const MAX_TRIALS: usize = 64;

/// Returns the arguments as text: the original, or the changed tree.
fn text_of<'a>(sent: &'a Arguments<'_>, tree: &Tree, changes: &[Change]) -> Cow<'a, [u8]> {
    match sent {
        Arguments::Json(text) if changes.is_empty() => Cow::Borrowed(text),
        _ => Cow::Owned(tree.to_text()),
    }
}

/// Creates the change of a float that was read as an integer.
fn read_as_integer(pointer: String) -> Change {
    Change { pointer, what: READ_AS_INTEGER.into() }
}

/// Replaces whole floats by integers where the value does not fit otherwise, and returns their locations. A type that
/// buffers a value before it decides (`untagged`, `flatten`) cannot request an integer, so the locations are found by
/// trial. If the value does not fit with integers everywhere, all are replaced, because the error has another cause.
fn respelled(tree: &Tree, fits: &mut dyn FnMut(&Value) -> bool) -> (Value, Vec<String>) {
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
            if let Some(integer) = tree.integer(pointer).map(Value::Number) {
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
