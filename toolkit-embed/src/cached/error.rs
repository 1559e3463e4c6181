//! Why vectors could not be kept.

use std::path::PathBuf;
use std::{fmt, io};

/// Why vectors could not be kept, or taken from where they were kept.
#[derive(Debug)]
#[non_exhaustive]
pub enum CacheError {
    /// The file could not be read or written.
    #[non_exhaustive]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file is none that was written here, or not all of it, or was changed since.
    #[non_exhaustive]
    Damaged {
        /// Which one.
        path: PathBuf,
    },
    /// The vectors in the file were made by another model.
    #[non_exhaustive]
    OtherModel {
        /// Which file.
        path: PathBuf,
        /// The model that made them.
        found: String,
    },
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Damaged { path } => {
                write!(f, "{}: it is no file of vectors, or a damaged one; delete it", path.display())
            }
            Self::OtherModel { path, found } => write!(
                f,
                "{}: its vectors are of the model `{}`; delete it, or keep the vectors elsewhere",
                path.display(),
                found.escape_debug()
            ),
        }
    }
}

impl std::error::Error for CacheError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { error, .. } => Some(error),
            _ => None,
        }
    }
}
