//! Why a file is no index.

use std::{fmt, io};

use toolkit_schema::shown_id;

/// Raised whenever a file means something else than before. The words that a text gives are part of the meaning.
pub(super) const FORMAT: u32 = 1;

/// Why a saved index was not opened. Except for an error of the reader, building the index anew helps.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// Reading failed.
    Io(io::Error),
    /// It does not begin as an index does.
    NotAnIndex,
    /// Another release wrote it, and not as this one reads it.
    #[non_exhaustive]
    OtherFormat {
        /// The number of its format.
        found: u32,
    },
    /// It is of something else than was asked for.
    #[non_exhaustive]
    Stale {
        /// What it is of, cut at 200 characters.
        found: String,
    },
    /// Not all of it is as it was written.
    Damaged(Damage),
}

/// In which way a file is not as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Damage {
    /// It ends too early.
    TooShort,
    /// It goes on behind its end.
    TooLong,
    /// Its checksum is another.
    Checksum,
    /// Its checksum is right, but what it says is no index.
    Content,
}

impl From<Damage> for OpenError {
    fn from(damage: Damage) -> Self {
        Self::Damaged(damage)
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the index could not be read: {error}"),
            Self::NotAnIndex => f.write_str("the file is not an index of tools"),
            Self::OtherFormat { found } => {
                write!(f, "the index has format {found} and this release reads format {}; build it anew", FORMAT)
            }
            Self::Stale { found } => write!(f, "the index is of `{}`; build it anew", shown_id(found)),
            Self::Damaged(damage) => write!(f, "the index is damaged: {damage}; build it anew"),
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooShort => "it ends too early",
            Self::TooLong => "it goes on behind its end",
            Self::Checksum => "its checksum does not match",
            Self::Content => "its checksum matches, but what it says is no index",
        })
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}
