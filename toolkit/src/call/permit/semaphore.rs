//! Slots that a call can wait for.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::call::error::ToolError;
use crate::call::timer;

#[derive(Debug)]
pub(super) struct Slots {
    free: Arc<Semaphore>,
    n_calls: usize,
}

pub(super) type Slot = OwnedSemaphorePermit;

impl Slots {
    pub(super) fn new(n_calls: usize) -> Self {
        let n_calls = n_calls.min(Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(n_calls)), n_calls }
    }

    pub(super) fn n_calls(&self) -> usize {
        self.n_calls
    }

    pub(super) fn try_take(&self) -> Option<Slot> {
        Arc::clone(&self.free).try_acquire_owned().ok()
    }

    /// Waits in the order of arrival.
    pub(super) async fn wait(&self, timeout: Duration) -> Result<Slot, ToolError> {
        match timer::timeout(timeout, Arc::clone(&self.free).acquire_owned()).await? {
            Some(Ok(slot)) => Ok(slot),
            // The semaphore is never closed.
            Some(Err(_)) | None => Err(ToolError::overloaded(self.n_calls)),
        }
    }
}
