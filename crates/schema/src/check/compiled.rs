//! The validator of a schema.

use serde_json::Value;

#[cfg(feature = "jsonschema")]
use super::library::Library;
use crate::cost::ErrorDetail;
use crate::dialect::Dialect;
use crate::error::SchemaDiagnostic;
#[cfg(not(feature = "jsonschema"))]
use crate::error::SchemaErrorKind;
use crate::evaluate::Evaluator;
use crate::failure::Failure;
use crate::patterns::Patterns;
use crate::plan::Plan;
use crate::violation::{FindFailures, Violations, Wanted, is_large};

/// The validator of a schema: an [`Evaluator`] if the schema has a plan, and otherwise one of `jsonschema`.
pub(crate) enum Compiled {
    Evaluator(Evaluator),
    #[cfg(feature = "jsonschema")]
    Library(Box<Library>),
}

impl Compiled {
    /// Creates the validator of a schema that has a plan.
    pub(super) fn from_plan(schema: &Value) -> Self {
        Self::Evaluator(Evaluator::new(schema))
    }

    /// Creates the validator of a schema without a plan.
    ///
    /// # Errors
    ///
    /// Returns the defect of an invalid schema.
    #[cfg(feature = "jsonschema")]
    pub(super) fn without_plan(
        schema: &Value,
        dialect: Dialect,
        patterns: &Patterns<'_>,
    ) -> Result<Self, SchemaDiagnostic> {
        Library::build(schema, dialect, patterns).map(|library| Self::Library(Box::new(library)))
    }

    /// Returns the keyword that needs `jsonschema`, as an error.
    #[cfg(not(feature = "jsonschema"))]
    pub(super) fn without_plan(schema: &Value, _: Dialect, _: &Patterns<'_>) -> Result<Self, SchemaDiagnostic> {
        let Some(obstacle) = Plan::obstacle(schema) else { return Ok(Self::from_plan(schema)) };
        let subject = match &*obstacle.keyword {
            "" => "a schema of this size".to_owned(),
            keyword => format!("this use of `{keyword}`"),
        };
        let message = format!("{subject} needs the feature `jsonschema` of `toolkit`");
        Err(SchemaDiagnostic::new(SchemaErrorKind::UnsupportedKeyword, obstacle.pointer, message))
    }

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
        let decides = matches!((self, &detail), (Self::Evaluator(_), ErrorDetail::Full)) && !is_large(instance);
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
    fn failures<'v>(&'v self, instance: &'v Value, most: usize) -> Vec<Failure<'v>> {
        self.evaluator.failures(self.schema, self.plan, instance, most, self.is_brief)
    }
}
