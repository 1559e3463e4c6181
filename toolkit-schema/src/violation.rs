//! Violations of a schema, described so that a model can correct the value.

mod choice;
mod keys;
mod locate;
mod reason;
mod secret;
mod trim;

use std::fmt::{self, Write as _};

use jsonschema::{ValidationError, Validator};
use serde::Serialize;
use serde_json::Value;

pub use self::locate::child;
pub(super) use self::locate::holds_secret;
use self::reason::{Explanation, shorten_pointer};
pub(super) use self::secret::masked;
pub use self::trim::declared_pointer;

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
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Violation {
    /// The location, as a JSON Pointer into the value (RFC 6901).
    pub pointer: String,
    /// The schema keyword that is violated.
    pub keyword: String,
    /// The rule without its subject, such as `must be at most 14`.
    pub rule: String,
    /// The limit of the keyword, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Value>,
    /// The value that was sent, unless it is secret, missing, or too large to repeat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<Value>,
    /// The accepted values, if the schema lists them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
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

/// The reasons why a value does not match a schema, sorted by pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct Violations(Vec<Violation>);

impl Violations {
    /// Collects the violations of `instance` by `validator`, which is compiled from `schema`.
    pub(crate) fn collect(schema: &Value, has_secrets: bool, validator: &Validator, instance: &Value) -> Self {
        let Some(front) = trim::trimmed(schema, instance) else {
            return Self::from_errors(schema, has_secrets, instance, validator.iter_errors(instance));
        };
        let mut violations = Self::from_errors(schema, has_secrets, &front, validator.iter_errors(&front));
        violations.0.retain(trim::is_certain);
        // The violation lies in the part that was cut, or is the size itself. The validator explains each branch of a
        // choice in full, at unbounded cost; without a choice, it finds the first error cheaply.
        let text = schema.to_string();
        if violations.is_empty() && !["anyOf", "oneOf"].iter().any(|keyword| text.contains(keyword)) {
            violations =
                Self::from_errors(schema, has_secrets, instance, validator.validate(instance).err().into_iter());
        }
        if violations.is_empty() {
            let rule = "is invalid, and too large to locate the violation; send a smaller value".to_owned();
            violations.0.push(Violation { keyword: "size".to_owned(), ..Violation::new(String::new(), rule) });
        }
        violations
    }

    /// Does the same as [`Violations::collect`] for the first error of `validator`.
    pub(super) fn first(schema: &Value, has_secrets: bool, validator: &Validator, instance: &Value) -> Self {
        let first = validator.validate(instance).err();
        let mut violations = Self::from_errors(schema, has_secrets, instance, first.into_iter());
        violations.0.truncate(1);
        violations
    }

    fn from_errors<'i>(
        schema: &Value,
        has_secrets: bool,
        instance: &Value,
        errors: impl Iterator<Item = ValidationError<'i>>,
    ) -> Self {
        let mut explanation = Explanation::new(schema, has_secrets, instance);
        for error in errors {
            explanation.explain(&error);
            if explanation.is_full() {
                break;
            }
        }
        let mut violations = explanation.violations;
        violations.sort_by(|a, b| a.pointer.cmp(&b.pointer));
        violations.dedup();
        Self(violations)
    }

    /// Creates the violation of a value that matches the schema but not the Rust type.
    #[doc(hidden)]
    pub fn from_type_error(pointer: String, rule: String) -> Self {
        Self(vec![Violation { keyword: "type".to_owned(), ..Violation::new(shorten_pointer(pointer), rule) }])
    }

    /// Applies a function to each violation, such as one that rewords it or moves its pointer.
    #[doc(hidden)]
    pub fn reworded(mut self, reword: impl FnMut(&mut Violation)) -> Self {
        self.0.iter_mut().for_each(reword);
        self
    }

    /// Creates the violation of a value that is too expensive to validate.
    pub(super) fn from_size_limit(rule: String) -> Self {
        Self(vec![Violation { keyword: "size".to_owned(), ..Violation::new(String::new(), rule) }])
    }

    /// Creates the violation of an invalid value that is too deep for its violations to be located.
    pub(super) fn too_deep() -> Self {
        Self::from_size_limit("is invalid, and nested too deep to locate the violation".to_owned())
    }

    /// Creates the violation that an invalid schema reports for every value.
    pub(crate) fn invalid_schema(error: &dyn fmt::Display) -> Self {
        let rule = format!("cannot be validated: {error}");
        Self(vec![Violation { keyword: "$schema".to_owned(), ..Violation::new(String::new(), rule) }])
    }

    /// Returns the violations as a vector.
    #[must_use]
    pub fn into_vec(self) -> Vec<Violation> {
        self.0
    }
}

impl std::ops::Deref for Violations {
    type Target = [Violation];

    fn deref(&self) -> &[Violation] {
        &self.0
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, violation) in self.0.iter().enumerate() {
            let separator = if idx == 0 { "" } else { "\n" };
            write!(f, "{separator}{violation}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Violations {}
