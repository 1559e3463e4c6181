//! Locks on files beside the database, which show that workers live, and their times, which show that they work.
//!
//! The lock ends with the process. A worker that is stopped keeps its lock, and the time of its file no longer changes.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The lock of a worker. Dropping it removes the file.
pub(super) struct Presence {
    file: File,
    path: PathBuf,
}

/// The sign that a worker gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// Its process has ended.
    Dead,
    /// Its process lives, and gave a sign at this time.
    Alive(SystemTime),
}

impl Presence {
    /// Takes the lock of a worker. No other process knows its id yet.
    pub(super) fn hold(database: &Path, worker: &str) -> io::Result<Self> {
        let path = path(database, worker);
        let mut folder = DirBuilder::new();
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        {
            use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

            folder.mode(0o700);
            options.mode(0o600);
        }
        folder.recursive(true).create(path.parent().unwrap_or(Path::new(".")))?;
        let file = options.open(&path)?;
        file.try_lock()?;
        Ok(Self { file, path })
    }

    /// Gives a sign.
    pub(super) fn beat(&self) -> io::Result<()> {
        self.file.set_modified(SystemTime::now())
    }

    /// Returns false if the file was removed.
    pub(super) fn exists(&self) -> bool {
        self.path.exists()
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns the sign of a worker.
pub(super) fn look(database: &Path, worker: &str) -> io::Result<Sign> {
    let file = match File::open(path(database, worker)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Sign::Dead),
        Err(error) => return Err(error),
    };
    // Shared, since others may look at the same time.
    match file.try_lock_shared() {
        Ok(()) => Ok(Sign::Dead),
        Err(TryLockError::WouldBlock) => Ok(Sign::Alive(file.metadata()?.modified()?)),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Removes the file of a dead worker.
pub(super) fn remove(database: &Path, worker: &str) {
    let _ = fs::remove_file(path(database, worker));
}

fn path(database: &Path, worker: &str) -> PathBuf {
    let mut folder = database.as_os_str().to_owned();
    folder.push("-workers");
    PathBuf::from(folder).join(worker.replace('/', "-"))
}
