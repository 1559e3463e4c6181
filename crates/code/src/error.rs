//! Errors before a program runs.

use std::fmt;

use super::sandbox::SandboxError;

/// The reason why a program was not started.
///
/// A program that was started has an [`Execution`](crate::Execution), also if it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeError {
    /// The program is empty.
    MissingCode,
    /// The program exceeds [`Limits::code_bytes`](crate::Limits::code_bytes), which is given.
    TooLong(u64),
    /// A program called a tool that runs programs.
    Nested,
    /// The journal is one of another version of this library.
    UnknownJournal,
    /// The sandbox cannot be started.
    Unavailable(SandboxError),
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingCode => f.write_str("the program is empty"),
            Self::TooLong(max) => write!(f, "the program exceeds {max} bytes"),
            Self::Nested => f.write_str("a program cannot run another program; call the tools directly"),
            Self::UnknownJournal => f.write_str("the journal is one of another version of this library"),
            Self::Unavailable(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CodeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unavailable(error) => Some(error),
            Self::MissingCode | Self::TooLong(_) | Self::Nested | Self::UnknownJournal => None,
        }
    }
}
