//! Errors of workers.

use std::error::Error;
use std::fmt;

/// The error of a [`Worker`](crate::Worker) that cannot serve its tools.
///
/// # Examples
///
/// ```
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_nats::{Connect, NatsError, Worker};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let connect = Connect::new("nats://127.0.0.1:1")?;
/// let error = Worker::new(connect, Dispatcher::new(Catalog::new([])?)?).run(async {}).await.unwrap_err();
/// assert!(matches!(error, NatsError::Connect(_)));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum NatsError {
    /// No connection to a server, or it rejects the credentials.
    Connect(String),
    /// The connection was closed.
    Closed(String),
    /// The definition of a tool exceeds the size of a message on the server.
    DefinitionTooLarge {
        /// The size of the definition in bytes.
        n_bytes: usize,
        /// The size limit in bytes.
        limit: usize,
    },
    /// The server did not create a bucket.
    Bucket {
        /// The name of the bucket.
        bucket: String,
        /// The reason, in the words of the server.
        reason: String,
    },
}

impl NatsError {
    pub(crate) fn closed(error: impl fmt::Display) -> Self {
        Self::Closed(error.to_string())
    }
}

impl fmt::Display for NatsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(reason) => write!(f, "cannot connect to NATS: {reason}"),
            Self::Closed(reason) => write!(f, "the connection to NATS is closed: {reason}"),
            Self::Bucket { bucket, reason } => write!(f, "the bucket `{bucket}` was not created: {reason}"),
            Self::DefinitionTooLarge { n_bytes, limit } => {
                write!(f, "the definition of a tool has {n_bytes} bytes, and the NATS server accepts at most {limit}")
            }
        }
    }
}

impl Error for NatsError {}
