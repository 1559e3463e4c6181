//! Sealing of journals.

use std::fmt;

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};

use super::Journal;

/// The least length of a secret, in bytes.
const MIN_SECRET: usize = 32;

const N_NONCE: usize = 24;

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
pub struct JournalKey(XChaCha20Poly1305);

/// The error of a text that is not a journal sealed with the key, or one of another version of this library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenError(());

impl JournalKey {
    /// Creates a key from a secret, such as the output of `openssl rand -hex 32`. Returns `None` if the secret has fewer
    /// than 32 bytes.
    #[must_use]
    pub fn from_secret(secret: impl AsRef<[u8]>) -> Option<Self> {
        let secret = secret.as_ref();
        let key = Sha256::new().chain_update(b"toolkit-code journal: key\0").chain_update(secret).finalize();
        (secret.len() >= MIN_SECRET).then(|| Self(XChaCha20Poly1305::new(&key)))
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
        let mut nonce = [0; N_NONCE];
        getrandom::fill(&mut nonce).expect("the operating system has random numbers");
        let json = serde_json::to_vec(self).expect("a journal has no map with other keys than strings");
        let payload = Payload { msg: &json, aad: purpose.as_bytes() };
        let sealed = key.0.encrypt(&XNonce::from(nonce), payload).expect("the text is shorter than 256 GiB");
        // It may be large.
        drop(json);
        let mut bytes = nonce.to_vec();
        bytes.extend(sealed);
        BASE64URL_NOPAD.encode(&bytes)
    }

    /// Opens a sealed journal.
    ///
    /// # Errors
    ///
    /// Returns an error if the text was not sealed with this key for this purpose, or was changed.
    pub fn open(sealed: &str, key: &JournalKey, purpose: &str) -> Result<Self, OpenError> {
        let opened = || {
            let bytes = BASE64URL_NOPAD.decode(sealed.as_bytes()).ok()?;
            let (nonce, sealed) = bytes.split_at_checked(N_NONCE)?;
            let nonce: [u8; N_NONCE] = nonce.try_into().ok()?;
            let payload = Payload { msg: sealed, aad: purpose.as_bytes() };
            let json = key.0.decrypt(&XNonce::from(nonce), payload).ok()?;
            serde_json::from_slice(&json).ok()
        };
        opened().filter(Self::is_supported).ok_or(OpenError(()))
    }
}

impl fmt::Debug for JournalKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JournalKey")
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the text is not a journal that was sealed with this key for this purpose")
    }
}

impl std::error::Error for OpenError {}
