//! Keys that seal the state of a call for its client.

use std::fmt;

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use sha2::{Digest, Sha256};

/// The version of the format.
const VERSION: &str = "v1";

/// The least length of a secret, in bytes.
const MIN_SECRET: usize = 32;

/// The maximum length of sealed text, in bytes.
const MAX_SEALED: usize = 512 << 10;

/// The maximum length of a state in bytes, which leaves space for its nonce and its tag in base64.
pub(super) const MAX_STATE: usize = 380 << 10;

const N_NONCE: usize = 24;

/// A key that seals the state of a call while its client asks the user; see
/// [`ServerBuilder::state_keys`](crate::server::ServerBuilder::state_keys).
///
/// # Examples
///
/// ```
/// use toolkit_mcp::server::StateKey;
///
/// let key = StateKey::from_secret("d2b0a1c5f4c24b0ab56ee1ab9ab3a3cd")?;
/// assert!(StateKey::from_secret("hunter2").is_err());
/// # Ok::<(), toolkit_mcp::server::WeakKeyError>(())
/// ```
#[derive(Clone)]
pub struct StateKey {
    /// Selects the key of a sealed text.
    id: String,
    cipher: XChaCha20Poly1305,
}

/// The error of a secret that is too short for a [`StateKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeakKeyError {
    n_bytes: usize,
}

impl StateKey {
    /// Creates a key from a secret, such as the output of `openssl rand -hex 32`.
    ///
    /// # Errors
    ///
    /// Returns an error if the secret has fewer than 32 bytes.
    pub fn from_secret(secret: impl AsRef<[u8]>) -> Result<Self, WeakKeyError> {
        let secret = secret.as_ref();
        if secret.len() < MIN_SECRET {
            return Err(WeakKeyError { n_bytes: secret.len() });
        }
        Ok(Self::derive(secret))
    }

    /// Creates a random key, for the time of this process.
    pub(super) fn random() -> Result<Self, getrandom::Error> {
        let mut secret = [0; MIN_SECRET];
        getrandom::fill(&mut secret)?;
        Ok(Self::derive(&secret))
    }

    fn derive(secret: &[u8]) -> Self {
        let hash = |purpose: &[u8]| Sha256::new().chain_update(purpose).chain_update(secret).finalize();
        let id = HEXLOWER.encode(&hash(b"toolkit-mcp request state: key id\0")[..4]);
        Self { id, cipher: XChaCha20Poly1305::new(&hash(b"toolkit-mcp request state: key\0")) }
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl fmt::Display for WeakKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a state key needs a secret of at least {MIN_SECRET} bytes, got {}", self.n_bytes)
    }
}

impl std::error::Error for WeakKeyError {}

/// The keys of a server: the first one seals, and all of them open.
#[derive(Clone, Debug)]
pub(in crate::server) struct Keys(Vec<StateKey>);

impl Keys {
    /// Creates the keys, or a random one if there are none.
    ///
    /// Without a key and a source of random numbers, no state can be sealed.
    pub(in crate::server) fn new(keys: Vec<StateKey>) -> Self {
        Self(if keys.is_empty() { StateKey::random().into_iter().collect() } else { keys })
    }

    /// Encrypts and authenticates `content`, bound to `context`. Returns `None` if it is too long.
    pub(super) fn seal(&self, content: &[u8], context: &[u8]) -> Option<String> {
        let key = self.0.first()?;
        let mut nonce = [0; N_NONCE];
        getrandom::fill(&mut nonce).ok()?;
        let payload = Payload { msg: content, aad: context };
        let sealed = key.cipher.encrypt(&XNonce::from(nonce), payload).ok()?;
        let text = format!("{VERSION}.{}.{}", key.id, BASE64URL_NOPAD.encode(&[&nonce[..], &sealed].concat()));
        (text.len() <= MAX_SEALED).then_some(text)
    }

    /// Returns the content of a sealed text, if one of the keys has sealed it for this context.
    pub(super) fn open(&self, text: &str, context: &[u8]) -> Option<Vec<u8>> {
        if text.len() > MAX_SEALED {
            return None;
        }
        let (id, sealed) = text.strip_prefix(VERSION)?.strip_prefix('.')?.split_once('.')?;
        let bytes = BASE64URL_NOPAD.decode(sealed.as_bytes()).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<N_NONCE>()?;
        let payload = || Payload { msg: sealed, aad: context };
        let keys = self.0.iter().filter(|key| key.id == id);
        keys.into_iter().find_map(|key| key.cipher.decrypt(&XNonce::from(*nonce), payload()).ok())
    }
}
