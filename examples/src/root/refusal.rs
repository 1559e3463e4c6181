//! Sixth lesson, continued: what a model is told, and what only the host is.

use std::fmt;
use std::io;

use toolkit::ToolError;

use super::RelativePath;

/// Why the root refuses.
#[derive(Debug)]
pub enum Refusal {
    /// The path leads outside.
    Outside(String),
    /// The path has characters that no path here has.
    Characters(String),
    /// Nothing is there.
    NotFound(String),
    /// It is a directory, or neither file nor directory.
    NotAFile(String),
    /// It is no directory.
    NotADirectory(String),
    /// It is no text.
    Binary(String),
    /// It is longer than may be read.
    TooLarge {
        /// The path.
        path: String,
        /// What may be read.
        max_bytes: u64,
    },
    /// The host allows no writing, or not there.
    NotWritable(&'static str),
    /// It is there already.
    Exists(String),
    /// Git keeps it for itself.
    GitInternal,
    /// The file has another name, which may stand outside the root.
    HardLink(String),
    /// What nobody expected.
    Io(io::Error),
}

impl Refusal {
    pub(crate) fn of(path: &RelativePath, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound(path.0.clone()),
            io::ErrorKind::NotADirectory => Self::NotADirectory(path.0.clone()),
            io::ErrorKind::IsADirectory => Self::NotAFile(path.0.clone()),
            io::ErrorKind::InvalidFilename => Self::Characters(path.0.clone()),
            // Permission is also what is missing where a link leads outside.
            io::ErrorKind::PermissionDenied => Self::Outside(path.0.clone()),
            _ => Self::Io(error),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside(path) => write!(
                f,
                "`{}` may not be reached; write a path below the root, such as `src/lib.rs`, without `..`",
                shown(path)
            ),
            Self::Characters(path) => write!(
                f,
                "`{}` is no path here; put `/` between its parts, keep each below 256 bytes, and use no control \
                 characters",
                shown(path)
            ),
            Self::NotFound(path) => {
                write!(f, "`{path}` does not exist; `list_files` shows what does")
            }
            Self::NotAFile(path) => write!(f, "`{path}` is not a file; `list_files` shows what is in a directory"),
            Self::NotADirectory(path) => {
                write!(f, "`{path}` is not a directory, or passes through a file")
            }
            Self::Binary(path) => write!(f, "`{path}` is not text in UTF-8; `stat_file` tells its size"),
            Self::TooLarge { path, max_bytes } => {
                write!(f, "`{path}` has more than the {max_bytes} bytes that may be read")
            }
            Self::NotWritable(reason) => f.write_str(reason),
            Self::GitInternal => {
                f.write_str("what Git keeps in `.git` is not read or written here; `git_log` shows the history")
            }
            Self::HardLink(path) => {
                write!(
                    f,
                    "`{path}` is a hard link: the file has another name, which may lie outside the root; copy it to read it"
                )
            }
            Self::Exists(path) => write!(f, "`{path}` exists; set `overwrite` to replace it"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for ToolError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Io(error) => ToolError::internal(error),
            refusal => ToolError::failed(refusal.to_string()),
        }
    }
}

/// A path that is repeated to the caller, short and on one line.
fn shown(path: &str) -> String {
    path.chars().take(80).collect::<String>().escape_debug().to_string()
}
