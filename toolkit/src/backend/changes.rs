//! Change notification without a runtime.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A flag for changes since the last look, and the tasks that wait for it.
#[derive(Debug, Default)]
pub struct Changes(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    has_changed: bool,
    /// The wakers of waiting tasks, each under a unique number.
    waiting: BTreeMap<u64, Waker>,
    n_waited: u64,
}

/// A future that completes after a change. Dropping it removes its waker.
struct Changed<'c> {
    changes: &'c Changes,
    number: Option<u64>,
}

impl Changes {
    /// Records a change and wakes the waiting tasks. The changed data must be visible before this
    /// call.
    pub fn notify(&self) {
        let waiting = {
            let mut state = self.state();
            state.has_changed = true;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_values().for_each(Waker::wake);
    }

    /// Clears the flag. Call this before reading the data.
    pub fn mark_seen(&self) {
        self.state().has_changed = false;
    }

    /// Completes when a change has occurred since the last [`Changes::mark_seen`].
    pub fn changed(&self) -> impl Future<Output = ()> + Send {
        Changed { changes: self, number: None }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Future for Changed<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.changes.state();
        if state.has_changed {
            return Poll::Ready(());
        }
        let number = self.number.unwrap_or(state.n_waited);
        if self.number.is_none() {
            state.n_waited += 1;
        }
        let former = state.waiting.insert(number, cx.waker().clone());
        drop(state);
        // Dropped after unlocking: dropping a waker may drop a whole task.
        drop(former);
        self.number = Some(number);
        Poll::Pending
    }
}

impl Drop for Changed<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            let waker = self.changes.state().waiting.remove(&number);
            drop(waker);
        }
    }
}
