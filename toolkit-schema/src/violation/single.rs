//! A single violation and its text, which is always one line.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

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
    #[doc(hidden)]
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
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = OneLine(f);
        match long(&self.pointer) {
            _ if self.pointer.is_empty() => line.write_str("the value")?,
            Some(end) => write!(line, "{}…", &self.pointer[..end])?,
            None => line.write_str(&self.pointer)?,
        }
        line.write_str(" ")?;
        line.write_str(&self.rule)?;
        if let Some(sent) = &self.sent {
            write!(line, ", got {sent}")?;
        }
        if let Some(suggestion) = &self.suggestion {
            write!(line, "; did you mean `{suggestion}`?")?;
        }
        Ok(())
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

/// A writer that keeps text on one line and escapes invisible characters, so that a key or value cannot forge or hide a
/// line.
struct OneLine<'f, W>(&'f mut W);

impl<W: fmt::Write> fmt::Write for OneLine<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // Checks all bytes without an early exit, which vectorizes.
        if text.bytes().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~')) {
            return self.0.write_str(text);
        }
        text.chars().try_for_each(|c| match is_invisible(c) {
            true => write!(self.0, "{}", c.escape_unicode()),
            false => self.0.write_char(c),
        })
    }
}

/// Returns true for characters without a glyph: controls, line separators, bidirectional and zero-width characters.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// The maximum length of a printed pointer, in characters.
const MAX_POINTER: usize = 240;
