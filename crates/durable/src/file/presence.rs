//! The locks that show which workers of a file live.
//!
//! The locks are on files beside the database. A lock ends with its process. A worker that is stopped keeps its lock, and the
//! time of its file no longer changes.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;

use crate::store::Sign;

/// The lock of a worker. Dropping it removes the file.
pub(super) struct Presence {
    file: File,
    path: PathBuf,
}

impl Presence {
    /// Takes the lock of a worker. No other process knows its id yet.
    pub(super) fn hold(database: &Path, worker: &str) -> io::Result<Self> {
        let path = file_of(database, worker);
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

/// Returns the sign of a worker. Removes the file of one that has ended.
pub(super) fn sign_of(database: &Path, worker: &str) -> io::Result<Sign> {
    let path = file_of(database, worker);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Sign::Ended),
        Err(error) => return Err(error),
    };
    // Shared, since others may look at the same time.
    match file.try_lock_shared() {
        Ok(()) => {
            let _ = fs::remove_file(&path);
            Ok(Sign::Ended)
        }
        Err(TryLockError::WouldBlock) => {
            let time = file.metadata()?.modified()?;
            let beat = Timestamp::try_from(time).unwrap_or_default().as_microsecond();
            Ok(Sign::Beat { beat, age: time.elapsed().unwrap_or_default() })
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn file_of(database: &Path, worker: &str) -> PathBuf {
    let mut folder = database.as_os_str().to_owned();
    folder.push("-workers");
    PathBuf::from(folder).join(worker.replace('/', "-"))
}
