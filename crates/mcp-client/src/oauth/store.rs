//! The stores of tokens.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolkit::call::SecretString;
use toolkit::dispatch::BoxFuture;

/// A store of the records of logins.
///
/// A record is text with secrets: the client and its tokens. It belongs to the MCP server whose URL is the key, and
/// contains the authorization server that issued it; it is used for no other server.
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

impl fmt::Debug for TokenLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenLock").finish_non_exhaustive()
    }
}

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

    fn records(&self) -> MutexGuard<'_, HashMap<String, SecretString>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Omits the keys, which are URLs that may contain secrets.
impl fmt::Debug for MemoryTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryTokens").field("n_records", &self.records().len()).finish_non_exhaustive()
    }
}

impl TokenStore for MemoryTokens {
    fn load<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<SecretString>, TokenStoreError>> {
        Box::pin(async { Ok(self.records().get(key).cloned()) })
    }

    fn save<'a>(&'a self, key: &'a str, record: &'a SecretString) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        Box::pin(async {
            self.records().insert(key.to_owned(), record.clone());
            Ok(())
        })
    }

    fn remove<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        Box::pin(async {
            self.records().remove(key);
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
