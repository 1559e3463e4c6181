//! The validators that `jsonschema` builds, for the schemas without a plan.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::Value;

use super::size::Size;
use crate::dialect::Dialect;
use crate::error::{SchemaDiagnostic, SchemaErrorKind};
use crate::excerpt::quoted;
use crate::failure::Failure;
use crate::patterns::{self, Patterns};
use crate::tagged;
use crate::violation::FindFailures;

/// The validators of a schema.
pub(crate) struct Library {
    validator: Validator,
    /// The same validator with a low backtrack limit, for values with much text. Present if a pattern needs
    /// backtracking.
    low_backtrack_limit: Option<Validator>,
    /// The schema with choices resolved by their tags, and its validator.
    discriminated: OnceLock<Option<(Value, Validator)>>,
}

impl Library {
    /// Builds the validators of a schema.
    ///
    /// # Errors
    ///
    /// Returns the defect of an invalid schema.
    pub(super) fn build(schema: &Value, dialect: Dialect, patterns: &Patterns<'_>) -> Result<Self, SchemaDiagnostic> {
        let invalid = |pointer, message| SchemaDiagnostic::new(SchemaErrorKind::InvalidSchema, pointer, message);
        // `jsonschema` can panic on overlapping identifiers, and an untrusted schema must not end the program.
        let validator = match catch_unwind(AssertUnwindSafe(|| patterns.options(dialect).build(schema))) {
            Ok(Ok(validator)) => validator,
            Ok(Err(error)) => return Err(invalid(error.instance_path().to_string(), quoted(&error.to_string()))),
            Err(_) => return Err(invalid(String::new(), "the identifiers of its subschemas conflict".to_owned())),
        };
        let low_backtrack_limit =
            patterns.need_backtracking().then(|| patterns.low_backtrack_limit(dialect).build(schema).ok()).flatten();
        Ok(Self { validator, low_backtrack_limit, discriminated: OnceLock::new() })
    }

    pub(super) fn has_backtracking_patterns(&self) -> bool {
        self.low_backtrack_limit.is_some()
    }

    pub(super) fn validator(&self, instance: &Value) -> &Validator {
        match &self.low_backtrack_limit {
            Some(low_backtrack_limit) if patterns::has_much_text(instance) => low_backtrack_limit,
            _ => &self.validator,
        }
    }

    /// Returns a variant of the schema that explains violations without visiting every branch of a choice. Returns
    /// `None` if the schema has no such variant.
    pub(super) fn by_discriminator(&self, schema: &Value) -> Option<&(Value, Validator)> {
        let made = self.discriminated.get_or_init(|| {
            // This is built on the caller's stack.
            Size::measure(schema).ok().filter(Size::is_shallow)?;
            let schema = tagged::by_discriminator(schema)?;
            let options = Patterns::default().low_backtrack_limit(Dialect::from_document(&schema).ok()?);
            let validator = options.build(&schema).ok()?;
            Some((schema, validator))
        });
        made.as_ref()
    }
}

impl FindFailures for Validator {
    fn failures<'v>(&'v self, instance: &'v Value, most: usize) -> Vec<Failure<'v>> {
        match most {
            1 => self.validate(instance).err().into_iter().map(Failure::from).collect(),
            _ => self.iter_errors(instance).map(Failure::from).collect(),
        }
    }
}
