//! The stores of tokens: in memory, and in files.

use std::collections::HashMap;
use std::fs::{self, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep};
use toolkit::call::SecretString;
use toolkit::dispatch::BoxFuture;
use toolkit_runtime::{FileAccess, Mutex, Replacement, read_bounded, replace_file};

use super::private_files::{check_directory, check_readers, create_directory, open};

/// A store of the records of logins.
///
/// A record is text with secrets: the client and its tokens. It belongs to the MCP server whose URL is the key, and
/// contains the authorization server that issued it; it is used for no other server.
///
/// The methods are asynchronous, since a lock waits for the renewal of another process, during which the call that needs the
/// token may be cancelled. A store of tasks waits for nothing but its disk, so that its methods block.
///
/// # Examples
///
/// A store in the keyring of the platform implements the methods with a crate such as `keyring`:
///
/// ```
/// use toolkit::call::SecretString;
/// use toolkit::dispatch::BoxFuture;
/// use toolkit_mcp_client::{OAuth, TokenStore, TokenStoreError};
///
/// struct Keyring;
///
/// impl TokenStore for Keyring {
///     fn load<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<SecretString>, TokenStoreError>> {
///         Box::pin(async move { Err(TokenStoreError::new(format!("the keyring is locked: {key}"))) })
///     }
///     fn save<'a>(&'a self, _: &'a str, _: &'a SecretString) -> BoxFuture<'a, Result<(), TokenStoreError>> {
///         Box::pin(async { Ok(()) })
///     }
///     fn remove<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), TokenStoreError>> {
///         Box::pin(async { Ok(()) })
///     }
/// }
///
/// let settings = OAuth::new().store(Keyring);
/// # drop(settings);
/// ```
pub trait TokenStore: Send + Sync {
    /// Returns the record of a server.
    fn load<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<SecretString>, TokenStoreError>>;

    /// Replaces the record of a server. A reader sees the old record or the new one, also if the process is killed.
    fn save<'a>(&'a self, key: &'a str, record: &'a SecretString) -> BoxFuture<'a, Result<(), TokenStoreError>>;

    /// Removes the record of a server, if there is one.
    fn remove<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), TokenStoreError>>;

    /// Waits until no other process changes the record of a server, and keeps others from it until the lock is dropped.
    /// A refresh token is often valid once, so two processes must not use it.
    ///
    /// By default, there is no lock, for stores that belong to one process.
    fn lock<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<TokenLock, TokenStoreError>> {
        let _ = key;
        Box::pin(async { Ok(TokenLock::new(())) })
    }
}

impl<S: TokenStore + ?Sized> TokenStore for Arc<S> {
    fn load<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<SecretString>, TokenStoreError>> {
        (**self).load(key)
    }

    fn save<'a>(&'a self, key: &'a str, record: &'a SecretString) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        (**self).save(key, record)
    }

    fn remove<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        (**self).remove(key)
    }

    fn lock<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<TokenLock, TokenStoreError>> {
        (**self).lock(key)
    }
}

/// A lock of [`TokenStore::lock`], which is released on drop.
///
/// # Examples
///
/// ```
/// use toolkit_mcp_client::TokenLock;
///
/// let file = tempfile();
/// let lock = TokenLock::new(file); // closed, and unlocked, on drop
/// # drop(lock);
/// # fn tempfile() {}
/// ```
pub struct TokenLock {
    _guard: Box<dyn Send>,
}

impl TokenLock {
    /// Creates a lock that owns a guard.
    #[must_use]
    pub fn new(guard: impl Send + 'static) -> Self {
        Self { _guard: Box::new(guard) }
    }
}

toolkit::debug_fields!(TokenLock {});

/// A store in memory, until the program ends. Clones share the records.
///
/// # Examples
///
/// ```
/// use toolkit_mcp_client::{MemoryTokens, TokenStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toolkit_mcp_client::TokenStoreError> {
/// let tokens = MemoryTokens::new();
/// tokens.save("https://example.com/mcp", &"s3cr3t".into()).await?;
/// assert!(tokens.load("https://example.com/mcp").await?.is_some());
/// assert_eq!(format!("{tokens:?}"), "MemoryTokens { n_records: 1, .. }");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct MemoryTokens(Arc<Mutex<HashMap<String, SecretString>>>);

impl MemoryTokens {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

// Omits the keys, which are URLs that may contain secrets.
toolkit::debug_fields!(it, MemoryTokens { n_records: it.0.lock().len() });

impl TokenStore for MemoryTokens {
    fn load<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<SecretString>, TokenStoreError>> {
        Box::pin(async { Ok(self.0.lock().get(key).cloned()) })
    }

    fn save<'a>(&'a self, key: &'a str, record: &'a SecretString) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        Box::pin(async {
            self.0.lock().insert(key.to_owned(), record.clone());
            Ok(())
        })
    }

    fn remove<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        Box::pin(async {
            self.0.lock().remove(key);
            Ok(())
        })
    }
}

