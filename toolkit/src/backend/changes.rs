//! Waiting for tools to change, with no runtime.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Whether something has changed since somebody looked at it last.
#[derive(Debug, Default)]
pub(super) struct Changes(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    has_changed: bool,
    /// Whom to wake, each with a number of its own.
    waiting: BTreeMap<u64, Waker>,
    n_waited: u64,
}

/// Waits for a change; nobody wakes it when it is dropped.
struct Changed<'c> {
    changes: &'c Changes,
    number: Option<u64>,
}

impl Changes {
    /// Says that it has changed. What has changed must be there already for whoever looks.
    pub(super) fn tell(&self) {
        let waiting = {
            let mut state = self.state();
            state.has_changed = true;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_values().for_each(Waker::wake);
    }

    /// Says that it is about to be looked at.
    pub(super) fn look(&self) {
        self.state().has_changed = false;
    }

    /// Waits until it has changed since somebody looked.
    pub(super) fn changed(&self) -> impl Future<Output = ()> + Send {
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
        // Not while it is locked: with a waker a whole task may go.
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
