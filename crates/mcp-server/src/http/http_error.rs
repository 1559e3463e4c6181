//! The errors of starting an HTTP server.

use std::fmt;
use std::net::SocketAddr;

/// The error of a server that cannot be bound to its address.
///
/// # Examples
///
/// ```
/// # use toolkit::{Catalog, Dispatcher};
/// # use toolkit_mcp_server::Server;
/// use toolkit_mcp_server::HttpError;
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
/// assert!(server.http().token("tlw9tPDk3ULX0Gq5").bind("0.0.0.0:0").await.is_ok());
/// let error = server.http().token("s3cr3t").bind("0.0.0.0:0").await.unwrap_err();
/// assert!(matches!(error, HttpError::ShortToken));
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
    /// Other machines can reach the address, and the token can be guessed.
    ShortToken,
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
            HttpError::ShortToken => {
                f.write_str("other machines can reach the address; use a token of at least 16 random characters")
            }
        }
    }
}

impl std::error::Error for HttpError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            HttpError::Io(error) => Some(error),
            HttpError::Unprotected(_) | HttpError::ShortToken => None,
        }
    }
}
