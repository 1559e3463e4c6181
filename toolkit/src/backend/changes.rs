//! Waiting for tools to change, with no runtime.

use std::future::{Future, poll_fn};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// Whether something has changed since somebody looked at it last.
#[derive(Debug, Default)]
pub(super) struct Changes(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    has_changed: bool,
    waiting: Vec<Waker>,
}

impl Changes {
    /// Says that it has changed. What has changed must be there already for whoever looks.
    pub(super) fn tell(&self) {
        let waiting = {
            let mut state = self.state();
            state.has_changed = true;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Says that it is about to be looked at.
    pub(super) fn look(&self) {
        self.state().has_changed = false;
    }

    /// Waits until it has changed since somebody looked.
    pub(super) fn changed(&self) -> impl Future<Output = ()> + Send {
        poll_fn(|cx| {
            let mut state = self.state();
            if state.has_changed {
                return Poll::Ready(());
            }
            if !state.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
                state.waiting.push(cx.waker().clone());
            }
            Poll::Pending
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
