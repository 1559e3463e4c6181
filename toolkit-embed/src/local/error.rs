//! Why a model could not be loaded.

use std::path::PathBuf;
use std::{fmt, io};

/// Why a model could not be loaded.
#[derive(Debug)]
#[non_exhaustive]
pub enum ModelError {
    /// A file is missing, or could not be read.
    #[non_exhaustive]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file has something else in it than it should have.
    #[non_exhaustive]
    Damaged {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The model is of a kind that is not known here.
    #[non_exhaustive]
    Unsupported {
        /// Which file says so.
        path: PathBuf,
        /// What is not known.
        what: String,
    },
    /// A part of the weights is missing, or has another shape than the rest of the model asks for.
    #[non_exhaustive]
    Tensor {
        /// The part by its name.
        name: String,
        /// The shape that it should have.
        expected: Vec<usize>,
        /// The shape that it has; `None` where it is missing.
        found: Option<Vec<usize>>,
    },
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, error } => write!(
                f,
                "{}: {error}; a model is a folder with `config.json`, `tokenizer.json` and `model.safetensors`",
                path.display()
            ),
            Self::Damaged { path, reason } => {
                write!(f, "{}: {reason}; fetch the model anew", path.display())
            }
            Self::Unsupported { path, what } => {
                write!(f, "{}: {what}; use a model like all-MiniLM-L6-v2", path.display())
            }
            Self::Tensor { name, expected, found: Some(found) } => {
                write!(f, "the weights `{name}` have the shape {found:?}, and `config.json` asks for {expected:?}")
            }
            Self::Tensor { name, expected, found: None } => {
                write!(f, "the weights `{name}` of the shape {expected:?} are missing in `model.safetensors`")
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
