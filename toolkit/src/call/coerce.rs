//! Coercion of arguments that do not match the schema, such as `null` for an optional one.

mod repair;

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::repair::{LIST_OF_ONE, Repair, remove};
use super::kind::ErrorKind;
use super::tool_error::ToolError;
use crate::arguments::Arguments;
use crate::tool::Tool;
use toolkit_schema::tree::{Tree, held, is_within};
use toolkit_schema::{Repairs, Schema, Violation, Violations, child};

crate::named! {
    /// The changes that a dispatcher may make to arguments that do not match the input schema.
    ///
    /// Arguments are coerced only after validation has failed. The changed arguments are validated in full, and the
    /// result lists the [changes](Change).
    ///
    /// ```
    /// use toolkit::{Coercion, Dispatcher, catalog, tool};
    ///
    /// /// Doubles a number.
    /// #[tool]
    /// fn double(n: i64) -> i64 {
    ///     n * 2
    /// }
    ///
    /// let dispatcher = Dispatcher::builder(catalog![double]?).coercion(Coercion::Lenient).build()?;
    /// let result = dispatcher.call_sync("double", r#"{"n": "21"}"#)?;
    /// assert_eq!(result.value(), 42);
    /// assert_eq!(result.changes()[0].to_string(), "/n: text read as an integer");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Coercion {
        /// No changes.
        Off = "off",
        /// A `null` for an optional argument whose schema does not allow `null` counts as absent.
        #[default]
        NullAsAbsent = "null-as-absent",
        /// In addition, conversions that lose nothing: where the schema accepts no text, text is read as the JSON that
        /// it contains, if that has an expected type (`"3"` as 3, `"[1]"` as a list, `"true"` as true), and otherwise a
        /// single value becomes a list of one.
        ///
        /// Many clients send lists, objects and numbers as text. This is the default where models call: of the MCP
        /// server, the Open Tool Calling server, and the replies of providers.
        Lossless = "lossless",
        /// In addition, a number becomes text where text is expected. The text may be spelled differently, such as
        /// `1.1` for `1.10`.
        Lenient = "lenient",
    }
}

/// A change that coercion made to the arguments.
///
/// [`RunResult::changes`](super::RunResult::changes) returns the changes of a call.
///
/// # Examples
///
/// ```
/// use toolkit::{Dispatcher, catalog, tool};
///
/// /// Lists the files of a folder.
/// #[tool]
/// fn list(folder: String, limit: Option<u32>, #[arg(default = false)] hidden: bool) -> String {
///     format!("{folder} {limit:?} {hidden}")
/// }
///
/// let dispatcher = Dispatcher::new(catalog![list]?)?;
/// let result = dispatcher.call_sync("list", r#"{"folder": "/", "hidden": null}"#)?;
/// let change = &result.changes()[0];
/// assert_eq!((&*change.pointer, &*change.what), ("/hidden", "null taken as absent"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Change {
    /// A JSON Pointer (RFC 6901) into the arguments.
    pub pointer: String,
    /// A description of the change, such as `text read as an integer`.
    pub what: Cow<'static, str>,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pointer, self.what)
    }
}

/// The maximum number of rounds. A change may reveal violations below it, so coercion is repeated; real calls need far
/// fewer.
const MAX_ROUNDS: usize = 8;

/// Validates the arguments of `tool`, coercing them if necessary. Returns them as a tree, with the changes.
///
/// # Errors
///
/// Returns an error if the text is not JSON, or with every violation of the schema.
pub(crate) fn validated_arguments(
    tool: &Tool,
    arguments: &Arguments<'_>,
    coercion: Coercion,
) -> Result<(Tree, Vec<Change>), ToolError> {
    let mut tree = arguments.to_tree()?;
    let mut changes = Vec::new();
    match fit(tool.input(), &mut tree, coercion, &mut changes) {
        Ok(()) => Ok((tree, changes)),
        Err(violations) => Err(refusal(tool, before_wrapping(tool.input(), tree, &changes, violations))),
    }
}

/// Returns the violations, with each invalid list of one as the single value that was sent: the caller learns that a list
/// is expected, and not what is wrong with an item of a list that it did not send.
fn before_wrapping(schema: &Schema, mut tree: Tree, changes: &[Change], violations: Violations) -> Violations {
    let mut n_unwrapped = 0;
    for Change { pointer, .. } in changes.iter().rev().filter(|change| change.what == LIST_OF_ONE) {
        if violations.iter().any(|violation| is_within(&violation.pointer, pointer)) {
            tree.unwrap(pointer);
            n_unwrapped += 1;
        }
    }
    match n_unwrapped {
        0 => violations,
        _ => schema.validate(&tree.value).err().unwrap_or(violations),
    }
}

