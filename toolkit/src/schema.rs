//! A checked JSON Schema: the contract for a tool's arguments or result.

pub mod close;
mod example;
pub mod generate;
pub mod inline;
pub mod plan;
pub mod portable;
pub(crate) mod root;
mod violation;
mod walk;

use std::fmt;
use std::sync::OnceLock;

use jsonschema::{Draft, Validator};
use serde_json::Value;

pub(crate) use self::generate::{input, output};
use self::plan::Plan;
pub(crate) use self::violation::child;
pub use self::violation::{Violation, Violations};

/// A JSON Schema, ready to check values.
///
/// Draft 2020-12 where `$schema` does not say otherwise, or draft-07. `format` is an annotation. References stay
/// inside the document; nothing is ever fetched.
pub struct Schema {
    value: Value,
    validator: OnceLock<Result<Validator, SchemaError>>,
    plan: OnceLock<Option<Plan>>,
    secret: OnceLock<bool>,
}

/// The dialects understood, by their `$schema`.
const DIALECTS: [(&str, Draft); 2] = [
    ("https://json-schema.org/draft/2020-12/schema", Draft::Draft202012),
    ("http://json-schema.org/draft-07/schema", Draft::Draft7),
];

impl Schema {
    /// Checks `value` and keeps it.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] says what is wrong: it is no object, names a dialect other than 2020-12 and draft-07, breaks
    /// its meta-schema, refers outside the document or to nothing, or has a pattern that does not compile.
    pub fn from_value(value: Value) -> Result<Self, SchemaError> {
        let schema = Self::generated(value);
        schema.validator()?;
        Ok(schema)
    }

    /// A schema that was derived from a Rust type, to be checked when it is first used.
    pub(crate) const fn generated(value: Value) -> Self {
        Self { value, validator: OnceLock::new(), plan: OnceLock::new(), secret: OnceLock::new() }
    }

    /// The schema as JSON.
    #[must_use]
    pub const fn as_value(&self) -> &Value {
        &self.value
    }

    /// Whether the schema itself is sound.
    ///
    /// # Errors
    ///
    /// As for [`Schema::from_value`].
    pub fn check(&self) -> Result<(), SchemaError> {
        self.validator().map(drop)
    }

    /// Checks a value.
    ///
    /// # Errors
    ///
    /// Every violation, in the order of where they are; of very many the first 256, and of a very large value those of
    /// its front.
    pub fn validate(&self, instance: &Value) -> Result<(), Violations> {
        let validator = match self.validator() {
            Ok(validator) => validator,
            Err(error) => return Err(Violations::broken_schema(&error)),
        };
        if validator.is_valid(instance) {
            return Ok(());
        }
        Err(Violations::collect(&self.value, self.holds_secret(), validator, instance))
    }

    /// Whether a value fits.
    #[must_use]
    pub fn is_valid(&self, instance: &Value) -> bool {
        self.validator().is_ok_and(|validator| validator.is_valid(instance))
    }

    pub(crate) fn validator(&self) -> Result<&Validator, SchemaError> {
        let compiled = self.validator.get_or_init(|| compile(&self.value));
        compiled.as_ref().map_err(SchemaError::clone)
    }

    /// The form in which serde checks the schema as it goes, where the schema has one.
    pub(crate) fn plan(&self) -> Option<&Plan> {
        self.plan.get_or_init(|| Plan::compile(&self.value)).as_ref()
    }

    /// How values are checked against it, which is decided once.
    #[must_use]
    pub fn path(&self) -> plan::Path {
        match self.plan() {
            Some(_) => plan::Path::Plan,
            None => Plan::why_not(&self.value).map_or(plan::Path::Plan, plan::Path::Tree),
        }
    }

    /// Whether a value that fits may hold something that must not be repeated.
    pub(crate) fn holds_secret(&self) -> bool {
        *self.secret.get_or_init(|| violation::holds_secret(&self.value, &self.value))
    }

    /// A small value that fits, for a caller that sent one that does not; `None` where none was found.
    #[must_use]
    pub fn example(&self) -> Option<Value> {
        let example = example::minimal(&self.value)?;
        self.is_valid(&example).then_some(example)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.value, f)
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

fn compile(value: &Value) -> Result<Validator, SchemaError> {
    let invalid = |reason: String| SchemaError { reason };
    let Value::Object(object) = value else {
        return Err(invalid("a schema is a JSON object".to_owned()));
    };
    let draft = match object.get("$schema") {
        None => Draft::Draft202012,
        Some(named) => DIALECTS
            .iter()
            .find(|(uri, _)| named.as_str().map(|uri| uri.trim_end_matches('#')) == Some(uri))
            .map(|&(_, draft)| draft)
            .ok_or_else(|| invalid(format!("the dialect {named} is not supported; use draft 2020-12 or draft-07")))?,
    };
    jsonschema::options().with_draft(draft).should_validate_formats(false).with_retriever(Nowhere).build(value).map_err(
        |error| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "/".to_owned() } else { place };
            invalid(format!("at {place}: {error}"))
        },
    )
}

/// Refuses every reference that leaves the document.
struct Nowhere;

impl jsonschema::Retrieve for Nowhere {
    fn retrieve(&self, uri: &jsonschema::Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!("the reference to {uri} leaves the document; nothing is fetched").into())
    }
}

/// What is wrong with a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    reason: String,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid schema: {}", self.reason)
    }
}

impl std::error::Error for SchemaError {}
