//! Errors of a plan. They carry no reason, so that they cost nothing.

use std::fmt;

/// The value is not certainly valid. Validation of the whole value decides, and explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// A value that was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotEncoded {
    /// See [`Refused`].
    Refused,
    /// The JSON exceeds the limit.
    TooLong,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value is not certainly valid")
    }
}

impl std::error::Error for Refused {}

// The message of serde quotes the value, so it is dropped and reaches no log.
impl serde::de::Error for Refused {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Refused
    }
}

impl serde::ser::Error for Refused {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Refused
    }
}

#[inline]
pub(super) fn ok(holds: bool) -> Result<(), Refused> {
    if holds { Ok(()) } else { Err(Refused) }
}

/// The prefix of the keys under which `serde_json` hides numbers and raw JSON. No ordinary member has it.
pub(super) const PRIVATE: &[u8] = b"$serde_json::private::";
