//! The failures of a value: the keywords that it does not satisfy, before they are described.

use std::borrow::Cow;

#[cfg(feature = "jsonschema")]
use jsonschema::ValidationError;
#[cfg(feature = "jsonschema")]
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use super::pointer::push_child;

/// A keyword that a part of a value does not satisfy.
pub(super) struct KeywordFailure<'v> {
    pub(super) kind: FailureKind<'v>,
    /// The part of the value.
    pub(super) instance: Cow<'v, Value>,
    pub(super) location: Location<'v>,
}

impl KeywordFailure<'_> {
    /// Returns the failure of a key, which is a value only while it is validated.
    pub(super) fn into_owned<'o>(self) -> KeywordFailure<'o> {
        KeywordFailure {
            kind: self.kind.into_owned(),
            instance: Cow::Owned(self.instance.into_owned()),
            location: self.location.into_owned(),
        }
    }
}

/// The location of a failure in the value, as a JSON Pointer, and its evaluation path: the keywords and references that
/// lead from the root of the schema to the keyword.
pub(super) enum Location<'v> {
    Texts(Box<[String; 2]>),
    /// The tokens of the pointer and those of the path, since few descriptions need the path as text.
    Tokens {
        all: Box<[PathToken<'v>]>,
        n_in_pointer: usize,
    },
}

/// A key or an index in a path.
#[derive(Clone, Copy)]
pub(super) enum PathToken<'v> {
    Name(&'v str),
    Index(usize),
}

impl Location<'_> {
    fn into_owned<'o>(self) -> Location<'o> {
        Location::Texts(match self {
            Self::Texts(texts) => texts,
            tokens => Box::new([tokens.pointer().into_owned(), tokens.path().into_owned()]),
        })
    }

    /// Returns the location in the value.
    pub(super) fn pointer(&self) -> Cow<'_, str> {
        match self {
            Self::Texts(texts) => Cow::Borrowed(&texts[0]),
            Self::Tokens { all, n_in_pointer } => Cow::Owned(text_of(&all[..*n_in_pointer])),
        }
    }

    /// Returns the evaluation path as a JSON Pointer.
    pub(super) fn path(&self) -> Cow<'_, str> {
        match self {
            Self::Texts(texts) => Cow::Borrowed(&texts[1]),
            Self::Tokens { all, n_in_pointer } => Cow::Owned(text_of(&all[*n_in_pointer..])),
        }
    }

    /// Returns the number of arrays and objects around the value.
    pub(super) fn depth(&self) -> usize {
        match self {
            Self::Texts(texts) => texts[0].matches('/').count(),
            Self::Tokens { n_in_pointer, .. } => *n_in_pointer,
        }
    }
}

/// Returns the tokens as a JSON Pointer.
fn text_of(tokens: &[PathToken<'_>]) -> String {
    let length = |token: &PathToken<'_>| match token {
        PathToken::Name(name) => name.len() + 1,
        // Most indexes have at most three digits.
        PathToken::Index(_) => 4,
    };
    let mut text = String::with_capacity(tokens.iter().map(length).sum());
    for token in tokens {
        match token {
            PathToken::Name(name) => push_child(&mut text, name),
            PathToken::Index(idx) => push_child(&mut text, &idx.to_string()),
        }
    }
    text
}

