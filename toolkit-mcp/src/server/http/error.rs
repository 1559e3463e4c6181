//! The errors of starting an HTTP server.

use std::fmt;
use std::net::SocketAddr;

/// The error of a server that cannot be bound to its address.
#[derive(Debug)]
#[non_exhaustive]
pub enum HttpError {
    /// The address cannot be resolved or bound.
    Io(std::io::Error),
    /// Other machines can reach these addresses, and the server requires no token.
    Unprotected(Vec<SocketAddr>),
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HttpError::Io(error) => error.fmt(f),
            HttpError::Unprotected(addresses) => {
                let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
                write!(
                    f,
                    "other machines can reach {}; require a token, or allow unauthenticated clients",
                    addresses.join(", ")
                )
            }
        }
    }
}

impl std::error::Error for HttpError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            HttpError::Io(error) => Some(error),
            HttpError::Unprotected(_) => None,
        }
    }
}
