//! A single violation and its text, which is always one line: the rules of the keywords, worded and shortened.

mod repeated;
mod rule;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::excerpt::is_invisible;

pub(super) use self::repeated::{MAX_LISTED, begun, push_json, push_list, push_quoted, repeatable, shorten_pointer};
pub(super) use self::rule::{not_one_of, outlined, type_name, with_rule, wrong_type};

/// A single reason why a value does not match a schema.
///
/// The fields contain the parts of the message, for programs.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit_schema::Schema;
///
/// let schema = Schema::from_value(json!({ "properties": { "unit": { "enum": ["celsius", "kelvin"] } } }))?;
/// let violations = schema.validate(&json!({ "unit": "celcius" })).unwrap_err();
/// let violation = &violations[0];
/// assert_eq!((&*violation.pointer, &*violation.keyword), ("/unit", "enum"));
/// assert_eq!(violation.sent, Some(json!("celcius")));
/// assert_eq!(violation.suggestion.as_deref(), Some("celsius"));
/// # Ok::<(), toolkit_schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Violation {
    /// The location, as a JSON Pointer into the value (RFC 6901).
    pub pointer: String,
    /// The schema keyword that is violated.
    pub keyword: String,
    /// The rule without its subject, such as `must be at most 14`.
    pub rule: String,
    /// The limit of the keyword, if it has one.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub limit: Option<Value>,
    /// The value that was sent, unless it is secret, missing, or too large to repeat.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub sent: Option<Value>,
    /// The accepted values, if the schema lists them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Value>,
    /// The value or key that was probably meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// True if the violation concerns an optional property.
    #[serde(skip)]
    pub optional: bool,
}

impl Violation {
    /// Creates a violation from a JSON Pointer and a rule without its subject.
    #[must_use]
    pub fn new(pointer: impl Into<String>, rule: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            keyword: String::new(),
            rule: rule.into(),
            limit: None,
            sent: None,
            allowed: Vec::new(),
            suggestion: None,
            optional: false,
        }
    }

    /// Appends the text of the violation, a single line.
    pub fn push_to(&self, text: &mut String) {
        let start = text.len();
        match long(&self.pointer) {
            _ if self.pointer.is_empty() => text.push_str("the value"),
            Some(end) => {
                text.push_str(&self.pointer[..end]);
                text.push('…');
            }
            None => text.push_str(&self.pointer),
        }
        text.push(' ');
        text.push_str(&self.rule);
        if let Some(sent) = &self.sent {
            text.push_str(", got ");
            push_json(text, sent);
        }
        if let Some(suggestion) = &self.suggestion {
            text.push_str("; did you mean `");
            text.push_str(suggestion);
            text.push_str("`?");
        }
        escape_invisible(text, start);
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.push_to(&mut text);
        f.write_str(&text)
    }
}

/// Returns the byte offset at which to cut a pointer that is too long to print.
fn long(pointer: &str) -> Option<usize> {
    // A character takes at least one byte.
    if pointer.len() <= MAX_POINTER {
        return None;
    }
    pointer.char_indices().nth(MAX_POINTER).map(|(end, _)| end)
}

/// Reads a value that is present, which may be `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Escapes invisible characters after `start`, so that a key or value cannot forge or hide a line.
fn escape_invisible(text: &mut String, start: usize) {
    // Checks all bytes without an early exit, which vectorizes.
    if text.as_bytes()[start..].iter().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~')) {
        return;
    }
    let line = text.split_off(start);
    for c in line.chars() {
        match c.is_control() || is_invisible(c) {
            true => text.extend(c.escape_unicode()),
            false => text.push(c),
        }
    }
}

/// The maximum length of a printed pointer, in characters.
const MAX_POINTER: usize = 240;
