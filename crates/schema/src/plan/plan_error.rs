//! The errors of a plan, which contain no details, and the reason why a type rejects a value.

mod type_error;

use std::fmt;

use serde::de::{Expected, Unexpected};

pub use self::type_error::TypeError;
pub(super) use self::type_error::{
    Reason, Recording, fmt_message, record_message, record_offset, record_unexpected, record_variants,
};

/// The error of a plan: the value is not certainly valid. Validation of the whole value decides and explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanError;

/// The reason why a value was not encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// The value is not certainly valid. See [`PlanError`].
    Uncertain,
    /// The JSON exceeds the limit.
    TooLong,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_message(f)
    }
}

impl std::error::Error for PlanError {}

// serde's message quotes the value. It is not part of the error, so that the value does not reach any log.
impl serde::de::Error for PlanError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        record_message(&message);
        PlanError
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        record_unexpected("invalid type", unexpected, expected);
        PlanError
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        record_unexpected("invalid value", unexpected, expected);
        PlanError
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        record_variants(expected);
        record_message(&serde::de::value::Error::unknown_variant(variant, expected));
        PlanError
    }
}

impl serde::ser::Error for PlanError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        record_message(&message);
        PlanError
    }
}

#[inline]
pub(super) fn ok(holds: bool) -> Result<(), PlanError> {
    if holds { Ok(()) } else { Err(PlanError) }
}