/// Behaves like [`validated_arguments`] for the arguments of a prompt, which clients send as texts. An empty text counts as
/// absent if the argument is optional and takes no text.
pub(crate) fn validated_texts(tool: &Tool, texts: &Arguments<'_>) -> Result<(Tree, Vec<Change>), ToolError> {
    let error = match validated_arguments(tool, texts, Coercion::Lenient) {
        Err(error) if !error.violations().is_empty() => error,
        outcome => return outcome,
    };
    let mut value = texts.to_value()?;
    let schema = tool.input().as_value();
    let required = schema.get("required").and_then(Value::as_array);
    let optional: Vec<String> = schema["properties"]
        .as_object()
        .into_iter()
        .flat_map(|properties| properties.keys())
        .filter(|name| !required.into_iter().flatten().any(|other| other == name.as_str()))
        .map(|name| child("", name))
        .collect();
    let is_absent = |pointer: &String, value: &Value| {
        optional.contains(pointer) && value.pointer(pointer).is_some_and(|text| text == "")
    };
    let mut n_removed = 0;
    for Violation { pointer, .. } in error.violations() {
        n_removed += usize::from(is_absent(pointer, &value) && remove(&mut value, pointer));
    }
    match n_removed {
        0 => Err(error),
        _ => validated_arguments(tool, &value.into(), Coercion::Lenient),
    }
}

/// Returns a value coerced to a schema, as far as it can be.
pub fn coerced(schema: &Schema, value: Value, coercion: Coercion) -> Value {
    let mut tree = Tree::plain(held(value));
    // Other violations are reported elsewhere.
    let _ = fit(schema, &mut tree, coercion, &mut Vec::new());
    tree.value
}

/// Changes a value until it matches the schema or no change applies.
fn fit(schema: &Schema, tree: &mut Tree, coercion: Coercion, changes: &mut Vec<Change>) -> Result<(), Violations> {
    let kinds = match coercion {
        Coercion::Off => return schema.validate(&tree.value),
        Coercion::NullAsAbsent => Repairs::Removal,
        Coercion::Lossless | Coercion::Lenient => Repairs::Replacement,
    };
    for _ in 0..MAX_ROUNDS {
        let mut repairs = Vec::new();
        let result = schema.validate_unless(&tree.value, kinds, &mut |violations| {
            repairs.extend(violations.iter().filter_map(|violation| Repair::find(tree, violation, coercion, changes)));
            !repairs.is_empty()
        });
        if repairs.is_empty() {
            return result;
        }
        let before = changes.len();
        for repair in repairs {
            // The next round decides about the parts of a value that has changed.
            let has_changed = changes[before..].iter().any(|other| is_within(&repair.change.pointer, &other.pointer));
            if !has_changed {
                changes.extend(repair.apply(tree));
            }
        }
        if changes.len() == before {
            break;
        }
    }
    schema.validate(&tree.value)
}

/// Returns the error for the model: every violation, and an example of valid arguments.
pub(crate) fn refusal(tool: &Tool, violations: Violations) -> ToolError {
    /// A message with more lines is of little use; the data of the error has all of them.
    const MAX_LINES: usize = 20;
    /// The length of a line beside the pointer, the rule, and a short value.
    const ROOM: usize = 32;

    // The schema itself is invalid, which is not the fault of the caller.
    if violations.iter().any(|violation| violation.keyword == "$schema") {
        return ToolError::internal(format!("the input schema is invalid: {violations}"));
    }
    let sample = tool.sample();
    let lengths = violations.iter().take(MAX_LINES).map(|line| line.pointer.len() + line.rule.len() + ROOM);
    let mut message = String::with_capacity(lengths.sum::<usize>() + sample.map_or(0, str::len) + 2 * ROOM);
    message.push_str("the arguments do not match the schema");
    // The list of allowed values implies the type.
    let listed = |violation: &Violation| {
        let same_place = violations.iter().filter(|other| other.pointer == violation.pointer);
        violation.keyword == "type" && same_place.into_iter().any(|other| other.keyword == "enum")
    };
    let mut lines = violations.iter().filter(|violation| !listed(violation));
    for violation in lines.by_ref().take(MAX_LINES) {
        message.push_str("\n- ");
        violation.push_to(&mut message);
    }
    let n_more = lines.count();
    if n_more > 0 {
        message.push_str(&format!("\n- and {n_more} more"));
    }
    if let Some(sample) = sample {
        message.push_str("\nfor example: ");
        message.push_str(sample);
    }
    ToolError::new(ErrorKind::InvalidArguments, message).with_violations(violations.into_vec())
}

/// Returns the value with the integers at these locations, if a 64-bit integer has one that its float does not. Wider
/// integers are compared with a schema as floats.
pub(crate) fn exactly(tree: &Tree, pointers: &[String]) -> Option<Value> {
    let mut exact = None;
    for pointer in pointers.iter().filter(|pointer| tree.rounded(pointer).is_some()) {
        if let Some(integer) = tree.integer(pointer)
            && let Some(slot) = exact.get_or_insert_with(|| tree.value.clone()).pointer_mut(pointer)
        {
            *slot = integer.into();
        }
    }
    exact
}
