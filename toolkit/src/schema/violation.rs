//! What a schema refuses, in words that a model can act on.

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

pub(crate) use self::locate::child;
pub(super) use self::locate::holds_secret;
use self::reason::{Explanation, place};
pub(super) use self::secret::masked;
pub(crate) use self::trim::declared_place;

/// One reason for which a schema refuses a value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Violation {
    /// Where, as a JSON Pointer into the value (RFC 6901).
    pub pointer: String,
    /// The keyword of the schema that refuses.
    pub keyword: String,
    /// What must hold, without its subject: `must be at most 14`.
    pub rule: String,
    /// The keyword's limit, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Value>,
    /// What was sent, unless it is masked, missing, or too large to repeat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<Value>,
    /// What may stand there, where that is a list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Value>,
    /// What was probably meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// Whether it is about a property that need not be there.
    #[serde(skip)]
    pub(crate) optional: bool,
}

impl Violation {
    /// One that says no more than where and what: a JSON Pointer, and a rule without its subject.
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

/// Where a pointer is cut that is too long to be printed.
fn long(pointer: &str) -> Option<usize> {
    // No character has less than a byte.
    if pointer.len() <= MAX_POINTER {
        return None;
    }
    pointer.char_indices().nth(MAX_POINTER).map(|(end, _)| end)
}

/// Text on one line, as it looks: a key or a value may hold what forges a line, or hides one.
struct OneLine<'f, W>(&'f mut W);

impl<W: fmt::Write> fmt::Write for OneLine<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // Looks at all of it, since that is less work for many bytes at a time than to stop at the first.
        if text.bytes().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~')) {
            return self.0.write_str(text);
        }
        text.chars().try_for_each(|c| match is_invisible(c) {
            true => write!(self.0, "{}", c.escape_unicode()),
            false => self.0.write_char(c),
        })
    }
}

/// Whether a character has an effect and no face: controls, line separators, and what turns or hides text.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// The longest pointer that is printed in full, in characters.
const MAX_POINTER: usize = 240;

/// Every reason for which a schema refuses a value, in the order of their places.
#[derive(Clone, Debug, PartialEq)]
pub struct Violations(Vec<Violation>);

impl Violations {
    /// What `validator`, which is compiled from `schema`, finds wrong with `instance`.
    pub(crate) fn collect(schema: &Value, has_secrets: bool, validator: &Validator, instance: &Value) -> Self {
        let Some(front) = trim::trimmed(schema, instance) else {
            return Self::of_errors(schema, has_secrets, instance, validator.iter_errors(instance));
        };
        let mut violations = Self::of_errors(schema, has_secrets, &front, validator.iter_errors(&front));
        violations.0.retain(trim::is_certain);
        // What is wrong lies further back, or is the size itself. A choice would explain each of its branches in full,
        // however much that is; without one, the first error is found in passing.
        let text = schema.to_string();
        if violations.is_empty() && !["anyOf", "oneOf"].iter().any(|keyword| text.contains(keyword)) {
            violations = Self::of_errors(schema, has_secrets, instance, validator.validate(instance).err().into_iter());
        }
        if violations.is_empty() {
            let rule = "is not valid, and is too large to say where; send less of it".to_owned();
            violations.0.push(Violation { keyword: "size".to_owned(), ..Violation::new(String::new(), rule) });
        }
        violations
    }

    /// [`Violations::collect`], of the first thing that `validator` finds wrong.
    pub(super) fn first(schema: &Value, has_secrets: bool, validator: &Validator, instance: &Value) -> Self {
        let first = validator.validate(instance).err();
        let mut violations = Self::of_errors(schema, has_secrets, instance, first.into_iter());
        violations.0.truncate(1);
        violations
    }

    fn of_errors<'i>(
        schema: &Value,
        has_secrets: bool,
        instance: &Value,
        errors: impl Iterator<Item = ValidationError<'i>>,
    ) -> Self {
        let mut explanation = Explanation::of(schema, has_secrets, instance);
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

    /// The one violation of a value that the schema accepts and the Rust type does not.
    pub(crate) fn of_type(pointer: String, rule: String) -> Self {
        Self(vec![Violation { keyword: "type".to_owned(), ..Violation::new(place(pointer), rule) }])
    }

    /// The same in other words, or of a value that stands elsewhere.
    pub(crate) fn reworded(mut self, reword: impl FnMut(&mut Violation)) -> Self {
        self.0.iter_mut().for_each(reword);
        self
    }

    /// The one violation of a value that is not looked at, for what that would take.
    pub(super) fn of_size(rule: String) -> Self {
        Self(vec![Violation { keyword: "size".to_owned(), ..Violation::new(String::new(), rule) }])
    }

    /// The one violation of a value that does not fit somewhere far inside.
    pub(super) fn too_deep() -> Self {
        Self::of_size("is not valid, and is nested too deep to say where".to_owned())
    }

    /// The one violation of every value, where the schema itself is wrong.
    pub(crate) fn broken_schema(error: &dyn fmt::Display) -> Self {
        let rule = format!("cannot be checked: {error}");
        Self(vec![Violation { keyword: "$schema".to_owned(), ..Violation::new(String::new(), rule) }])
    }

    /// The violations.
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
