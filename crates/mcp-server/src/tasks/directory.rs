//! Tasks in a directory.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use toolkit_runtime::{FileAccess, Replacement, read_regular_file, replace_file};

use super::TaskStore;
use super::registry::is_replica;

/// The file that a server locks, so that no other one uses the directory.
const LOCK: &str = ".lock";

/// The end of the name of a record.
const RECORD: &str = ".json";

/// The maximum size of a record.
const MAX_BYTES: u64 = 64 << 20;

/// A store of tasks in a directory, with one file for each task.
///
/// Files are replaced atomically and written to disk before the server answers. On Unix, only the owner can read them.
///
/// # Examples
///
/// ```standalone_crate
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_mcp_server::{Server, TaskDirectory};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = std::env::temp_dir().join(format!("toolkit-mcp-tasks-{}", std::process::id()));
/// let tasks = TaskDirectory::open(&directory)?;
/// assert!(TaskDirectory::open(&directory).is_err());
/// let server = Server::builder(Dispatcher::new(Catalog::linked()?)?).task_store(tasks).build()?;
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TaskDirectory {
    path: PathBuf,
    /// Locked as long as it is open.
    _lock: File,
}

impl TaskDirectory {
    /// Opens a directory, and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory cannot be created or written, another server uses it, or, on Unix, other users
    /// can write to it.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_path_buf();
        create_directory(&path)?;
        check_access(&path)?;
        let mut options = OpenOptions::new();
        let lock = private(options.create(true).truncate(false).write(true)).open(path.join(LOCK))?;
        lock.try_lock().map_err(|error| match error {
            fs::TryLockError::WouldBlock => {
                let message = format!("another server stores its tasks in {}", path.display());
                io::Error::new(io::ErrorKind::WouldBlock, message)
            }
            fs::TryLockError::Error(error) => error,
        })?;
        let directory = Self { path, _lock: lock };
        for name in directory.names()? {
            // Left by a crash. Its earlier record is intact.
            let record = Replacement::target_of(&name).and_then(|target| target.strip_suffix(RECORD));
            if record.is_some_and(is_id) {
                fs::remove_file(directory.path.join(name))?;
            }
        }
        Ok(directory)
    }

    fn file(&self, id: &str) -> PathBuf {
        self.path.join(format!("{id}{RECORD}"))
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(&self.path)?;
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }
}

impl TaskStore for TaskDirectory {
    fn save(&self, id: &str, record: &[u8]) -> io::Result<()> {
        if record.len() as u64 > MAX_BYTES {
            let message = format!("the record has {} bytes, more than the limit of {MAX_BYTES}", record.len());
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        replace_file(&self.file(id), FileAccess::Owner, record)
    }

    fn load(&self, id: &str) -> io::Result<Option<Vec<u8>>> {
        let path = self.file(id);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if is_own_record(&metadata) => read_regular_file(&path, MAX_BYTES).map(Some),
            Ok(_) => {
                tracing::warn!(path = %path.display(), "a record of a task is ignored: this server has not written it");
                Ok(None)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn remove(&self, id: &str) -> io::Result<()> {
        match fs::remove_file(self.file(id)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            outcome => outcome,
        }
    }

    fn ids(&self) -> io::Result<Vec<String>> {
        let names = self.names()?;
        let ids = names.iter().filter_map(|name| name.strip_suffix(RECORD)).filter(|id| is_id(id));
        Ok(ids.map(str::to_owned).collect())
    }
}

/// Returns true for a file as this store writes it: of bounded size, without another name, and on Unix with access of its
/// owner only.
fn is_own_record(metadata: &fs::Metadata) -> bool {
    metadata.is_file() && metadata.len() <= MAX_BYTES && is_private(metadata)
}

#[cfg(unix)]
fn is_private(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    metadata.mode() & 0o077 == 0 && metadata.nlink() == 1
}

#[cfg(not(unix))]
fn is_private(_: &fs::Metadata) -> bool {
    true
}

/// Returns true for the id of a task, so that other files of the directory stay as they are.
fn is_id(text: &str) -> bool {
    let digits = match text.split_once('.') {
        Some((replica, digits)) if is_replica(replica) => digits,
        _ => text,
    };
    digits.len() == 40 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600)
}

#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

#[cfg(unix)]
fn create_directory(path: &Path) -> io::Result<()> {
    std::os::unix::fs::DirBuilderExt::mode(fs::DirBuilder::new().recursive(true), 0o700).create(path)
}

/// Checks that other users cannot add or replace records.
#[cfg(unix)]
fn check_access(path: &Path) -> io::Result<()> {
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path)?.permissions());
    if mode & 0o022 == 0 {
        return Ok(());
    }
    let message = format!("other users can write to {}; remove their permission with `chmod go-w`", path.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

#[cfg(not(unix))]
fn check_access(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn create_directory(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}
