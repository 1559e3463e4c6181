//! Refusal of a value: without a reason, so that it costs nothing.

use std::fmt;

/// The value is not certainly valid; only a walk over the whole value can tell, and say why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct Refused;

/// Why a value was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum NotEncoded {
    /// See [`Refused`].
    Refused,
    /// It is longer than it may be.
    TooLong,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value is not certainly valid")
    }
}

impl std::error::Error for Refused {}

// Not looking at what serde says keeps its message, which names the value, out of every log.
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

/// How the keys begin under which `serde_json` hides numbers and raw JSON: never an ordinary member.
pub(super) const PRIVATE: &[u8] = b"$serde_json::private::";
