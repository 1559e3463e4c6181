//! The errors of invalid schemas and values.

use std::fmt;

use super::Violations;
use super::excerpt::shown_pointer;

/// An error for an invalid schema. It contains one or more [`SchemaDiagnostic`]s.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit_schema::Schema;
///
/// let error = Schema::from_value(json!({ "properties": { "to": { "$ref": "#/$defs/User" } } })).unwrap_err();
/// assert_eq!(error.pointer(), "/properties/to/$ref");
/// assert!(error.to_string().starts_with("invalid schema: at /properties/to/$ref: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// Never empty.
    diagnostics: Vec<SchemaDiagnostic>,
    /// True if diagnostics beyond [`MAX_DIAGNOSTICS`] were dropped.
    is_cut: bool,
}

/// A single defect of a schema.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit_schema::Schema;
///
/// let schema = json!({ "properties": { "age": { "minimum": "zero" }, "name": { "pattern": "(" } } });
/// let error = Schema::from_value(schema).unwrap_err();
/// let pointers: Vec<&str> = error.diagnostics().iter().map(|diagnostic| diagnostic.pointer()).collect();
/// assert_eq!(pointers, ["/properties/age/minimum", "/properties/name/pattern"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaDiagnostic {
    kind: SchemaErrorKind,
    pointer: String,
    message: String,
}

/// The kind of a schema defect.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit_schema::{Schema, SchemaErrorKind};
///
/// let error = Schema::from_value(json!({ "$ref": "https://example.com/point.json" })).unwrap_err();
/// assert_eq!(error.kind(), SchemaErrorKind::ExternalReference);
///
/// let error = Schema::from_value(json!({ "type": "objekt" })).unwrap_err();
/// assert_eq!(error.kind(), SchemaErrorKind::InvalidSchema);
/// ```
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
    /// A keyword needs the feature `jsonschema`, which is disabled.
    UnsupportedKeyword,
    /// The schema is nested too deep, has too many subschemas, or makes validation too expensive.
    TooComplex,
}

/// An error of validation: the schema is invalid, or the value does not match it.
///
/// # Examples
///
/// A function that accepts a schema and a value from the same source:
///
/// ```
/// use serde_json::{Value, json};
/// use toolkit_schema::{Schema, ValidationError};
///
/// fn check(schema: Value, value: &Value) -> Result<(), ValidationError> {
///     Ok(Schema::from_value(schema)?.validate(value)?)
/// }
///
/// assert!(matches!(check(json!([]), &json!(1)), Err(ValidationError::Schema(_))));
/// let error = check(json!({ "maximum": 3 }), &json!(4)).unwrap_err();
/// assert_eq!(error.to_string(), "the value must be at most 3, got 4");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ValidationError {
    /// The schema is invalid.
    Schema(SchemaError),
    /// The value does not match the schema.
    Instance(Violations),
}

/// The number of diagnostics that an error keeps. A schema with a million mistakes must not produce as many messages.
pub(super) const MAX_DIAGNOSTICS: usize = 16;

impl SchemaError {
    /// # Panics
    ///
    /// If there is no diagnostic.
    pub(super) fn new(mut diagnostics: Vec<SchemaDiagnostic>) -> Self {
        assert!(!diagnostics.is_empty(), "an error has a diagnostic");
        // Sorted, since the order of keys in a map depends on the features of `serde_json`.
        diagnostics.sort_by(|a, b| a.pointer.cmp(&b.pointer));
        diagnostics.dedup();
        let is_cut = diagnostics.len() > MAX_DIAGNOSTICS;
        diagnostics.truncate(MAX_DIAGNOSTICS);
        Self { diagnostics, is_cut }
    }

    /// Returns the kind of the first diagnostic.
    #[must_use]
    pub fn kind(&self) -> SchemaErrorKind {
        self.diagnostics[0].kind
    }

    /// Returns the location of the first diagnostic, as a JSON Pointer into the schema (RFC 6901).
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.diagnostics[0].pointer
    }

    /// Returns the diagnostics, at most the first 16. A diagnostic that prevents further checks (the schema is not an
    /// object, is too large or has an unsupported dialect) is the only one.
    #[must_use]
    pub fn diagnostics(&self) -> &[SchemaDiagnostic] {
        &self.diagnostics
    }
}

impl SchemaDiagnostic {
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

impl From<SchemaDiagnostic> for SchemaError {
    fn from(diagnostic: SchemaDiagnostic) -> Self {
        Self::new(vec![diagnostic])
    }
}

impl fmt::Display for SchemaDiagnostic {
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
        for (idx, diagnostic) in self.diagnostics.iter().enumerate() {
            let separator = if idx == 0 { "" } else { "; " };
            write!(f, "{separator}{diagnostic}")?;
        }
        f.write_str(if self.is_cut { "; and more" } else { "" })
    }
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema(error) => error.fmt(f),
            Self::Instance(violations) => violations.fmt(f),
        }
    }
}

impl std::error::Error for SchemaError {}
impl std::error::Error for SchemaDiagnostic {}
impl std::error::Error for ValidationError {}

impl From<SchemaError> for ValidationError {
    fn from(error: SchemaError) -> Self {
        Self::Schema(error)
    }
}

impl From<Violations> for ValidationError {
    fn from(violations: Violations) -> Self {
        Self::Instance(violations)
    }
}
