//! The public keys of an authorization server (RFC 7517).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolkit_runtime::PemError;

use super::algorithm::Algorithm;
use super::fetch::Source;
use super::key::{PublicKey, read_keys};
use super::key_cache::{Cache, Unavailable};

/// The public keys of an authorization server.
///
/// Keys from a URL are fetched when the first token arrives, and again
///
/// - when a token has an unknown key id, so that a new key is accepted at once, but at most every 30 s;
/// - after [`Jwks::max_age`], so that a removed key is rejected. Tokens are verified with the old keys meanwhile, without
///   waiting: up to twice that age, or up to [`Jwks::max_stale`] if the issuer does not respond.
///
/// Concurrent requests share one fetch, which may take 5 s and read documents of 64 KiB. URLs must begin with
/// `https://`, or with `http://` for a loopback address. Redirects are not followed.
///
/// # Examples
///
/// ```
/// use toolkit_mcp_server::{Jwks, Jwt};
///
/// # fn main() -> Result<(), toolkit_mcp_server::JwksError> {
/// let keys = Jwks::from_url("https://as.example/keys")?;
/// let jwt = Jwt::with_keys("https://as.example", keys).audience("https://mcp.example.com/mcp");
/// assert!(Jwks::from_url("http://as.example/keys").is_err());
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct Jwks(Keys);

enum Keys {
    Fixed(Arc<[PublicKey]>),
    Fetched(Arc<Cache>),
}

const MAX_AGE: Duration = Duration::from_secs(10 * 60);
const MAX_STALE: Duration = Duration::from_secs(60 * 60);

impl Jwks {
    /// Reads a key set, `{"keys": […]}`. Keys that cannot verify signatures are ignored, such as encryption keys and
    /// symmetric ones.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a key set, or no key can be used.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_mcp_server::Jwks;
    ///
    /// let error = Jwks::from_json(r#"{"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}"#).unwrap_err();
    /// assert_eq!(error.to_string(), "no key can be used: the key type (`kty`) is not supported");
    /// ```
    pub fn from_json(text: &str) -> Result<Self, JwksError> {
        Ok(Self(Keys::Fixed(read_keys(text.as_bytes()).map_err(JwksError::new)?)))
    }

    /// Fetches the keys from a URL.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL is invalid or not encrypted.
    pub fn from_url(url: &str) -> Result<Self, JwksError> {
        Ok(Self::fetched(Source::keys(url).map_err(JwksError::new)?))
    }

    /// Fetches the keys from the URL in the metadata of an issuer (`jwks_uri`): OAuth 2.0 Authorization Server Metadata
    /// (RFC 8414) or OpenID Connect Discovery. The metadata must have the same issuer.
    ///
    /// # Errors
    ///
    /// Returns an error if the issuer is not a URL, or is not encrypted.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_mcp_server::Jwks;
    ///
    /// assert!(Jwks::discover("https://as.example/tenant").is_ok());
    /// let error = Jwks::discover("http://as.example").unwrap_err();
    /// assert_eq!(error.to_string(), "`http://as.example` must begin with `https://`, since its host is not loopback");
    /// ```
    pub fn discover(issuer: &str) -> Result<Self, JwksError> {
        Ok(Self::fetched(Source::issuer(issuer).map_err(JwksError::new)?))
    }

    /// Trusts the certificate authorities in a PEM file, given as text, in addition to those of the platform. Has no
    /// effect on [`Jwks::from_json`].
    ///
    /// # Errors
    ///
    /// Returns an error if the text has no certificate, or a malformed one.
    pub fn trust(self, pem: &str) -> Result<Self, JwksError> {
        let trusted = self.change(|cache| cache.source.trust(pem));
        trusted.map_err(|error| JwksError { message: error.to_string(), source: Some(Arc::new(error)) })
    }

    /// Sets the time after which keys are fetched again. Default: 10 minutes. Has no effect on [`Jwks::from_json`].
    pub fn max_age(self, time: Duration) -> Self {
        self.changed(|cache| cache.max_age = time)
    }

    /// Sets the age up to which keys are used while the issuer does not respond. Default: 1 hour. Has no effect on
    /// [`Jwks::from_json`].
    pub fn max_stale(self, time: Duration) -> Self {
        self.changed(|cache| cache.max_stale = time)
    }

    fn fetched(source: Source) -> Self {
        Self(Keys::Fetched(Arc::new(Cache::new(source, MAX_AGE, MAX_STALE))))
    }

    fn changed(self, change: impl FnOnce(&mut Cache)) -> Self {
        let changed = self.change(|cache| {
            change(cache);
            Ok::<(), std::convert::Infallible>(())
        });
        match changed {
            Ok(changed) => changed,
            Err(never) => match never {},
        }
    }

    fn change<E>(mut self, change: impl FnOnce(&mut Cache) -> Result<(), E>) -> Result<Self, E> {
        // The cache is shared with fetches only, and none has started yet.
        if let Keys::Fetched(cache) = &mut self.0
            && let Some(cache) = Arc::get_mut(cache)
        {
            change(cache)?;
        }
        Ok(self)
    }

    /// Returns the keys that may have signed a token. Without a key id, these are all keys for the algorithm.
    pub(super) async fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Result<Vec<PublicKey>, Unavailable> {
        let matching = |keys: &[PublicKey]| -> Vec<PublicKey> {
            keys.iter().filter(|key| key.may_sign(id, algorithm)).cloned().collect()
        };
        match &self.0 {
            Keys::Fixed(keys) => Ok(matching(keys)),
            Keys::Fetched(cache) => {
                let arrived = Instant::now();
                let found = matching(&cache.keys().await?);
                if !found.is_empty() {
                    return Ok(found);
                }
                Ok(matching(&cache.newer_keys(arrived).await?))
            }
        }
    }
}

/// Does not contain the keys, which are public but long.
impl fmt::Debug for Jwks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Keys::Fixed(keys) => f.debug_struct("Jwks").field("keys", &keys.len()).finish(),
            Keys::Fetched(cache) => f.debug_struct("Jwks").field("source", &cache.source).finish_non_exhaustive(),
        }
    }
}

/// The error for keys that cannot be read, or that cannot be fetched in a secure way.
///
/// # Examples
///
/// ```
/// use toolkit_mcp_server::Jwks;
///
/// let error = Jwks::from_url("keys.json").unwrap_err();
/// assert_eq!(error.to_string(), "`keys.json` is not a URL");
/// ```
#[derive(Clone, Debug)]
pub struct JwksError {
    message: String,
    source: Option<Arc<PemError>>,
}

impl JwksError {
    fn new(message: String) -> Self {
        Self { message, source: None }
    }
}

impl fmt::Display for JwksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for JwksError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