/// The keyword of a failure, with what its description needs.
#[cfg_attr(not(feature = "jsonschema"), expect(dead_code, reason = "some keywords need `jsonschema`"))]
pub(super) enum FailureKind<'v> {
    Type(Vec<&'static str>),
    Enum(Cow<'v, [Value]>),
    Const(Cow<'v, Value>),
    Minimum(Cow<'v, Value>),
    Maximum(Cow<'v, Value>),
    ExclusiveMinimum(Cow<'v, Value>),
    ExclusiveMaximum(Cow<'v, Value>),
    MultipleOf(f64),
    MinLength(u64),
    MaxLength(u64),
    Pattern(Cow<'v, str>),
    /// A pattern was not matched within the backtrack limit.
    BacktrackLimit,
    MinItems(u64),
    MaxItems(u64),
    UniqueItems,
    Contains,
    AdditionalItems(u64),
    UnevaluatedItems,
    MinProperties(u64),
    MaxProperties(u64),
    Required(Cow<'v, str>),
    /// The keys that are not declared.
    AdditionalProperties(Vec<Cow<'v, str>>),
    /// The keys that no schema evaluates.
    UnevaluatedProperties(Vec<Cow<'v, str>>),
    PropertyNames(Box<KeywordFailure<'v>>),
    /// The failures of each branch.
    AnyOf(Vec<Vec<KeywordFailure<'v>>>),
    OneOf(Vec<Vec<KeywordFailure<'v>>>),
    /// More than one branch of a `oneOf` matches.
    OneOfSeveral,
    Not,
    /// The schema `false`.
    False,
    /// Any other keyword, by name.
    Other(String),
}

/// The names of the types, in the order in which a description lists them.
pub(super) const TYPE_NAMES: [&str; 7] = ["string", "integer", "number", "boolean", "object", "array", "null"];

impl FailureKind<'_> {
    /// Returns the keyword.
    pub(super) fn keyword(&self) -> &str {
        match self {
            Self::Type(_) => "type",
            Self::Enum(_) => "enum",
            Self::Const(_) => "const",
            Self::Minimum(_) => "minimum",
            Self::Maximum(_) => "maximum",
            Self::ExclusiveMinimum(_) => "exclusiveMinimum",
            Self::ExclusiveMaximum(_) => "exclusiveMaximum",
            Self::MultipleOf(_) => "multipleOf",
            Self::MinLength(_) => "minLength",
            Self::MaxLength(_) => "maxLength",
            Self::Pattern(_) | Self::BacktrackLimit => "pattern",
            Self::MinItems(_) => "minItems",
            Self::MaxItems(_) => "maxItems",
            Self::UniqueItems => "uniqueItems",
            Self::Contains => "contains",
            Self::AdditionalItems(_) => "additionalItems",
            Self::UnevaluatedItems => "unevaluatedItems",
            Self::MinProperties(_) => "minProperties",
            Self::MaxProperties(_) => "maxProperties",
            Self::Required(_) => "required",
            Self::AdditionalProperties(_) => "additionalProperties",
            Self::UnevaluatedProperties(_) => "unevaluatedProperties",
            Self::PropertyNames(_) => "propertyNames",
            Self::AnyOf(_) => "anyOf",
            Self::OneOf(_) | Self::OneOfSeveral => "oneOf",
            Self::Not => "not",
            Self::False => "falseSchema",
            Self::Other(keyword) => keyword,
        }
    }

    /// Returns the failure of a string, which is a key.
    fn into_owned<'o>(self) -> FailureKind<'o> {
        fn branches<'o>(branches: Vec<Vec<KeywordFailure<'_>>>) -> Vec<Vec<KeywordFailure<'o>>> {
            branches.into_iter().map(|branch| branch.into_iter().map(KeywordFailure::into_owned).collect()).collect()
        }
        match self {
            Self::Type(names) => FailureKind::Type(names),
            Self::Enum(options) => FailureKind::Enum(Cow::Owned(options.into_owned())),
            Self::Const(constant) => FailureKind::Const(Cow::Owned(constant.into_owned())),
            Self::MinLength(limit) => FailureKind::MinLength(limit),
            Self::MaxLength(limit) => FailureKind::MaxLength(limit),
            Self::Pattern(pattern) => FailureKind::Pattern(Cow::Owned(pattern.into_owned())),
            Self::AnyOf(failed) => FailureKind::AnyOf(branches(failed)),
            Self::OneOf(failed) => FailureKind::OneOf(branches(failed)),
            Self::OneOfSeveral => FailureKind::OneOfSeveral,
            Self::Not => FailureKind::Not,
            Self::False => FailureKind::False,
            // The others do not concern strings.
            other => FailureKind::Other(other.keyword().to_owned()),
        }
    }

    /// Returns the failures of each branch of a choice that has no matching branch.
    pub(super) fn branches(&self) -> Option<&[Vec<KeywordFailure<'_>>]> {
        match self {
            Self::AnyOf(branches) | Self::OneOf(branches) => Some(branches),
            _ => None,
        }
    }
}

#[cfg(feature = "jsonschema")]
impl<'v> From<ValidationError<'v>> for KeywordFailure<'v> {
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

#[cfg(feature = "jsonschema")]
impl From<ValidationErrorKind> for FailureKind<'_> {
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

#[cfg(feature = "jsonschema")]
fn owned<'v>(keys: Vec<String>) -> Vec<Cow<'v, str>> {
    keys.into_iter().map(Cow::Owned).collect()
}

#[cfg(feature = "jsonschema")]
fn branches<'v>(branches: Vec<Vec<ValidationError<'static>>>) -> Vec<Vec<KeywordFailure<'v>>> {
    branches.into_iter().map(|errors| errors.into_iter().map(KeywordFailure::from).collect()).collect()
}

#[cfg(feature = "jsonschema")]
fn type_names(kind: &TypeKind) -> Vec<&'static str> {
    let is_named = |name: &str| match kind {
        TypeKind::Single(single) => single.to_string() == name,
        TypeKind::Multiple(several) => several.iter().any(|one| one.to_string() == name),
    };
    TYPE_NAMES.into_iter().filter(|name| is_named(name)).collect()
}
