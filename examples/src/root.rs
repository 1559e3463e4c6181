//! Sixth lesson: state, which the host lends.
//!
//! A tool that takes `&Root` gets the one that the host gave to the dispatcher; a model can neither choose it nor see
//! where it is. All that a tool may reach goes through its few methods, so what keeps it inside stands in one file.

mod refusal;
mod regular_file;

use std::io;
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use schemars::JsonSchema;
use serde::Deserialize;

pub use self::refusal::Refusal;
pub(crate) use self::regular_file::{Contents, is_git_internal};

/// A directory that tools cannot leave, whatever links stand in it.
#[derive(Debug)]
pub struct Root {
    pub(crate) dir: Dir,
    /// Where it is, for programs that are started in it; never shown to a model.
    pub(crate) path: PathBuf,
    pub(crate) writable: bool,
}

impl Root {
    /// Opens a directory for reading.
    ///
    /// # Errors
    ///
    /// It is no directory, or may not be read.
    pub fn read_only(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().canonicalize()?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority())?;
        Ok(Self { dir, path, writable: false })
    }

    /// Opens a directory for reading and writing.
    ///
    /// # Errors
    ///
    /// As for [`Root::read_only`].
    pub fn writable(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self { writable: true, ..Self::read_only(path)? })
    }

    /// A second handle of the same directory.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { dir: self.dir.try_clone()?, path: self.path.clone(), writable: self.writable })
    }

    /// Returns where a path leads, from the root, once links are followed.
    ///
    /// # Errors
    ///
    /// Nothing is there, it lies outside the root, or it is one of Git's own files.
    pub(crate) fn resolve(&self, path: &RelativePath) -> Result<PathBuf, Refusal> {
        let relative = path.checked()?;
        // A link may lead there under another name.
        let real = self.dir.canonicalize(relative).map_err(|error| Refusal::of(path, error))?;
        match is_git_internal(relative) || is_git_internal(&real) {
            true => Err(Refusal::GitInternal),
            false => Ok(real),
        }
    }

    /// Reads a file of at most `max_bytes`.
    ///
    /// A file with more than one name (a hard link) is refused: one of them may stand outside the root, and no look at
    /// the path could tell.
    ///
    /// # Errors
    ///
    /// Every [`Refusal`] but those for writing.
    pub fn read(&self, path: &RelativePath, max_bytes: u64) -> Result<Vec<u8>, Refusal> {
        let real = self.resolve(path)?;
        let contents = Contents::read(&self.dir, &real, max_bytes).map_err(|error| Refusal::of(path, error))?;
        match contents {
            None => Err(Refusal::NotAFile(path.0.clone())),
            Some(contents) if contents.has_other_names => Err(Refusal::HardLink(path.0.clone())),
            Some(contents) if contents.bytes.len() as u64 > max_bytes => {
                Err(Refusal::TooLarge { path: path.0.clone(), max_bytes })
            }
            Some(contents) => Ok(contents.bytes),
        }
    }

    /// Reads a text file of at most `max_bytes`.
    ///
    /// # Errors
    ///
    /// As for [`Root::read`]; and the file is no text.
    pub fn read_text(&self, path: &RelativePath, max_bytes: u64) -> Result<String, Refusal> {
        let bytes = self.read(path, max_bytes)?;
        if bytes.contains(&0) {
            return Err(Refusal::Binary(path.0.clone()));
        }
        String::from_utf8(bytes).map_err(|_| Refusal::Binary(path.0.clone()))
    }
}

/// A path below the root, with `/` between its parts, as in `src/lib.rs`; `.` is the root itself.
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

    /// The path, if it could not be mistaken for one that leads outside.
    ///
    /// The root would stop it in any case; a model that is told so early does better next time.
    ///
    /// # Errors
    ///
    /// It is absolute, has a `..`, a backslash or a control character.
    pub fn checked(&self) -> Result<&Path, Refusal> {
        let path = Path::new(&self.0);
        let has_drive = self.0.as_bytes().get(1) == Some(&b':');
        let inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if self.0.contains(|c: char| c == '\\' || c.is_control()) {
            return Err(Refusal::Characters(self.0.clone()));
        }
        if !inside || has_drive || self.0.is_empty() {
            return Err(Refusal::Outside(self.0.clone()));
        }
        Ok(path)
    }
}
