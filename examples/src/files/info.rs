//! Eighth lesson, continued: a result with optional parts.

use cap_std::fs::{FileType, Metadata};
use schemars::JsonSchema;
use serde::Serialize;

use crate::root::RelativePath;

/// Type of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, a pipe or a socket.
    Other,
}

impl From<FileType> for Kind {
    fn from(file_type: FileType) -> Self {
        match file_type {
            file if file.is_file() => Kind::File,
            directory if directory.is_dir() => Kind::Directory,
            link if link.is_symlink() => Kind::Link,
            _ => Kind::Other,
        }
    }
}

/// Metadata of an entry.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileInfo {
    /// The path below the root.
    pub path: String,
    /// The type of the entry.
    pub kind: Kind,
    /// The size of a file, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The time of the last change, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<jiff::Timestamp>,
}

impl FileInfo {
    pub(super) fn new(path: &RelativePath, metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok();
        Self {
            path: path.0.clone(),
            kind: metadata.file_type().into(),
            bytes: metadata.is_file().then(|| metadata.len()),
            modified: modified.and_then(|time| time.into_std().try_into().ok()),
        }
    }
}
