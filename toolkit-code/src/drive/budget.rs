//! The memory of the results of a run.

use std::sync::atomic::{AtomicUsize, Ordering};

use toolkit::ToolError;
use toolkit::call::ErrorKind;

/// The memory for the results of all calls of a run, in bytes.
const MAX_BYTES: usize = 128 << 20;

/// The memory that is left.
pub(super) struct Budget(AtomicUsize);

impl Budget {
    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(MAX_BYTES))
    }

    /// Reserves memory.
    ///
    /// # Errors
    ///
    /// Returns an error if less is left.
    pub(super) fn reserve(&self, n_bytes: usize) -> Result<(), ToolError> {
        let reserved = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(n_bytes));
        let message = || format!("with this result, those of all calls of the program exceed {} MiB", MAX_BYTES >> 20);
        reserved.map(drop).map_err(|_| ToolError::new(ErrorKind::ResultTooLarge, message()))
    }
}
