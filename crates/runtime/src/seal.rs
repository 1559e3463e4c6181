//! Sealing: texts that others store but neither read nor change.

use std::fmt;

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};

const N_NONCE: usize = 24;

/// A key that encrypts and authenticates texts with XChaCha20-Poly1305.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::SealingKey;
///
/// let key = SealingKey::derive(b"my-program state\0", b"d2b0a1c5f4c24b0ab56ee1ab9ab3a3cd");
/// let sealed = key.seal(b"42", b"user 17")?;
/// assert_eq!(key.open(&sealed, b"user 17").as_deref(), Some(&b"42"[..]));
/// assert_eq!(key.open(&sealed, b"user 18"), None);
/// # Ok::<(), toolkit_runtime::SealError>(())
/// ```
#[derive(Clone)]
pub struct SealingKey(XChaCha20Poly1305);

/// The error of a content that cannot be sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealError(&'static str);

impl SealingKey {
    /// The least length of a secret, in bytes. Callers reject shorter ones.
    pub const MIN_SECRET: usize = 32;

    /// Derives a key from a secret, such as the output of `openssl rand -hex 32`. Keys for different purposes differ,
    /// also if they are derived from one secret.
    pub fn derive(purpose: &[u8], secret: &[u8]) -> Self {
        let key = Sha256::new().chain_update(purpose).chain_update(secret).finalize();
        Self(XChaCha20Poly1305::new(&key))
    }

    /// Encrypts and authenticates `content`. It is opened for the same context only.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system has no random numbers, or the content is longer than 256 GiB.
    pub fn seal(&self, content: &[u8], context: &[u8]) -> Result<String, SealError> {
        let mut nonce = [0; N_NONCE];
        getrandom::fill(&mut nonce).map_err(|_| SealError("the operating system has no random numbers"))?;
        let payload = Payload { msg: content, aad: context };
        let sealed = self.0.encrypt(&XNonce::from(nonce), payload).map_err(|_| SealError("the content is too long"))?;
        Ok(BASE64URL_NOPAD.encode(&[&nonce[..], &sealed].concat()))
    }

    /// Returns the content of a text that was sealed with this key for this context, or `None` for any other text.
    pub fn open(&self, sealed: &str, context: &[u8]) -> Option<Vec<u8>> {
        let bytes = BASE64URL_NOPAD.decode(sealed.as_bytes()).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<N_NONCE>()?;
        self.0.decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: context }).ok()
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealingKey")
    }
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for SealError {}
