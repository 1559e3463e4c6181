//! The errors of starting an HTTP server.

use std::fmt;
use std::net::SocketAddr;

/// The error of a server that cannot be bound to its address.
///
/// # Examples
///
/// ```
/// # use toolkit::{Catalog, Dispatcher};
/// # use toolkit_mcp::server::Server;
/// use toolkit_mcp::server::HttpError;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = Server::new(Dispatcher::new(Catalog::new([])?)?)?;
/// let error = server.http().bind("0.0.0.0:0").await.unwrap_err();
/// assert!(matches!(error, HttpError::Unprotected(_)));
/// assert_eq!(
///     error.to_string(),
///     "other machines can reach 0.0.0.0:0; require a token, or allow unauthenticated clients"
/// );
/// assert!(server.http().token("s3cr3t").bind("0.0.0.0:0").await.is_ok());
/// # Ok(())
/// # }
/// ```
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
