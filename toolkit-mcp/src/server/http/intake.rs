//! The body of a request: how long it may be, how long it may take, and how much of all of them is in memory.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Limits;

/// How many bytes of messages are in memory at once, over all requests. More wait for their turn.
const MAX_PENDING_BYTES: usize = 256 << 20;

/// Reads bodies, each within its limits, and all together within theirs.
#[derive(Debug)]
pub(super) struct Intake {
    max_bytes: usize,
    patience: Duration,
    pending: Arc<Semaphore>,
}

/// Why a body was not read.
pub(super) enum Unread {
    IsTooLarge,
    IsTooSlow,
    BrokeOff,
    HasEnded,
}

impl Intake {
    pub(super) fn new(limits: &Limits) -> Self {
        let n_bytes = MAX_PENDING_BYTES.max(limits.body_bytes).min(u32::MAX as usize);
        let pending = Arc::new(Semaphore::new(n_bytes));
        Self { max_bytes: limits.body_bytes, patience: limits.patience, pending }
    }

    pub(super) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Reads a body, once there is room for it. What it holds of the room, it holds until the request is done with.
    pub(super) async fn read<B>(&self, headers: &HeaderMap, body: B) -> Result<(Bytes, OwnedSemaphorePermit), Unread>
    where
        B: http_body::Body<Data: Buf, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
    {
        let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        let length: usize = length.unwrap_or(self.max_bytes);
        if length > self.max_bytes {
            return Err(Unread::IsTooLarge);
        }
        let read = async {
            let n_bytes = u32::try_from(length.max(1)).unwrap_or(u32::MAX);
            let held = Arc::clone(&self.pending).acquire_many_owned(n_bytes).await;
            (held, Limited::new(body, self.max_bytes).collect().await)
        };
        let (held, body) = tokio::time::timeout(self.patience, read).await.map_err(|_| Unread::IsTooSlow)?;
        let held = held.map_err(|_| Unread::HasEnded)?;
        match body {
            Ok(body) => Ok((body.to_bytes(), held)),
            Err(error) if error.is::<LengthLimitError>() => Err(Unread::IsTooLarge),
            Err(_) => Err(Unread::BrokeOff),
        }
    }
}