/// The error of a [`TokenStore`].
///
/// # Examples
///
/// ```
/// use toolkit_mcp_client::TokenStoreError;
///
/// let error = TokenStoreError::new("the keyring is locked");
/// assert_eq!(error.to_string(), "the keyring is locked");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenStoreError {
    message: String,
    is_temporary: bool,
}

impl TokenStoreError {
    /// Creates the error of a store that cannot be used at the moment, so that calls fail with a retryable error. The
    /// message must not contain a record.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_temporary: true }
    }

    /// Creates the error of a record that must not be used, so that calls require a login.
    pub(super) fn invalid_record(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_temporary: false }
    }

    pub(super) fn is_temporary(&self) -> bool {
        self.is_temporary
    }
}

impl fmt::Display for TokenStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TokenStoreError {}

/// The maximum size of a record in bytes.
const MAX_BYTES: u64 = 256 << 10;

/// The interval at which a lock is tried.
const LOCK_INTERVAL: Duration = Duration::from_millis(50);

/// The maximum time to wait for a lock. A renewal takes less.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// A store in a directory, with one file for each server.
///
/// On Unix, only the user can read the directory (mode 0700) and its files (0600). A directory to which others can write,
/// a file that others can read, and one of another user are errors. The records are not encrypted: a key beside them would protect from nothing, and the keyrings of Linux need a
/// session bus, which servers and containers do not have. [`TokenStore`] is the interface for other stores.
///
/// A record is written to a temporary file, which then takes the place of the old one. Processes that share the directory
/// renew tokens one after another.
///
/// # Examples
///
/// ```
/// use toolkit_mcp_client::{FileTokens, OAuth};
///
/// let settings = OAuth::new().store(FileTokens::new("/home/ada/.local/state/my-tools/tokens"));
/// # drop(settings);
/// ```
#[derive(Clone, Debug)]
pub struct FileTokens {
    directory: PathBuf,
}

impl FileTokens {
    /// Creates a store. The directory is created with the first record. Its path should be absolute: a program that runs
    /// in a directory of another user would use the tokens there.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Returns the path of a file for a server.
    fn path(&self, key: &str, extension: &str) -> PathBuf {
        self.directory.join(format!("{}.{extension}", stem(key)))
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> Result<T, TokenStoreError> {
        let done = tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)));
        let directory = self.directory.display();
        done.map_err(|error| {
            let message = format!("the tokens in `{directory}` cannot be used: {error}");
            // An error of the platform, such as a full disk, may pass. Other errors are those of the checks.
            match error.raw_os_error() {
                Some(_) => TokenStoreError::new(message),
                None => TokenStoreError::invalid_record(message),
            }
        })
    }
}

impl TokenStore for FileTokens {
    fn load<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<SecretString>, TokenStoreError>> {
        let (directory, path) = (self.directory.clone(), self.path(key, "json"));
        Box::pin(self.blocking(move || match check_directory(&directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            checked => checked.and_then(|()| read(&path)),
        }))
    }

    fn save<'a>(&'a self, key: &'a str, record: &'a SecretString) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        let (directory, path, record) = (self.directory.clone(), self.path(key, "json"), record.clone());
        Box::pin(self.blocking(move || {
            create_directory(&directory)?;
            replace_file(&path, FileAccess::Owner, record.expose().as_bytes())
        }))
    }

    fn remove<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        let (directory, stem) = (self.directory.clone(), stem(key));
        Box::pin(self.blocking(move || remove(&directory, &stem)))
    }

    fn lock<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<TokenLock, TokenStoreError>> {
        let (directory, path) = (self.directory.clone(), self.path(key, "lock"));
        Box::pin(async move {
            let file = self
                .blocking(move || {
                    create_directory(&directory)?;
                    open(&path, OpenOptions::new().create(true).truncate(false).write(true))
                })
                .await?;
            let deadline = Instant::now() + LOCK_TIMEOUT;
            loop {
                match file.try_lock() {
                    Ok(()) => return Ok(TokenLock::new(file)),
                    Err(TryLockError::WouldBlock) if Instant::now() < deadline => sleep(LOCK_INTERVAL).await,
                    Err(TryLockError::WouldBlock) => {
                        return Err(TokenStoreError::new("another process has locked the tokens for 30 s"));
                    }
                    Err(TryLockError::Error(error)) => {
                        return Err(TokenStoreError::new(format!("the tokens cannot be locked: {error}")));
                    }
                }
            }
        })
    }
}

/// Returns the name of the files for a server, without extension: a hash, since URLs may contain secrets.
fn stem(key: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(key)[..16])
}

fn read(path: &Path) -> io::Result<Option<SecretString>> {
    let file = match open(path, OpenOptions::new().read(true)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    check_readers(&file)?;
    let record = String::from_utf8(read_bounded(file, MAX_BYTES)?);
    record
        .map(|record| Some(record.into()))
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

/// Removes the record of a server, and what processes have left that were killed while they wrote one. The lock stays,
/// since others may wait for it.
fn remove(directory: &Path, stem: &str) -> io::Result<()> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if Replacement::target_of(&name).unwrap_or(&name) == format!("{stem}.json") {
            match fs::remove_file(entry.path()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}
