//! The error of a vector cache.

use std::path::PathBuf;
use std::{fmt, io};

/// An error of a [`Cached`](crate::embed::Cached) embedder's file.
#[derive(Debug)]
#[non_exhaustive]
pub enum CacheError {
    /// The file could not be read or written.
    #[non_exhaustive]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The I/O error.
        error: io::Error,
    },
    /// The file is not a cache file, is incomplete, or has been changed.
    #[non_exhaustive]
    Damaged {
        /// The path of the file.
        path: PathBuf,
    },
    /// The vectors in the file are of another model.
    #[non_exhaustive]
    OtherModel {
        /// The path of the file.
        path: PathBuf,
        /// The model of the vectors.
        found: String,
    },
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Damaged { path } => {
                write!(f, "{}: not a cache of vectors, or a damaged one; delete it", path.display())
            }
            Self::OtherModel { path, found } => write!(
                f,
                "{}: the vectors are of the model `{}`; delete the file or use another one",
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
