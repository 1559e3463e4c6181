//! What is wrong with a schema, and with a value.

use std::fmt;

use super::Violations;
use super::excerpt::shown_pointer;

/// What is wrong with a schema: one [`SchemaFault`] or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// Never empty.
    faults: Vec<SchemaFault>,
    /// Whether there are more.
    is_cut: bool,
}

/// One thing that is wrong with a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFault {
    kind: SchemaErrorKind,
    pointer: String,
    message: String,
}

/// In which way a schema is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SchemaErrorKind {
    /// It is no schema: no JSON, no object, against its meta-schema, with a pattern that does not compile, or
    /// referring to itself without end.
    InvalidSchema,
    /// `$schema` names a dialect other than draft 2020-12 and draft-07, or another one than the document's.
    UnsupportedDialect,
    /// A reference leaves the document.
    ExternalReference,
    /// A reference leads to nothing, or to what is no schema.
    UnresolvedReference,
    /// It is nested too deep, has too many subschemas, or takes too much work to check a value against.
    TooComplex,
}

/// A schema that is refused, or a value that one refuses: for a caller that treats both alike.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Invalid {
    /// The schema is wrong.
    Schema(SchemaError),
    /// The value does not fit it.
    Instance(Violations),
}

/// Nobody reads past these, and a schema of a million mistakes must not take as many messages.
pub(super) const MAX_FAULTS: usize = 16;

impl SchemaError {
    /// # Panics
    ///
    /// If there is no fault.
    pub(super) fn of(mut faults: Vec<SchemaFault>) -> Self {
        assert!(!faults.is_empty(), "an error has a fault");
        // Whatever order maps keep.
        faults.sort_by(|a, b| a.pointer.cmp(&b.pointer));
        faults.dedup();
        let is_cut = faults.len() > MAX_FAULTS;
        faults.truncate(MAX_FAULTS);
        Self { faults, is_cut }
    }

    /// The kind of the first fault.
    #[must_use]
    pub fn kind(&self) -> SchemaErrorKind {
        self.faults[0].kind
    }

    /// Where the first fault is, as a JSON Pointer into the schema (RFC 6901).
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.faults[0].pointer
    }

    /// Every fault, of very many the first ones. What keeps a schema from being looked at is alone: that it is no
    /// object, too large, or of another dialect.
    #[must_use]
    pub fn faults(&self) -> &[SchemaFault] {
        &self.faults
    }
}

impl SchemaFault {
    pub(super) fn new(kind: SchemaErrorKind, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind, pointer: pointer.into(), message: message.into() }
    }

    /// In which way the schema is wrong.
    #[must_use]
    pub fn kind(&self) -> SchemaErrorKind {
        self.kind
    }

    /// Where, as a JSON Pointer into the schema (RFC 6901).
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// What is wrong, and what to write instead where that is known.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl From<SchemaFault> for SchemaError {
    fn from(fault: SchemaFault) -> Self {
        Self::of(vec![fault])
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
