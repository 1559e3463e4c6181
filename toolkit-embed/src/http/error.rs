//! What goes wrong with an endpoint.

use std::fmt;

/// Why an endpoint made no vectors. It has neither the token nor the query of the URL nor any text in it: what an
/// endpoint says of an error is left out where it repeats something of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteError {
    pub(super) url: String,
    pub(super) model: String,
    pub(super) reason: String,
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no vectors from `{}` of {}: {}", self.model.escape_debug(), self.url, self.reason)
    }
}

impl std::error::Error for RemoteError {}

/// What cannot be the address of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidEndpoint(pub(super) String);

impl fmt::Display for InvalidEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidEndpoint {}
