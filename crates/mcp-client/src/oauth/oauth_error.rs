//! The errors of logins.

use std::fmt;

pub(super) use crate::address_policy::{shown, untrusted};

/// The error of a login or of a renewal of tokens. It contains no secret.
///
/// # Examples
///
/// ```
/// use toolkit_mcp_client::{Endpoint, OAuth};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let endpoint = Endpoint::new("http://example.com/mcp")?.oauth(OAuth::new());
/// let error = endpoint.login().await.unwrap_err();
/// assert_eq!(error.to_string(), "`http://example.com/mcp` must begin with `https://`");
/// assert!(!error.is_temporary());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OAuthError {
    message: String,
    is_temporary: bool,
}

impl OAuthError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_temporary: false }
    }

    pub(super) fn temporary(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_temporary: true }
    }

    /// Returns true if the same attempt may succeed later, for example since a server cannot be reached.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        self.is_temporary
    }
}

impl fmt::Display for OAuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OAuthError {}
