//! The body of a request: how long it may be, how long it may take, and how much of all of them is in memory.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Limits;
use super::denied::Denied;
use crate::server::metrics::Refused;

/// How many bytes of messages are in memory at once, over all requests. More wait for their turn.
const MAX_PENDING_BYTES: usize = 256 << 20;

/// Reads bodies, each within its limits, and all together within theirs.
#[derive(Debug)]
pub(super) struct Intake {
    max_bytes: usize,
    patience: Duration,
    pending: Arc<Semaphore>,
}

impl Intake {
    pub(super) fn new(limits: &Limits) -> Self {
        let n_bytes = MAX_PENDING_BYTES.max(limits.body_bytes).min(u32::MAX as usize);
        let pending = Arc::new(Semaphore::new(n_bytes));
        Self { max_bytes: limits.body_bytes, patience: limits.patience, pending }
    }

    /// Reads a body, once there is room for it. What it holds of the room, it holds until the request is done with.
    pub(super) async fn read<B>(&self, headers: &HeaderMap, body: B) -> Result<(Bytes, OwnedSemaphorePermit), Denied>
    where
        B: http_body::Body<Data: Buf, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
    {
        let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        let length: usize = length.unwrap_or(self.max_bytes);
        if length > self.max_bytes {
            return Err(self.too_large());
        }
        let read = async {
            let n_bytes = u32::try_from(length.max(1)).unwrap_or(u32::MAX);
            let held = Arc::clone(&self.pending).acquire_many_owned(n_bytes).await;
            (held, Limited::new(body, self.max_bytes).collect().await)
        };
        let (held, body) = tokio::time::timeout(self.patience, read).await.map_err(|_| {
            Denied::new(Refused::TooSlow, StatusCode::REQUEST_TIMEOUT, "the message did not come in time")
        })?;
        let unread = |message| Denied::new(Refused::Malformed, StatusCode::BAD_REQUEST, message);
        let mut held = held.map_err(|_| unread("the server has ended"))?;
        match body {
            Ok(body) => {
                let bytes = body.to_bytes();
                // Room for what might have come, where the length was not told.
                drop(held.split(held.num_permits().saturating_sub(bytes.len())));
                Ok((bytes, held))
            }
            Err(error) if error.is::<LengthLimitError>() => Err(self.too_large()),
            Err(_) => Err(unread("the message broke off")),
        }
    }

    fn too_large(&self) -> Denied {
        let message = format!("the message has more than {} bytes", self.max_bytes);
        Denied::new(Refused::TooLarge, StatusCode::PAYLOAD_TOO_LARGE, message)
    }
}
