//! Violations of a schema, described so that a model can correct the value.

mod choice;
mod explanation;
mod keys;
mod locate;
mod rule;
mod secret;
mod single;
mod text;
mod trim;

use std::fmt;

use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use self::explanation::Explanation;
pub use self::locate::child;
pub(super) use self::locate::holds_secret;
pub(super) use self::secret::masked;
pub use self::single::Violation;
use self::text::shorten_pointer;
pub use self::trim::declared_pointer;

/// The reasons why a value does not match a schema, sorted by pointer.
///
/// Dereferences to a slice of [`Violation`]s. `Display` prints one line for each.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit_schema::Schema;
///
/// let schema = Schema::from_value(json!({ "properties": { "a": { "maximum": 1 }, "b": { "type": "string" } } }))?;
/// let violations = schema.validate(&json!({ "a": 2, "b": 3 })).unwrap_err();
/// assert_eq!(violations.len(), 2);
/// assert_eq!(violations.to_string(), "/a must be at most 1, got 2\n/b must be a string, got 3");
/// # Ok::<(), toolkit_schema::SchemaError>(())
/// ```
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
