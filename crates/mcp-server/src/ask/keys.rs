//! The keys that seal the state of a call for its client.

use std::fmt;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use toolkit_runtime::SealingKey;

/// The version of the format.
const VERSION: &str = "v1";

/// The maximum length of sealed text, in bytes.
const MAX_SEALED: usize = 512 << 10;

/// A key that seals the state of a call while its client asks the user; see
/// [`ServerBuilder::state_keys`](crate::ServerBuilder::state_keys).
///
/// # Examples
///
/// ```
/// use toolkit_mcp_server::StateKey;
///
/// let key = StateKey::from_secret("d2b0a1c5f4c24b0ab56ee1ab9ab3a3cd")?;
/// assert!(StateKey::from_secret("hunter2").is_err());
/// # Ok::<(), toolkit_mcp_server::WeakKeyError>(())
/// ```
#[derive(Clone)]
pub struct StateKey {
    /// Selects the key of a sealed text.
    id: String,
    key: SealingKey,
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
        if secret.len() < SealingKey::MIN_SECRET {
            return Err(WeakKeyError { n_bytes: secret.len() });
        }
        Ok(Self::derive(secret))
    }

    /// Creates a random key, for the time of this process.
    pub(super) fn random() -> Result<Self, getrandom::Error> {
        let mut secret = [0; SealingKey::MIN_SECRET];
        getrandom::fill(&mut secret)?;
        Ok(Self::derive(&secret))
    }

    fn derive(secret: &[u8]) -> Self {
        let id = Sha256::new().chain_update(b"toolkit-mcp request state: key id\0").chain_update(secret).finalize();
        let key = SealingKey::derive(b"toolkit-mcp request state: key\0", secret);
        Self { id: HEXLOWER.encode(&id[..4]), key }
    }
}

toolkit::debug_fields!(StateKey { id });

impl fmt::Display for WeakKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let least = SealingKey::MIN_SECRET;
        write!(f, "a state key needs a secret of at least {least} bytes, got {}", self.n_bytes)
    }
}

impl std::error::Error for WeakKeyError {}

/// The keys of a server: the first one seals, and all of them open.
#[derive(Clone, Debug)]
pub(crate) struct Keys(Vec<StateKey>);

impl Keys {
    /// Creates the keys, or a random one if there are none.
    ///
    /// Without a key and a source of random numbers, no state can be sealed.
    pub(crate) fn new(keys: Vec<StateKey>) -> Self {
        Self(if keys.is_empty() { StateKey::random().into_iter().collect() } else { keys })
    }

    /// Encrypts and authenticates `content`, bound to `context`. Returns `None` if it is too long.
    pub(super) fn seal(&self, content: &[u8], context: &[u8]) -> Option<String> {
        let key = self.0.first()?;
        let text = format!("{VERSION}.{}.{}", key.id, key.key.seal(content, context).ok()?);
        (text.len() <= MAX_SEALED).then_some(text)
    }

    /// Returns the content of a sealed text, if one of the keys has sealed it for this context.
    pub(super) fn open(&self, text: &str, context: &[u8]) -> Option<Vec<u8>> {
        if text.len() > MAX_SEALED {
            return None;
        }
        let (id, sealed) = text.strip_prefix(VERSION)?.strip_prefix('.')?.split_once('.')?;
        self.0.iter().filter(|key| key.id == id).find_map(|key| key.key.open(sealed, context))
    }
}
