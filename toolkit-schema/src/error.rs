//! The errors of invalid schemas and values.

use std::fmt;

use super::Violations;
use super::excerpt::shown_pointer;

/// An error for an invalid schema. It contains one or more [`SchemaFault`]s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// Never empty.
    faults: Vec<SchemaFault>,
    /// True if faults beyond [`MAX_FAULTS`] were dropped.
    is_cut: bool,
}

/// A single defect of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFault {
    kind: SchemaErrorKind,
    pointer: String,
    message: String,
}

/// The kind of a schema defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SchemaErrorKind {
    /// The value is not a valid schema: it is not JSON, not an object, does not match its meta-schema, contains a
    /// pattern that does not compile, or refers to itself endlessly.
    InvalidSchema,
    /// `$schema` names a dialect other than draft 2020-12 and draft-07, or a subschema names a different dialect.
    UnsupportedDialect,
    /// A reference points outside the document.
    ExternalReference,
    /// A reference does not resolve, or resolves to something that is not a schema.
    UnresolvedReference,
    /// The schema is nested too deep, has too many subschemas, or makes validation too expensive.
    TooComplex,
}

/// An error of validation: the schema is invalid, or the value does not match it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Invalid {
    /// The schema is invalid.
    Schema(SchemaError),
    /// The value does not match the schema.
    Instance(Violations),
}

/// The number of faults that an error keeps. A schema with a million mistakes must not produce as many messages.
pub(super) const MAX_FAULTS: usize = 16;

impl SchemaError {
    /// # Panics
    ///
    /// If there is no fault.
    pub(super) fn new(mut faults: Vec<SchemaFault>) -> Self {
        assert!(!faults.is_empty(), "an error has a fault");
        // Sorted, since the order of keys in a map depends on the features of `serde_json`.
        faults.sort_by(|a, b| a.pointer.cmp(&b.pointer));
        faults.dedup();
        let is_cut = faults.len() > MAX_FAULTS;
        faults.truncate(MAX_FAULTS);
        Self { faults, is_cut }
    }

    /// Returns the kind of the first fault.
    #[must_use]
    pub fn kind(&self) -> SchemaErrorKind {
        self.faults[0].kind
    }

    /// Returns the location of the first fault, as a JSON Pointer into the schema (RFC 6901).
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.faults[0].pointer
    }

    /// Returns the faults, at most the first 16. A fault that prevents further checks (the schema is not an object, is
    /// too large or has an unsupported dialect) is the only one.
    #[must_use]
    pub fn faults(&self) -> &[SchemaFault] {
        &self.faults
    }
}

impl SchemaFault {
    pub(super) fn new(kind: SchemaErrorKind, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind, pointer: pointer.into(), message: message.into() }
    }

    /// Returns the kind of the defect.
    #[must_use]
    pub fn kind(&self) -> SchemaErrorKind {
        self.kind
    }

    /// Returns the location, as a JSON Pointer into the schema (RFC 6901).
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// Returns the description of the defect, with the correction if it is known.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl From<SchemaFault> for SchemaError {
    fn from(fault: SchemaFault) -> Self {
        Self::new(vec![fault])
    }
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pointer.is_empty() {
            write!(f, "at {}: ", shown_pointer(&self.pointer))?;
        }
        f.write_str(&self.message)
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid schema: ")?;
        for (idx, fault) in self.faults.iter().enumerate() {
            let separator = if idx == 0 { "" } else { "; " };
            write!(f, "{separator}{fault}")?;
        }
        f.write_str(if self.is_cut { "; and more" } else { "" })
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema(error) => error.fmt(f),
            Self::Instance(violations) => violations.fmt(f),
        }
    }
}

impl std::error::Error for SchemaError {}
impl std::error::Error for SchemaFault {}
impl std::error::Error for Invalid {}

impl From<SchemaError> for Invalid {
    fn from(error: SchemaError) -> Self {
        Self::Schema(error)
    }
}

impl From<Violations> for Invalid {
    fn from(violations: Violations) -> Self {
        Self::Instance(violations)
    }
}
