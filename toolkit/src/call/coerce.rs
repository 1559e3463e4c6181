//! Arguments that the schema refuses, and what may be done about it before the call is.

use std::fmt::{self, Write as _};

use serde::Serialize;
use serde_json::Value;

use super::error::ToolError;
use super::exact::exactly;
use super::kind::ErrorKind;
use crate::arguments::Arguments;
use crate::tool::Tool;
use toolkit_schema::plan::Whole;
use toolkit_schema::tree::{Tree, held};
use toolkit_schema::{Schema, Violation, Violations, child};

/// How far a dispatcher goes to meet arguments that the schema refuses.
///
/// Coercion is a stage of its own, tried only after a refusal. What it changed is checked again in full, and listed
/// in the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Coercion {
    /// Not at all.
    Off,
    /// A `null` for an optional argument whose schema does not allow `null` counts as absent.
    #[default]
    NullAsAbsent,
    /// That, and text is read as what the schema asks for (`"3"` as 3, `"[1]"` as a list, `"true"` as true), a number
    /// as text where text is asked for, and a lone value as a list of one.
    Lenient,
}

/// One change that made arguments fit their schema.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// Where, as a JSON Pointer into the arguments.
    pub pointer: String,
    /// What was done, such as `text read as an integer`.
    pub what: &'static str,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pointer, self.what)
    }
}

/// A change uncovers what lies beneath it, so refusals come in rounds; no real call needs this many.
const MAX_ROUNDS: usize = 8;

/// The arguments of `tool` as a tree that its input schema accepts, and what was changed to that end.
///
/// # Errors
///
/// The text is not JSON, or the schema refuses it, with every violation.
pub(crate) fn admit(
    tool: &Tool,
    arguments: &Arguments<'_>,
    coercion: Coercion,
) -> Result<(Tree, Vec<Change>), ToolError> {
    let mut tree = arguments.to_tree()?;
    let mut changes = Vec::new();
    match fit(tool.input(), &mut tree, coercion, &mut changes) {
        Ok(()) => Ok((tree, changes)),
        // What is refused may be no more than what a tree makes of an integer.
        Err(violations) => match exactly(&tree, &tree.all_rounded(), tool.input().as_value()) {
            Some(exact) if tool.input().is_valid(&exact) => {
                tree.fits_exactly = true;
                Ok((tree, changes))
            }
            _ => Err(refusal(tool, violations)),
        },
    }
}

/// The arguments without the nulls that stand for what is absent, as far as the schema tells.
pub(crate) fn without_absent(schema: &Schema, value: Value) -> Value {
    let mut tree = Tree::plain(held(value));
    // What is refused for other reasons is somebody else's to tell.
    let _ = fit(schema, &mut tree, Coercion::NullAsAbsent, &mut Vec::new());
    tree.value
}

/// Changes a value until the schema accepts it, or nothing more can be done.
fn fit(schema: &Schema, tree: &mut Tree, coercion: Coercion, changes: &mut Vec<Change>) -> Result<(), Violations> {
    for _ in 0..MAX_ROUNDS {
        let Err(violations) = schema.validate(&tree.value) else {
            return Ok(());
        };
        let before = changes.len();
        for violation in violations.iter() {
            coerce(tree, violation, coercion, changes);
        }
        if changes.len() == before {
            return Err(violations);
        }
    }
    schema.validate(&tree.value)
}

/// The refusal as a model reads it: every violation, and a call that would have been accepted.
pub(crate) fn refusal(tool: &Tool, violations: Violations) -> ToolError {
    /// More lines than this help nobody; the data has them all.
    const MAX_LINES: usize = 20;

    let mut message = String::with_capacity(1024);
    message.push_str("the arguments do not fit");
    // The list of what may stand there says the type too.
    let listed = |violation: &Violation| {
        let same_place = violations.iter().filter(|other| other.pointer == violation.pointer);
        violation.keyword == "type" && same_place.into_iter().any(|other| other.keyword == "enum")
    };
    let mut lines = violations.iter().filter(|violation| !listed(violation));
    for violation in lines.by_ref().take(MAX_LINES) {
        // Writing to a string cannot fail.
        let _ = write!(message, "\n- {violation}");
    }
    let n_more = lines.count();
    if n_more > 0 {
        let _ = write!(message, "\n- and {n_more} more");
    }
    if let Some(sample) = tool.sample() {
        message.push_str("\nfor example: ");
        message.push_str(sample);
    }
    ToolError::new(ErrorKind::InvalidArguments, message).with_violations(violations.into_vec())
}

fn coerce(tree: &mut Tree, violation: &Violation, coercion: Coercion, changes: &mut Vec<Change>) {
    let change = |what: &'static str| Change { pointer: violation.pointer.clone(), what };
    let may_be_absent = coercion != Coercion::Off && violation.optional;
    let may_be_read = coercion == Coercion::Lenient && violation.keyword == "type";
    if !may_be_absent && !may_be_read {
        return;
    }
    let Some(sent) = tree.value.pointer(&violation.pointer) else {
        return;
    };
    if sent.is_null() {
        if may_be_absent && remove(&mut tree.value, &violation.pointer) {
            changes.push(change("null taken as absent"));
        }
        return;
    }
    if !may_be_read {
        return;
    }
    let mut wanted = violation.allowed.iter().filter_map(Value::as_str);
    let exact = tree.rounded(&violation.pointer);
    if let Some((read, what)) = wanted.clone().find_map(|wanted| read_as(sent, exact, wanted)) {
        tree.put(&violation.pointer, read);
        changes.push(change(what));
        return;
    }
    // What has been made an item already would only be wrapped again.
    let wrapped = |change: &Change| change.what == LIST_OF_ONE && violation.pointer == child(&change.pointer, "0");
    if wanted.any(|wanted| wanted == "array") && !sent.is_array() && !changes.iter().any(wrapped) {
        tree.wrap(&violation.pointer);
        changes.push(change(LIST_OF_ONE));
    }
}

/// Removes the property at `pointer`.
fn remove(value: &mut Value, pointer: &str) -> bool {
    let Some((parent, key)) = pointer.rsplit_once('/') else {
        return false;
    };
    let key = key.replace("~1", "/").replace("~0", "~");
    let parent = value.pointer_mut(parent).and_then(Value::as_object_mut);
    parent.is_some_and(|object| object.remove(&key).is_some())
}

/// What `sent` says, read as a value of the JSON type `wanted`; `exact` is the text of a number that was rounded.
fn read_as(sent: &Value, exact: Option<&str>, wanted: &str) -> Option<(Tree, &'static str)> {
    match (sent, wanted) {
        (Value::String(text), "integer" | "number" | "boolean" | "array" | "object" | "null") => {
            let tree = Tree::parse(text.trim().as_bytes()).ok()?;
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
        (Value::Number(number), "string") => {
            let text = exact.map_or_else(|| number.to_string(), str::to_owned);
            Some((Tree::plain(text.into()), "a number taken as text"))
        }
        _ => None,
    }
}

/// Returns true if the tree is an integer that is spelled as one, of up to 128 bits.
fn is_integer(tree: &Tree) -> bool {
    tree.value.is_i64()
        || tree.value.is_u64()
        || (tree.rounded("").is_some() && !matches!(tree.whole(""), Whole::Fraction))
}

/// The change to a value where a list is asked for, and nothing else would do.
const LIST_OF_ONE: &str = "taken as a list of one";
