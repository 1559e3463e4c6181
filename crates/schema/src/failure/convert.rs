//! Conversion of the errors of `jsonschema`.

use std::borrow::Cow;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use super::{Failure, Kind, Location, TYPE_NAMES};

impl<'v> From<ValidationError<'v>> for Failure<'v> {
    fn from(error: ValidationError<'v>) -> Self {
        let parts = error.into_parts();
        Self {
            kind: parts.kind.into(),
            instance: parts.instance,
            location: Location::Texts(Box::new([
                parts.instance_path.as_str().to_owned(),
                parts.evaluation_path.as_str().to_owned(),
            ])),
        }
    }
}

impl From<ValidationErrorKind> for Kind<'_> {
    fn from(kind: ValidationErrorKind) -> Self {
        use ValidationErrorKind as Source;
        match kind {
            Source::Type { kind } => Self::Type(type_names(&kind)),
            Source::Enum { options } => Self::Enum(Cow::Owned(options.as_array().cloned().unwrap_or_default())),
            Source::Constant { expected_value } => Self::Const(Cow::Owned(Value::clone(&expected_value))),
            Source::Minimum { limit } => Self::Minimum(Cow::Owned(limit)),
            Source::Maximum { limit } => Self::Maximum(Cow::Owned(limit)),
            Source::ExclusiveMinimum { limit } => Self::ExclusiveMinimum(Cow::Owned(limit)),
            Source::ExclusiveMaximum { limit } => Self::ExclusiveMaximum(Cow::Owned(limit)),
            Source::MultipleOf { multiple_of } => Self::MultipleOf(multiple_of),
            Source::MinLength { limit } => Self::MinLength(limit),
            Source::MaxLength { limit } => Self::MaxLength(limit),
            Source::Pattern { pattern } => Self::Pattern(pattern.into()),
            Source::BacktrackLimitExceeded { .. } => Self::BacktrackLimit,
            Source::MinItems { limit } => Self::MinItems(limit),
            Source::MaxItems { limit } => Self::MaxItems(limit),
            Source::UniqueItems => Self::UniqueItems,
            Source::Contains => Self::Contains,
            Source::AdditionalItems { limit } => Self::AdditionalItems(limit as u64),
            Source::UnevaluatedItems { .. } => Self::UnevaluatedItems,
            Source::MinProperties { limit } => Self::MinProperties(limit),
            Source::MaxProperties { limit } => Self::MaxProperties(limit),
            Source::Required { property } => Self::Required(property.as_str().unwrap_or_default().to_owned().into()),
            Source::AdditionalProperties { unexpected } => Self::AdditionalProperties(owned(unexpected)),
            Source::UnevaluatedProperties { unexpected } => Self::UnevaluatedProperties(owned(unexpected)),
            Source::PropertyNames { error } => Self::PropertyNames(Box::new((*error).into())),
            Source::AnyOf { context } => Self::AnyOf(branches(context)),
            Source::OneOfNotValid { context } => Self::OneOf(branches(context)),
            Source::OneOfMultipleValid { .. } => Self::OneOfSeveral,
            Source::Not { .. } => Self::Not,
            Source::FalseSchema => Self::False,
            other => Self::Other(other.keyword().to_owned()),
        }
    }
}

fn owned<'v>(keys: Vec<String>) -> Vec<Cow<'v, str>> {
    keys.into_iter().map(Cow::Owned).collect()
}

fn branches<'v>(branches: Vec<Vec<ValidationError<'static>>>) -> Vec<Vec<Failure<'v>>> {
    branches.into_iter().map(|errors| errors.into_iter().map(Failure::from).collect()).collect()
}

fn type_names(kind: &TypeKind) -> Vec<&'static str> {
    let is_named = |name: &str| match kind {
        TypeKind::Single(single) => single.to_string() == name,
        TypeKind::Multiple(several) => several.iter().any(|one| one.to_string() == name),
    };
    TYPE_NAMES.into_iter().filter(|name| is_named(name)).collect()
}
