//! Secret text.

use std::fmt;

use secrecy::ExposeSecret;

/// Text that must not leak: a token, a password, a key.
///
/// `Debug` does not print it, it implements neither `Display` nor `Serialize`, and its memory is overwritten when it
/// is dropped. [`SecretString::expose`] is the only access to the text, so that a search for this name finds every
/// use.
///
/// ```
/// use toolkit::call::SecretString;
///
/// let key = SecretString::from("s3cr3t");
/// assert_eq!(key.expose(), "s3cr3t");
/// assert!(!format!("{key:?}").contains("s3cr3t"));
/// ```
#[derive(Clone)]
pub struct SecretString(secrecy::SecretString);

impl SecretString {
    /// Returns the text.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl From<String> for SecretString {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<&str> for SecretString {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for SecretString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretString(…)")
    }
}
