//! Parsing of arguments into a tree, and deserialization of validated ones into a Rust type.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::coerce::{Change, refusal};
use super::error::ToolError;
use super::exact::exactly;
use super::kind::ErrorKind;
use super::whole;
use crate::arguments::Arguments;
use crate::tool::Tool;
use toolkit_schema::plan::{Plan, SoleProperty, TypeError};
use toolkit_schema::tree::{Tree, pointers};
use toolkit_schema::{Violations, format};

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
    decode_tree(tool, None, true, arguments, &arguments.to_tree()?, &mut Vec::new())
}

/// Deserializes a tree that matches the input schema, or the only property of it. `sent` is the source of the tree.
#[cold]
pub(crate) fn decode_tree<A: DeserializeOwned>(
    tool: &Tool,
    property: Option<&'static SoleProperty>,
    validates: bool,
    sent: &Arguments<'_>,
    tree: &Tree,
    changes: &mut Vec<Change>,
) -> Result<A, ToolError> {
    let mut decoded = None;
    // Compiled for every tool. `?` and combinators would be further functions to compile.
    let mut decode = |text: &[u8], whole: &mut Vec<usize>| match Plan::decode_approved(text, property, whole) {
        Ok(arguments) => {
            decoded = Some(arguments);
            Ok(())
        }
        Err(error) => Err(error),
    };
    match decode_with(&mut decode, tool, validates, sent, tree, changes) {
        Ok(()) => match decoded {
            Some(arguments) => Ok(arguments),
            None => Err(ToolError::internal("the arguments were not deserialized")),
        },
        Err(error) => Err(error),
    }
}

/// Deserializes JSON text into the type of a tool, and appends the offsets of floats that were read as integers.
type Decode<'d> = dyn FnMut(&[u8], &mut Vec<usize>) -> Result<(), TypeError> + 'd;

/// Does the work of [`decode_tree`] that is the same for all types.
fn decode_with(
    decode: &mut Decode<'_>,
    tool: &Tool,
    validates: bool,
    sent: &Arguments<'_>,
    tree: &Tree,
    changes: &mut Vec<Change>,
) -> Result<(), ToolError> {
    let (text, mut whole) = (whole::text(sent, tree, changes), Vec::new());
    if decode(&text, &mut whole).is_ok() {
        return approve(tool, validates, tree, pointers(&text, whole), changes);
    }
    let mut fits = |value: &Value| decode(&tree.text_of(value), &mut Vec::new()).is_ok();
    let (value, mut needed) = whole::respelled(tree, &mut fits);
    let (text, mut whole) = (tree.text_of(&value), Vec::new());
    let decoded = decode(&text, &mut whole);
    needed.extend(pointers(&text, whole));
    approve(tool, validates, tree, needed, changes)?;
    decoded.map_err(|error| mismatch(tool, tree, error.pointer(&text), &error.message))
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
    let exact = exactly(tree, &pointers, tool.input().as_value());
    let read = exact.as_ref().or(tree.fits_exactly.then_some(&tree.value));
    if let Some(value) = read.filter(|_| validates) {
        tool.input().validate(value).map_err(|violations| refusal(tool, violations))?;
    }
    changes.extend(pointers.into_iter().filter(|pointer| !tree.is_wide(pointer)).map(whole::change));
    Ok(())
}

/// Returns the error of arguments that match the schema but not the type, which has a rule that the schema lacks.
#[cold]
fn mismatch(tool: &Tool, tree: &Tree, pointer: String, message: &str) -> ToolError {
    // The message of serde quotes the value, and does not name the argument.
    let rule = match (tool.input().holds_secret(), tree.rounded(&pointer)) {
        (true, _) => "is not a valid value".to_owned(),
        // Serde has seen only the rounded float.
        (false, Some(number)) => {
            let number: String = number.chars().take(60).collect();
            format!("is not a valid value: {number} does not fit the integer type")
        }
        (false, None) => {
            let text: String = message.chars().take(400).collect();
            match format::expected_at(tool.input().as_value(), &pointer) {
                Some(expected) => format!("{expected}: {text}"),
                None => format!("is not a valid value: {text}"),
            }
        }
    };
    refusal(tool, Violations::from_type_error(pointer, rule))
}
