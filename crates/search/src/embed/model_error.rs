//! The errors of loading a model.

use std::path::PathBuf;
use std::{fmt, io};

/// An error of loading a model.
///
/// ```
/// use toolkit_search::embed::{LocalModel, ModelError};
///
/// let error = LocalModel::open("models/missing").unwrap_err();
/// assert!(matches!(&error, ModelError::File { path, .. } if path.ends_with("config.json")));
/// assert!(error.to_string().contains("expected a folder with `config.json`, `tokenizer.json` and `model.safetensors`"));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ModelError {
    /// A file is missing, or could not be read.
    #[non_exhaustive]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The I/O error.
        error: io::Error,
    },
    /// The content of a file is invalid.
    #[non_exhaustive]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The model is of an unsupported kind.
    #[non_exhaustive]
    Unsupported {
        /// The file with the unsupported setting.
        path: PathBuf,
        /// The unsupported setting.
        what: String,
    },
    /// A tensor is missing or has a shape that does not match the configuration.
    #[non_exhaustive]
    Tensor {
        /// The name of the tensor.
        name: String,
        /// The expected shape.
        expected: Vec<usize>,
        /// The shape of the tensor; `None` if it is missing.
        found: Option<Vec<usize>>,
    },
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, error } => write!(
                f,
                "{}: {error}; expected a folder with `config.json`, `tokenizer.json` and `model.safetensors`",
                path.display()
            ),
            Self::Damaged { path, reason } => {
                write!(f, "{}: {reason}; download the model again", path.display())
            }
            Self::Unsupported { path, what } => {
                write!(f, "{}: {what}; use a model like all-MiniLM-L6-v2", path.display())
            }
            Self::Tensor { name, expected, found: Some(found) } => {
                write!(f, "the tensor `{name}` has the shape {found:?}, but `config.json` requires {expected:?}")
            }
            Self::Tensor { name, expected, found: None } => {
                write!(f, "the tensor `{name}` of the shape {expected:?} is missing in `model.safetensors`")
            }
        }
    }
}

impl std::error::Error for ModelError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { error, .. } => Some(error),
            _ => None,
        }
    }
}
