//! The errors of a plan. They contain no details, so that they cost nothing.

use std::fmt;

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
        f.write_str("the value is not certainly valid")
    }
}

impl std::error::Error for PlanError {}

// serde's message quotes the value. It is dropped so that the value does not reach any log.
impl serde::de::Error for PlanError {
    fn custom<T: fmt::Display>(_: T) -> Self {
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
