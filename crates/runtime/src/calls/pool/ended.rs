//! Batched wakeups of the tasks that wait for calls.
//!
//! A call is awaited by a task that does I/O. Waking it from another thread costs a system call and a context switch,
//! as much as many a call. A batch of wakeups costs little more than one.

use std::cell::RefCell;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Instant;

use tokio::runtime::Handle;

thread_local! {
    /// The wakers of calls that ended on this thread, if it belongs to a pool.
    static DEFERRED: RefCell<Option<Vec<Waker>>> = const { RefCell::new(None) };
}

/// A waker that a thread of a pool defers until it has no other work.
struct DeferringWaker(Waker);

impl Wake for DeferringWaker {
    fn wake(self: Arc<Self>) {
        wake_when_idle(self.0.clone());
    }
}

/// Wakes a task. A thread of a [`ToolPool`](super::ToolPool) defers this until it has no other work, or for 100 µs; all
/// other threads wake the task at once.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use std::sync::Arc;
/// use std::sync::mpsc::{Sender, channel};
/// use std::task::Wake;
///
/// use toolkit_runtime::{ToolPool, is_tool_thread, wake_when_idle};
///
/// struct Flush(Sender<bool>);
///
/// impl Wake for Flush {
///     fn wake(self: Arc<Self>) {
///         let _ = self.0.send(is_tool_thread());
///     }
/// }
///
/// let (sender, flushed) = channel();
/// let flush = Arc::new(Flush(sender));
/// let _ = ToolPool::new().spawn("quick", async move { wake_when_idle(flush.into()) }).await;
/// assert!(flushed.recv().is_ok());
/// # }
/// ```
pub fn wake_when_idle(waker: Waker) {
    let waker = DEFERRED.with_borrow_mut(|collected| match collected {
        Some(collected) => {
            collected.push(waker);
            None
        }
        None => Some(waker),
    });
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// Returns true on a thread of a [`ToolPool`](super::ToolPool).
#[must_use]
pub fn is_tool_thread() -> bool {
    DEFERRED.with_borrow(Option::is_some)
}

/// Wraps the waker of a task that waits for a call, so that wakeups are deferred.
pub(super) fn collected(waker: &Waker) -> Waker {
    Arc::new(DeferringWaker(waker.clone())).into()
}

/// Enables deferred wakeups on this thread.
pub(super) fn defer_wakeups() {
    DEFERRED.set(Some(Vec::new()));
}

/// Deferred wakers.
#[derive(Default)]
pub(super) struct DeferredWakers {
    wakers: Vec<Waker>,
    since: Option<Instant>,
}

impl DeferredWakers {
    /// Moves the wakers of this thread here.
    pub(super) fn take_deferred(&mut self) {
        DEFERRED.with_borrow_mut(|collected| {
            let Some(collected) = collected.as_mut().filter(|collected| !collected.is_empty()) else { return };
            self.since.get_or_insert_with(Instant::now);
            self.wakers.append(collected);
        });
    }

    /// Returns the time at which the first of the wakers was added.
    pub(super) fn since(&self) -> Option<Instant> {
        self.since
    }

    pub(super) fn take(&mut self) -> Vec<Waker> {
        self.since = None;
        std::mem::take(&mut self.wakers)
    }
}

/// Wakes the tasks. Several are woken from a thread of their runtime, which takes one system call for all of them.
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

/// Wakers that are woken on drop, so also when the runtime shuts down.
struct All(Vec<Waker>);

impl Drop for All {
    fn drop(&mut self) {
        self.0.drain(..).for_each(Waker::wake);
    }
}
