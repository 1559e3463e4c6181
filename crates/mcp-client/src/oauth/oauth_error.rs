//! The errors of logins.

use std::fmt;

use reqwest::Url;

/// The length in characters to which a text of a server is truncated.
const MAX_TEXT_CHARS: usize = 200;

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

/// Escapes and truncates a text of a server for an error message.
pub(super) fn untrusted(text: &str) -> String {
    let end = text.char_indices().nth(MAX_TEXT_CHARS);
    let (text, ellipsis) = end.map_or((text, ""), |(end, _)| (&text[..end], "…"));
    format!("{}{ellipsis}", text.escape_debug())
}

/// Returns a URL without its user and its query, which may contain keys, for an error message.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    // A URL without a host has no user.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    untrusted(url.as_str())
}
