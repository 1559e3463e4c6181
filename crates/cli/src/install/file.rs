//! Reading a configuration file, and replacing it as a whole.

use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use toolkit_runtime::{FileAccess, Replacement, read_regular_file};

/// The size above which a file is not a configuration.
const MAX_BYTES: u64 = 16 << 20;
/// The number of backups of one file.
const MAX_BACKUPS: usize = 1_000;

/// A configuration file, as it was read.
pub(super) struct ConfigFile {
    /// The path, for readers.
    pub(super) path: PathBuf,
    /// The file itself, which differs from the path if that is a link.
    target: PathBuf,
    /// The text and the metadata; `None` if the file does not exist.
    present: Option<(String, Metadata)>,
}

impl ConfigFile {
    /// Reads a file, which may be absent.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is a link to nothing, not a file, or not text.
    pub(super) fn read(path: PathBuf) -> Result<Self, String> {
        let error = |reason: &dyn std::fmt::Display| format!("{}: {reason}", path.display());
        let is_link = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata.is_symlink(),
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { target: path.clone(), path, present: None });
            }
            Err(other) => return Err(error(&other)),
        };
        let target = match fs::canonicalize(&path) {
            Ok(target) => target,
            Err(missing) if is_link && missing.kind() == io::ErrorKind::NotFound => {
                return Err(error(&"the link leads to a file that does not exist"));
            }
            Err(other) => return Err(error(&other)),
        };
        let metadata = fs::metadata(&target).map_err(|other| error(&other))?;
        let bytes = read_regular_file(&target, MAX_BYTES).map_err(|other| error(&other))?;
        let text = String::from_utf8(bytes).map_err(|_| error(&"not UTF-8 text"))?;
        Ok(Self { path, target, present: Some((text, metadata)) })
    }

    /// Returns the text, which is empty for an absent file.
    pub(super) fn text(&self) -> &str {
        self.present.as_ref().map_or("", |(text, _)| text)
    }

    /// Returns an error if the file may not be replaced.
    pub(super) fn check_writable(&self) -> Result<(), String> {
        match &self.present {
            Some((_, metadata)) if metadata.permissions().readonly() => {
                Err(format!("{}: the file is read-only", self.path.display()))
            }
            _ => Ok(()),
        }
    }

    /// Replaces the file, after a backup, and returns the path of the backup. Readers see the old text or the new one.
    ///
    /// # Errors
    ///
    /// Returns an error if the file has changed since it was read, or cannot be replaced.
    pub(super) fn replace(&self, text: &str, is_private: bool) -> Result<Option<PathBuf>, String> {
        self.check_writable()?;
        let error = |reason: &dyn std::fmt::Display| format!("{}: {reason}", self.path.display());
        let directory = self.target.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(directory).map_err(|other| error(&other))?;
        let access = match &self.present {
            Some((_, metadata)) => FileAccess::Like(metadata),
            None if is_private => FileAccess::Owner,
            None => FileAccess::Default,
        };
        let replacement = Replacement::create(&self.target, access).map_err(|other| error(&other))?;
        replacement.file().write_all(text.as_bytes()).map_err(|other| error(&other))?;
        // Other runs of this command wait here, and then find a file that has changed.
        #[cfg(unix)]
        let locked = fs::File::open(directory).map_err(|other| error(&other))?;
        #[cfg(unix)]
        locked.lock().map_err(|other| error(&other))?;
        let backup = match &self.present {
            Some(_) => Some(self.back_up()?),
            None => None,
        };
        // As late as possible, since another program may write it at any time.
        if !self.is_unchanged() {
            return Err(error(&"the file was changed by another program; run the command again"));
        }
        let committed = match self.present {
            Some(_) => replacement.commit(),
            None => replacement.commit_new(),
        };
        committed.map_err(|other| error(&other))?;
        Ok(backup)
    }

    /// Copies the file beside itself, with its permissions.
    fn back_up(&self) -> Result<PathBuf, String> {
        let error = |reason: &dyn std::fmt::Display| format!("{}: cannot make a backup: {reason}", self.path.display());
        let name = self.target.file_name().unwrap_or_default().to_string_lossy();
        let backups = (1..=MAX_BACKUPS).map(|nth| self.target.with_file_name(format!("{name}.{nth}.bak")));
        for backup in backups {
            // A copy with the same text need not be repeated.
            if fs::read(&backup).is_ok_and(|kept| kept == self.text().as_bytes()) {
                return Ok(backup);
            }
            if fs::symlink_metadata(&backup).is_err() {
                fs::copy(&self.target, &backup).map_err(|other| error(&other))?;
                return Ok(backup);
            }
        }
        Err(error(&format!("there are {MAX_BACKUPS} of them")))
    }

    fn is_unchanged(&self) -> bool {
        match &self.present {
            Some((text, _)) => fs::read(&self.target).is_ok_and(|now| now == text.as_bytes()),
            None => fs::symlink_metadata(&self.target).is_err(),
        }
    }
}
