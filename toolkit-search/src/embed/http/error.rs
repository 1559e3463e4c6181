//! Errors of remote models.

use std::fmt;

/// An error of a remote model.
///
/// It contains neither the token, nor the query of the URL, nor any of the texts: the endpoint's message is omitted if
/// it repeats any of these.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelUrlError(pub(super) String);

impl fmt::Display for ModelUrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ModelUrlError {}
