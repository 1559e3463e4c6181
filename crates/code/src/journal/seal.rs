//! Sealing of journals, so that others can store them.

use std::fmt;

use toolkit_runtime::SealingKey;

use super::Journal;
use crate::failure::CodeError;

/// A key that seals journals, so that others can store them but neither read nor change them.
///
/// # Examples
///
/// ```
/// use toolkit_code::JournalKey;
///
/// assert!(JournalKey::from_secret("d2b0a1c5f4c24b0ab56ee1ab9ab3a3cd").is_some());
/// assert!(JournalKey::from_secret("hunter2").is_none());
/// ```
#[derive(Clone)]
pub struct JournalKey(SealingKey);

impl JournalKey {
    /// Creates a key from a secret, such as the output of `openssl rand -hex 32`. Returns `None` if the secret has fewer
    /// than 32 bytes.
    #[must_use]
    pub fn from_secret(secret: impl AsRef<[u8]>) -> Option<Self> {
        let secret = secret.as_ref();
        (secret.len() >= SealingKey::MIN_SECRET)
            .then(|| Self(SealingKey::derive(b"toolkit-code journal: key\0", secret)))
    }
}

impl Journal {
    /// Encrypts and authenticates the journal, for one purpose such as `user 17`: it is opened for the same one only.
    ///
    /// # Panics
    ///
    /// Panics if the operating system has no random numbers.
    #[must_use]
    pub fn seal(&self, key: &JournalKey, purpose: &str) -> String {
        let json = serde_json::to_vec(self).expect("a journal has no map with other keys than strings");
        let sealed = key.0.seal(&json, purpose.as_bytes());
        sealed.expect("the operating system has random numbers, and the journal is shorter than 256 GiB")
    }

    /// Opens a sealed journal.
    ///
    /// # Errors
    ///
    /// Returns an error if the text was not sealed with this key for this purpose, or was changed.
    pub fn open(sealed: &str, key: &JournalKey, purpose: &str) -> Result<Self, CodeError> {
        let json = key.0.open(sealed, purpose.as_bytes()).ok_or(CodeError::InvalidSeal)?;
        serde_json::from_slice(&json).ok().filter(Self::is_supported).ok_or(CodeError::InvalidSeal)
    }
}

impl fmt::Debug for JournalKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JournalKey")
    }
}
