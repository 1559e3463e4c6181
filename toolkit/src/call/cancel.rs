//! Cancellation of calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A handle that cancels calls.
///
/// Clones share one flag. Dropping a token cancels nothing.
///
/// ```
/// use toolkit::Context;
/// use toolkit::call::CancelToken;
///
/// let token = CancelToken::new();
/// let context = Context::new().with_cancel(token.clone());
/// token.cancel();
/// assert!(context.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    cancelled: AtomicBool,
    #[cfg(feature = "async")]
    wake: tokio::sync::Notify,
}

impl CancelToken {
    /// Creates a token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels every call that carries this token or a clone of it.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Release);
        #[cfg(feature = "async")]
        self.shared.wake.notify_waiters();
    }

    /// Returns true if both are clones of one token.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Returns true if the token is cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::Acquire)
    }

    /// Completes when the token is cancelled.
    #[cfg(feature = "async")]
    pub async fn cancelled(&self) {
        loop {
            // Listening starts before the flag is read, so that a cancellation in between is not missed.
            let mut woken = std::pin::pin!(self.shared.wake.notified());
            woken.as_mut().enable();
            if self.is_cancelled() {
                return;
            }
            woken.await;
        }
    }
}
