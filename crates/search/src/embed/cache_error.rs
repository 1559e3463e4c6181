//! The error of a vector cache.

use std::path::PathBuf;
use std::{fmt, io};

/// An error of a [`Cached`](super::Cached) embedder's file.
///
/// ```
/// use toolkit_search::embed::{CacheError, Cached};
/// # use toolkit_search::{Embedder, EmbedderError};
/// # struct Model;
/// # impl Embedder for Model {
/// #     fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
/// #         Ok(texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect())
/// #     }
/// # }
/// # let path = std::env::temp_dir().join(format!("toolkit-search-other-model-{}", std::process::id()));
///
/// Cached::open(Model, "model 1", &path)?.save()?;
/// // The vectors of another model cannot be compared with these: start with an empty cache.
/// let cached = match Cached::open(Model, "model 2", &path) {
///     Err(CacheError::OtherModel { path, found, .. }) => {
///         assert_eq!(found, "model 1");
///         std::fs::remove_file(&path)?;
///         Cached::open(Model, "model 2", &path)?
///     }
///     other => other?,
/// };
/// assert!(cached.is_empty());
/// # Ok::<(), EmbedderError>(())
/// ```
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
