//! The wakes of those who wait for calls that have ended.
//!
//! What waits for a call is a task that does I/O. To wake it from another thread costs a system call and a switch between
//! threads, as much as many a call; to wake many at once costs little more.

use std::cell::RefCell;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Instant;

use tokio::runtime::Handle;

thread_local! {
    /// The wakes of calls that ended on this thread, if it belongs to a pool.
    static COLLECTED: RefCell<Option<Vec<Waker>>> = const { RefCell::new(None) };
}

/// A waker that a thread of a pool keeps until it has nothing else to do.
struct Collected(Waker);

impl Wake for Collected {
    fn wake(self: Arc<Self>) {
        COLLECTED.with_borrow_mut(|collected| match collected {
            Some(collected) => collected.push(self.0.clone()),
            None => self.0.wake_by_ref(),
        });
    }
}

/// Wraps the waker of a task that waits for a call.
pub(super) fn collected(waker: &Waker) -> Waker {
    Arc::new(Collected(waker.clone())).into()
}

/// Lets this thread collect wakes.
pub(super) fn collect() {
    COLLECTED.set(Some(Vec::new()));
}

/// Wakes that wait for more of them.
#[derive(Default)]
pub(super) struct Ended {
    wakers: Vec<Waker>,
    since: Option<Instant>,
}

impl Ended {
    /// Adds what this thread has collected.
    pub(super) fn add_collected(&mut self) {
        COLLECTED.with_borrow_mut(|collected| {
            let Some(collected) = collected.as_mut().filter(|collected| !collected.is_empty()) else { return };
            self.since.get_or_insert_with(Instant::now);
            self.wakers.append(collected);
        });
    }

    /// When the first of them was added.
    pub(super) fn since(&self) -> Option<Instant> {
        self.since
    }

    pub(super) fn take(&mut self) -> Vec<Waker> {
        self.since = None;
        std::mem::take(&mut self.wakers)
    }
}

/// Wakes them, several of them from a thread of their runtime, where that costs no system call.
pub(super) fn wake(mut wakers: Vec<Waker>, runtime: &Handle) {
    match wakers.len() {
        0 => {}
        1 => drop(wakers.pop().map(Waker::wake)),
        _ => {
            let all = All(wakers);
            runtime.spawn(async move { drop(all) });
        }
    }
}

/// Wakes when it is dropped, also by a runtime that ends.
struct All(Vec<Waker>);

impl Drop for All {
    fn drop(&mut self) {
        self.0.drain(..).for_each(Waker::wake);
    }
}
