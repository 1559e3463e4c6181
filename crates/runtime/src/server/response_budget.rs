//! The memory budget of responses that clients have not read yet.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

/// The time that a response waits for memory.
const WAIT: Duration = Duration::from_secs(2);

/// Counts the bytes of large responses until they are sent.
#[derive(Clone, Debug)]
pub(super) struct ResponseBudget(Arc<ResponseShared>);

#[derive(Debug)]
struct ResponseShared {
    max_bytes: usize,
    n_bytes: Mutex<usize>,
    /// The bytes of responses that wait for room. They are in memory too.
    n_waiting: AtomicUsize,
    released: Notify,
}

/// The share of one response in the budget. Dropping it returns the bytes.
#[derive(Debug)]
pub(super) struct ResponsePermit {
    budget: ResponseBudget,
    n_bytes: usize,
}

impl ResponseBudget {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self(Arc::new(ResponseShared {
            max_bytes,
            n_bytes: Mutex::new(0),
            n_waiting: AtomicUsize::new(0),
            released: Notify::new(),
        }))
    }

    /// Acquires memory for a response. While there is too little, `evict` closes a connection whose client does not
    /// read.
    pub(super) async fn acquire(&self, n_bytes: usize, evict: impl Fn() -> bool) -> Option<ResponsePermit> {
        if let Some(permit) = self.try_acquire(n_bytes) {
            return Some(permit);
        }
        let _waiting = WaitingResponse::new(self, n_bytes)?;
        let acquired = async {
            loop {
                let mut released = std::pin::pin!(self.0.released.notified());
                released.as_mut().enable();
                if let Some(permit) = self.try_acquire(n_bytes) {
                    return permit;
                }
                evict();
                // Looks again after a while, since more clients may have stopped reading.
                let _ = tokio::time::timeout(WAIT / 20, released).await;
            }
        };
        tokio::time::timeout(WAIT, acquired).await.ok()
    }

    /// Acquires memory without waiting. Admits a single response of any size.
    fn try_acquire(&self, n_bytes: usize) -> Option<ResponsePermit> {
        let mut n_held = self.n_bytes();
        if *n_held > 0 && n_held.saturating_add(n_bytes) > self.0.max_bytes {
            return None;
        }
        *n_held += n_bytes;
        Some(ResponsePermit { budget: self.clone(), n_bytes })
    }

    fn n_bytes(&self) -> MutexGuard<'_, usize> {
        self.0.n_bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The share of a waiting response in `n_waiting`.
struct WaitingResponse<'b> {
    budget: &'b ResponseBudget,
    n_bytes: usize,
}

impl<'b> WaitingResponse<'b> {
    fn new(budget: &'b ResponseBudget, n_bytes: usize) -> Option<Self> {
        let n_waiting = budget.0.n_waiting.fetch_add(n_bytes, Ordering::Relaxed);
        let waiting = Self { budget, n_bytes };
        (n_waiting == 0 || n_waiting.saturating_add(n_bytes) <= budget.0.max_bytes / 2).then_some(waiting)
    }
}

impl Drop for WaitingResponse<'_> {
    fn drop(&mut self) {
        self.budget.0.n_waiting.fetch_sub(self.n_bytes, Ordering::Relaxed);
    }
}

impl Drop for ResponsePermit {
    fn drop(&mut self) {
        *self.budget.n_bytes() -= self.n_bytes;
        self.budget.0.released.notify_waiters();
    }
}
