//! The arguments of a call, in its message or in the object store.

use std::sync::Arc;

use bytes::Bytes;
use tokio::time::{Instant, timeout_at};
use toolkit::ToolError;
use toolkit::call::ErrorKind;

use super::link::Connected;
use crate::bodies::{Reference, Stored};
use crate::wire::MAX_BODY;

/// The arguments of a call. Dropping them deletes them from the object store.
pub(super) struct Arguments {
    /// The body of the message.
    pub(super) body: Bytes,
    stored: Option<(Arc<Connected>, Stored)>,
}

impl Arguments {
    /// Stores arguments that do not fit into a message.
    ///
    /// # Errors
    ///
    /// Returns an error if they are too large, or cannot be stored.
    pub(super) async fn new(connected: &Arc<Connected>, json: &[u8], deadline: Instant) -> Result<Self, ToolError> {
        let (n_bytes, limit) = (json.len(), connected.bodies.inline_limit());
        if n_bytes <= limit {
            return Ok(Self { body: Bytes::copy_from_slice(json), stored: None });
        }
        if n_bytes > MAX_BODY {
            let message = format!("the arguments have {n_bytes} bytes, more than the limit of {MAX_BODY}");
            return Err(ToolError::new(ErrorKind::TooLarge, message));
        }
        let bucket = &connected.body_bucket;
        let too_large = || {
            let message = format!(
                "the arguments have {n_bytes} bytes, more than the limit of {limit} of the NATS server, and were not \
                 stored in the bucket `{bucket}`"
            );
            ToolError::new(ErrorKind::TooLarge, message)
        };
        match timeout_at(deadline, connected.bodies.store(bucket, json)).await {
            Ok(Ok(stored)) => Ok(Self { body: Bytes::new(), stored: Some((Arc::clone(connected), stored)) }),
            Ok(Err(error)) => Err(too_large().caused_by(error)),
            Err(_) => Err(too_large()),
        }
    }

    /// Returns the reference to the arguments, if they are not in the message.
    pub(super) fn reference(&self) -> Option<&Reference> {
        self.stored.as_ref().map(|(_, stored)| &stored.reference)
    }
}

impl Drop for Arguments {
    fn drop(&mut self) {
        if let Some((connected, stored)) = self.stored.take() {
            delete(connected, stored);
        }
    }
}

/// Deletes a body in the background.
pub(super) fn delete(connected: Arc<Connected>, stored: Stored) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(async move { connected.bodies.delete(&stored).await });
    }
}
