//! The errors of a plan. They contain no details, so that they cost nothing.

use std::fmt;

use serde::de::{Expected, Unexpected};

use super::explain;

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
        explain::fmt_message(f)
    }
}

impl std::error::Error for PlanError {}

// serde's message quotes the value. It is not part of the error, so that the value does not reach any log.
impl serde::de::Error for PlanError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        explain::record_message(&message);
        PlanError
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        explain::record_unexpected("invalid type", unexpected, expected);
        PlanError
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        explain::record_unexpected("invalid value", unexpected, expected);
        PlanError
    }
}

impl serde::ser::Error for PlanError {
    fn custom<T: fmt::Display>(_: T) -> Self {
        PlanError
    }
}

#[inline]
pub(super) fn ok(holds: bool) -> Result<(), PlanError> {
    if holds { Ok(()) } else { Err(PlanError) }
}
