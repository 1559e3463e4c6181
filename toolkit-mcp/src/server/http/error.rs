//! Why a server cannot be reached.

use std::fmt;
use std::net::SocketAddr;

/// Why a server cannot be reached.
#[derive(Debug)]
#[non_exhaustive]
pub enum HttpError {
    /// The address cannot be had.
    Io(std::io::Error),
    /// Other machines reach these addresses, and nothing says who may call.
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
                    "other machines can reach {}, and could call every tool; ask for a token, or say that the server is \
                     open to all",
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
