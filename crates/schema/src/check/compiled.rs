//! The validator of a schema.

#[cfg(feature = "jsonschema")]
use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(feature = "jsonschema")]
use std::sync::OnceLock;

#[cfg(feature = "jsonschema")]
use jsonschema::Validator;
use serde_json::Value;

#[cfg(feature = "jsonschema")]
use super::Size;
use crate::cost::ErrorDetail;
#[cfg(feature = "jsonschema")]
use crate::dialect::Dialect;
#[cfg(feature = "jsonschema")]
use crate::error::{SchemaDiagnostic, SchemaErrorKind};
use crate::evaluate::Evaluator;
#[cfg(feature = "jsonschema")]
use crate::excerpt::quoted;
use crate::failure::KeywordFailure;
#[cfg(feature = "jsonschema")]
use crate::patterns::Patterns;
use crate::plan::Plan;
use crate::violation::{FindFailures, Violations, Wanted, has_choice, is_large};
#[cfg(feature = "jsonschema")]
use crate::{patterns, tagged};

/// The validator of a schema: an [`Evaluator`] if it supports the keywords, and otherwise one of `jsonschema`.
pub(crate) enum Compiled {
    Evaluator(Evaluator),
    #[cfg(feature = "jsonschema")]
    Library(Box<Library>),
}

impl Compiled {
    /// Returns true if a pattern needs the backtracking engine.
    pub(crate) fn has_backtracking_patterns(&self) -> bool {
        match self {
            Self::Evaluator(_) => false,
            #[cfg(feature = "jsonschema")]
            Self::Library(library) => library.has_backtracking_patterns(),
        }
    }

    /// Returns true if the value matches the schema.
    pub(crate) fn is_valid(&self, schema: &Value, plan: Option<&Plan>, instance: &Value) -> bool {
        match self {
            Self::Evaluator(evaluator) => evaluator.is_valid(schema, plan, instance),
            #[cfg(feature = "jsonschema")]
            Self::Library(library) => library.validator(instance).is_valid(instance),
        }
    }

    /// Validates a value. On failure, returns the violations in the given detail.
    pub(crate) fn validate(
        &self,
        schema: &Value,
        plan: Option<&Plan>,
        has_secrets: bool,
        instance: &Value,
        detail: ErrorDetail,
        wanted: Wanted<'_>,
    ) -> Result<(), Violations> {
        // An evaluator decides while it collects, unless that is expensive.
        let decides = matches!((self, &detail), (Self::Evaluator(_), ErrorDetail::Full))
            && (!is_large(instance) || !has_choice(schema));
        if !decides && self.is_valid(schema, plan, instance) {
            return Ok(());
        }
        let collect = |schema, validator: &dyn FindFailures| {
            Violations::collect(schema, has_secrets, validator, instance, wanted)
        };
        let violations = match (self, detail) {
            (_, ErrorDetail::None) => return Err(Violations::too_deep()),
            (Self::Evaluator(evaluator), detail) => {
                let is_brief = matches!(detail, ErrorDetail::Discriminated);
                collect(schema, &Evaluated { evaluator, schema, plan, is_brief })
            }
            #[cfg(feature = "jsonschema")]
            (Self::Library(library), ErrorDetail::Full) => collect(schema, library.validator(instance)),
            #[cfg(feature = "jsonschema")]
            (Self::Library(library), ErrorDetail::Discriminated) => match library.by_discriminator(schema) {
                Some((schema, validator)) => collect(schema, validator),
                None => return Err(Violations::too_deep()),
            },
        };
        match violations.is_empty() {
            true if decides => Ok(()),
            true => Err(Violations::too_deep()),
            false => Err(violations),
        }
    }
}

/// An evaluator with its schema.
pub(super) struct Evaluated<'s> {
    pub(super) evaluator: &'s Evaluator,
    pub(super) schema: &'s Value,
    pub(super) plan: Option<&'s Plan>,
    pub(super) is_brief: bool,
}

impl FindFailures for Evaluated<'_> {
    fn failures<'v>(&'v self, instance: &'v Value, most: usize) -> Vec<KeywordFailure<'v>> {
        self.evaluator.failures(self.schema, self.plan, instance, most, self.is_brief)
    }
}

/// The validators of a schema.
#[cfg(feature = "jsonschema")]
pub(crate) struct Library {
    validator: Validator,
    /// The same validator with a low backtrack limit, for values with much text. Present if a pattern needs
    /// backtracking.
    low_backtrack_limit: Option<Validator>,
    /// The schema with choices resolved by their tags, and its validator.
    discriminated: OnceLock<Option<(Value, Validator)>>,
}

#[cfg(feature = "jsonschema")]
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

#[cfg(feature = "jsonschema")]
impl FindFailures for Validator {
    fn failures<'v>(&'v self, instance: &'v Value, most: usize) -> Vec<KeywordFailure<'v>> {
        match most {
            1 => self.validate(instance).err().into_iter().map(KeywordFailure::from).collect(),
            _ => self.iter_errors(instance).map(KeywordFailure::from).collect(),
        }
    }
}
