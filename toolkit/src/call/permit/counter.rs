//! Slots without waiting, for builds without the feature `async`.

use std::future::{Future, ready};
use std::sync::Arc;
use std::time::Duration;

use crate::call::error::ToolError;

#[derive(Debug)]
pub(super) struct Slots {
    /// The counter of running calls: each holds a clone.
    running: Arc<()>,
    n_calls: usize,
}

pub(super) type Slot = Arc<()>;

impl Slots {
    pub(super) fn new(n_calls: usize) -> Self {
        Self { running: Arc::default(), n_calls }
    }

    pub(super) fn n_calls(&self) -> usize {
        self.n_calls
    }

    pub(super) fn try_take(&self) -> Option<Slot> {
        let slot = Arc::clone(&self.running);
        // `self.running` and the new clone are not running calls.
        (Arc::strong_count(&slot) - 1 <= self.n_calls).then_some(slot)
    }

    pub(super) fn wait(&self, _: Duration) -> impl Future<Output = Result<Slot, ToolError>> + use<> {
        ready(Err(ToolError::overloaded(self.n_calls)))
    }
}
