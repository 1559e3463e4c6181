//! Violations of a schema, described so that a model can correct the value.
//!
//! | module | part |
//! |---|---|
//! | `single` | one violation: its place, its rule, the value and a suggestion, and their text |
//! | `explanation`, `branch` | the failures that the validator finds, as violations, with the names that were probably meant; of a union, those of the branch that was meant |
//! | `front` | the front of a value that is too large to explain in full |
//! | `secret` | masks values that a schema marks as secret |
//! | `locate` | the schemas through which an evaluation passed |

mod branch;
mod explanation;
mod front;
mod locate;
mod secret;
mod single;

use std::fmt;

use serde_json::Value;

use self::explanation::{Explanation, MAX_VIOLATIONS};
pub use self::front::declared_pointer;
pub(crate) use self::front::{has_choice, is_large};
use self::front::{is_certain, trimmed};
pub(super) use self::locate::holds_secret;
pub(super) use self::secret::masked;
pub use self::single::Violation;
use self::single::shorten_pointer;
use crate::failure::KeywordFailure;

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

/// A validator that finds the failures of values.
pub(crate) trait FindFailures {
    /// Returns the failures of `instance`, at least the first `most`.
    fn failures<'v>(&'v self, instance: &'v Value, most: usize) -> Vec<KeywordFailure<'v>>;
}

/// The violations that a caller needs.
pub(crate) enum Wanted<'r> {
    First,
    All,
    /// All, unless the function returns true for their outlines: those that the repairs may concern, without rules. The
    /// outlines are returned in that case.
    AllUnless(Repairs, &'r mut dyn FnMut(&[Violation]) -> bool),
}

/// The changes that may repair a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repairs {
    /// Removing a `null`.
    Removal,
    /// In addition, replacing a value by one of another type.
    Replacement,
}

impl Violations {
    /// Collects the violations of `instance` by `validator`, which is compiled from `schema`. Returns none if the value
    /// is valid, and small or the schema has no choice.
    pub(crate) fn collect(
        schema: &Value,
        has_secrets: bool,
        validator: &dyn FindFailures,
        instance: &Value,
        wanted: Wanted<'_>,
    ) -> Self {
        if matches!(wanted, Wanted::First) {
            let mut violations = Self::from_failures(schema, has_secrets, instance, &validator.failures(instance, 1));
            violations.0.truncate(1);
            return violations;
        }
        let Some(front) = trimmed(schema, instance) else {
            let failures = validator.failures(instance, usize::MAX);
            if let Wanted::AllUnless(repairs, may_be_repaired) = wanted {
                let explanation = Explanation::outline(schema, has_secrets, instance, repairs);
                let outlines = Self::described(explanation, &failures);
                if !outlines.is_empty() && may_be_repaired(&outlines) {
                    return outlines;
                }
            }
            return Self::from_failures(schema, has_secrets, instance, &failures);
        };
        // The validator explains each branch of a choice in full, at unbounded cost; without a choice, it finds the first
        // failure cheaply, or that there is none.
        let first = (!has_choice(schema)).then(|| validator.failures(instance, 1));
        if first.as_ref().is_some_and(Vec::is_empty) {
            return Self(Vec::new());
        }
        let failures = validator.failures(&front, usize::MAX);
        let mut violations = Self::from_failures(schema, has_secrets, &front, &failures);
        violations.0.retain(is_certain);
        // The violation lies in the part that was cut, or is the size itself.
        if let Some(first) = first.filter(|_| violations.is_empty()) {
            violations = Self::from_failures(schema, has_secrets, instance, &first);
        }
        if let Wanted::AllUnless(_, may_be_repaired) = wanted
            && !violations.is_empty()
            && may_be_repaired(&violations)
        {
            return violations;
        }
        if violations.is_empty() {
            let rule = "is invalid, and too large to locate the violation; send a smaller value".to_owned();
            violations.0.push(Violation { keyword: "size".to_owned(), ..Violation::new(String::new(), rule) });
        }
        violations
    }

    fn from_failures(schema: &Value, has_secrets: bool, instance: &Value, failures: &[KeywordFailure<'_>]) -> Self {
        let mut explanation = Explanation::new(schema, has_secrets, instance);
        explanation.violations.reserve(failures.len().min(MAX_VIOLATIONS));
        Self::described(explanation, failures)
    }

    fn described(mut explanation: Explanation<'_>, failures: &[KeywordFailure<'_>]) -> Self {
        for failure in failures {
            explanation.explain(failure);
            if explanation.is_full() {
                break;
            }
        }
        Self(explanation.finish())
    }

    /// Creates the violations of values that match the schema but not the Rust type, from their pointers and rules.
    pub fn from_type_errors(errors: impl IntoIterator<Item = (String, String)>) -> Self {
        let violation = |(pointer, rule)| Violation {
            keyword: "type".to_owned(),
            ..Violation::new(shorten_pointer(pointer), rule)
        };
        Self(errors.into_iter().map(violation).collect())
    }

    /// Adds the violations of other values, and sorts all by pointer.
    #[must_use]
    pub fn and(mut self, others: &[Violation]) -> Self {
        self.0.extend_from_slice(others);
        self.0.sort_by(|a, b| a.pointer.cmp(&b.pointer));
        self
    }

    /// Applies a function to each violation, such as one that rewords it or moves its pointer.
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
