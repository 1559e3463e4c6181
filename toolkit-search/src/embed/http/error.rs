//! Errors of remote models.

use std::fmt;

/// An error of a remote model.
///
/// It contains neither the token, nor the query of the URL, nor any of the texts: the endpoint's message is omitted if
/// it repeats any of these.
///
/// # Examples
///
/// An [`Embedder`](crate::Embedder) returns boxed errors; `downcast_ref` distinguishes those of the endpoint:
///
/// ```
/// use std::time::Duration;
/// use toolkit_search::Embedder;
/// use toolkit_search::embed::{RemoteError, RemoteModel};
///
/// // No server listens on this port.
/// let model = RemoteModel::new("http://127.0.0.1:1/api/embed?key=secret", "all-minilm")?;
/// let error = model.timeout(Duration::from_millis(20)).embed(&["Sends an email."]).unwrap_err();
/// assert!(error.downcast_ref::<RemoteError>().is_some());
/// assert!(error.to_string().starts_with("cannot embed with `all-minilm` at http://127.0.0.1:1/api/embed: "));
/// # Ok::<(), toolkit_search::embed::ModelUrlError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteError {
    pub(super) url: String,
    pub(super) model: String,
    pub(super) reason: String,
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot embed with `{}` at {}: {}", self.model.escape_debug(), self.url, self.reason)
    }
}

impl std::error::Error for RemoteError {}

/// An invalid URL of an endpoint.
///
/// ```
/// use toolkit_search::embed::RemoteModel;
///
/// let error = RemoteModel::new("https://user:password@models.example/v1/embeddings", "all-minilm").unwrap_err();
/// assert_eq!(error.to_string(), "the URL must not contain credentials; pass a token to `bearer`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelUrlError(pub(super) String);

impl fmt::Display for ModelUrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ModelUrlError {}
