//! Sixth lesson, continued: separating the text for a model from the text for the host.

use std::fmt;
use std::io;

use toolkit::ToolError;

use super::RelativePath;

/// Error of an access below the root.
#[derive(Debug)]
pub enum RootError {
    /// The path leads outside.
    Outside(String),
    /// The path contains characters that are not allowed.
    Characters(String),
    /// Nothing exists at the path.
    NotFound(String),
    /// The path is a directory, or a special file.
    NotAFile(String),
    /// The path is not a directory.
    NotADirectory(String),
    /// The file is not text.
    Binary(String),
    /// The file is larger than the limit.
    TooLarge {
        /// The path.
        path: String,
        /// The limit, in bytes.
        max_bytes: u64,
    },
    /// The host does not permit writing, or not at this path.
    NotWritable(&'static str),
    /// The file already exists.
    Exists(String),
    /// The path belongs to Git's internal files.
    GitInternal,
    /// The file has another name, which may be outside the root.
    HardLink(String),
    /// An unexpected error of the operating system.
    Io(io::Error),
}

impl RootError {
    pub(crate) fn of(path: &RelativePath, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound(path.0.clone()),
            io::ErrorKind::NotADirectory => Self::NotADirectory(path.0.clone()),
            io::ErrorKind::IsADirectory => Self::NotAFile(path.0.clone()),
            io::ErrorKind::InvalidFilename => Self::Characters(path.0.clone()),
            // Permission is also denied where a link leads outside.
            io::ErrorKind::PermissionDenied => Self::Outside(path.0.clone()),
            _ => Self::Io(error),
        }
    }
}

impl fmt::Display for RootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside(path) => write!(
                f,
                "`{}` is outside the root; write a path below the root, such as `src/lib.rs`, without `..`",
                shown(path)
            ),
            Self::Characters(path) => write!(
                f,
                "`{}` is not a valid path; put `/` between its parts, keep each below 256 bytes, and use no control \
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
            Self::Binary(path) => write!(f, "`{path}` is not text in UTF-8; `stat_file` returns its size"),
            Self::TooLarge { path, max_bytes } => {
                write!(f, "`{path}` is larger than the limit of {max_bytes} bytes")
            }
            Self::NotWritable(reason) => f.write_str(reason),
            Self::GitInternal => f.write_str("files in `.git` cannot be read or written; `git_log` shows the history"),
            Self::HardLink(path) => {
                write!(
                    f,
                    "`{path}` is a hard link: the file has another name, which may be outside the root; copy it to read it"
                )
            }
            Self::Exists(path) => write!(f, "`{path}` exists; set `overwrite` to replace it"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RootError {}

impl From<RootError> for ToolError {
    fn from(error: RootError) -> Self {
        match error {
            RootError::Io(error) => ToolError::internal(error),
            error => ToolError::failed(error.to_string()),
        }
    }
}

/// Escapes a path from the caller and shortens it to one line.
fn shown(path: &str) -> String {
    path.chars().take(80).collect::<String>().escape_debug().to_string()
}
