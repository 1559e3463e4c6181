//! Sixth lesson: state that the host injects.
//!
//! A tool with a `&Root` parameter receives the value that the host passed to the dispatcher; a model can neither
//! choose nor see it. Tools reach files only through its few methods, so the code that confines them is in one file.

mod error;
mod regular_file;

use std::io;
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use schemars::JsonSchema;
use serde::Deserialize;

pub use self::error::RootError;
pub(crate) use self::regular_file::{Contents, is_git_internal};

/// A directory that tools cannot leave, regardless of the links in it.
#[derive(Debug)]
pub struct Root {
    pub(crate) dir: Dir,
    /// The path of the directory, for programs that run in it; never shown to a model.
    pub(crate) path: PathBuf,
    pub(crate) writable: bool,
}

impl Root {
    /// Opens a directory for reading.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is not a directory or cannot be read.
    pub fn read_only(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().canonicalize()?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority())?;
        Ok(Self { dir, path, writable: false })
    }

    /// Opens a directory for reading and writing.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Root::read_only`].
    pub fn writable(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self { writable: true, ..Self::read_only(path)? })
    }

    /// Opens a second handle of the same directory.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { dir: self.dir.try_clone()?, path: self.path.clone(), writable: self.writable })
    }

    /// Resolves the links of a path, and returns the result relative to the root.
    ///
    /// # Errors
    ///
    /// Returns an error if nothing exists at the path, or if it leads outside the root or to an internal file of Git.
    pub(crate) fn resolve(&self, path: &RelativePath) -> Result<PathBuf, RootError> {
        let relative = path.checked()?;
        // A link may lead there under another name.
        let real = self.dir.canonicalize(relative).map_err(|error| RootError::of(path, error))?;
        match is_git_internal(relative) || is_git_internal(&real) {
            true => Err(RootError::GitInternal),
            false => Ok(real),
        }
    }

    /// Reads a file of up to `max_bytes`.
    ///
    /// A file with several names (hard links) is rejected: one of them may be outside the root, and the path does not
    /// show that.
    ///
    /// # Errors
    ///
    /// Returns any [`RootError`] except those of writing.
    pub fn read(&self, path: &RelativePath, max_bytes: u64) -> Result<Vec<u8>, RootError> {
        let real = self.resolve(path)?;
        let contents = Contents::read(&self.dir, &real, max_bytes).map_err(|error| RootError::of(path, error))?;
        match contents {
            None => Err(RootError::NotAFile(path.0.clone())),
            Some(contents) if contents.has_other_names => Err(RootError::HardLink(path.0.clone())),
            Some(contents) if contents.bytes.len() as u64 > max_bytes => {
                Err(RootError::TooLarge { path: path.0.clone(), max_bytes })
            }
            Some(contents) => Ok(contents.bytes),
        }
    }

    /// Reads a text file of up to `max_bytes`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Root::read`], and an error if the file is not text.
    pub fn read_text(&self, path: &RelativePath, max_bytes: u64) -> Result<String, RootError> {
        let bytes = self.read(path, max_bytes)?;
        if bytes.contains(&0) {
            return Err(RootError::Binary(path.0.clone()));
        }
        String::from_utf8(bytes).map_err(|_| RootError::Binary(path.0.clone()))
    }
}

/// A path below the root, with `/` between its parts, such as `src/lib.rs`; `.` is the root itself.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct RelativePath(#[schemars(length(min = 1, max = 1024))] pub String);

impl RelativePath {
    /// The root itself.
    #[must_use]
    pub fn root() -> Self {
        Self(".".to_owned())
    }

    /// Returns the path, unless it could be mistaken for one that leads outside.
    ///
    /// The root would stop such a path in any case. An early error helps a model to correct it.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is absolute or contains `..`, a backslash or a control character.
    pub fn checked(&self) -> Result<&Path, RootError> {
        let path = Path::new(&self.0);
        let has_drive = self.0.as_bytes().get(1) == Some(&b':');
        let inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if self.0.contains(|c: char| c == '\\' || c.is_control()) {
            return Err(RootError::Characters(self.0.clone()));
        }
        if !inside || has_drive || self.0.is_empty() {
            return Err(RootError::Outside(self.0.clone()));
        }
        Ok(path)
    }
}
