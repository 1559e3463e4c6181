//! What a schema refuses, in words that a model can act on.

mod locate;
mod reason;

use std::fmt;

use jsonschema::ValidationError;
use serde::Serialize;
use serde_json::Value;

use super::SchemaError;

/// One reason for which a schema refuses a value.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "the value" } else { &self.pointer };
        write!(f, "{place} {}", self.rule)?;
        if let Some(sent) = &self.sent {
            write!(f, ", got {sent}")?;
        }
        if let Some(suggestion) = &self.suggestion {
            write!(f, "; did you mean `{suggestion}`?")?;
        }
        Ok(())
    }
}

/// Every reason for which a schema refuses a value, in the order of their places.
#[derive(Clone, Debug, PartialEq)]
pub struct Violations(Vec<Violation>);

/// A value of a million wrong items has a million violations; nobody reads past these, and memory stays bounded.
const MAX_VIOLATIONS: usize = 256;

impl Violations {
    pub(crate) fn collect<'i>(schema: &Value, errors: impl Iterator<Item = ValidationError<'i>>) -> Self {
        let mut violations = Vec::new();
        for error in errors {
            reason::explain(schema, &error, &mut violations);
            if violations.len() >= MAX_VIOLATIONS {
                violations.truncate(MAX_VIOLATIONS);
                break;
            }
        }
        violations.sort_by(|a, b| a.pointer.cmp(&b.pointer));
        violations.dedup();
        Self(violations)
    }

    pub(crate) fn broken_schema(error: &SchemaError) -> Self {
        Self(vec![Violation {
            pointer: String::new(),
            keyword: "$schema".to_owned(),
            rule: format!("cannot be checked: {error}"),
            limit: None,
            sent: None,
            allowed: Vec::new(),
            suggestion: None,
        }])
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
