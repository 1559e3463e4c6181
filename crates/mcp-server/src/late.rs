//! Calls that take longer than most.
//!
//! Most calls end within a millisecond. Timers and a registration for cancellation would cost them as much as the tool,
//! so a call gets both only when it is late.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::Handle;

/// The interval at which late calls are found. A call is late after one or two of them.
const TICK: Duration = Duration::from_millis(5);

/// The number of ticks without calls after which the task that finds late calls ends.
const IDLE_TICKS: u32 = 4;

/// A call that is not late yet.
pub(super) trait MayBeLate: Send + Sync {
    /// Gives the call its timers and its cancellation, unless it has ended.
    fn is_late(&self);
}

/// The calls of a server that are not late yet.
#[derive(Default)]
pub(super) struct LateCalls(Arc<Mutex<Calls>>);

#[derive(Default)]
struct Calls {
    /// The calls since the last tick.
    young: Vec<Arc<dyn MayBeLate>>,
    /// The calls before the last tick.
    old: Vec<Arc<dyn MayBeLate>>,
    /// True while a task finds late calls.
    is_watched: bool,
}

/// The task that polls a call.
#[derive(Debug)]
struct Polled {
    waker: Waker,
    is_late: AtomicBool,
    has_ended: AtomicBool,
}

/// A future that completes when the call that polls it is late.
pub(super) struct Late<'l> {
    calls: &'l LateCalls,
    call: Option<Arc<Polled>>,
}

impl LateCalls {
    /// Returns a future that completes within two ticks.
    pub(super) fn late(&self) -> Late<'_> {
        Late { calls: self, call: None }
    }

    /// Adds calls, which are late within two ticks. `runtime` is asked for a runtime if there were no calls.
    pub(super) fn add(&self, added: impl IntoIterator<Item = Arc<dyn MayBeLate>>, runtime: impl FnOnce() -> Handle) {
        let mut calls = self.calls();
        calls.young.extend(added);
        if !std::mem::replace(&mut calls.is_watched, true) {
            drop(calls);
            runtime().spawn(Watching { calls: Self(Arc::clone(&self.0)), has_ended: false }.run());
        }
    }

    /// Finds the calls that are late now. Returns false if there were no calls.
    fn tick(&self) -> bool {
        let mut calls = self.calls();
        let young = std::mem::take(&mut calls.young);
        let late = std::mem::replace(&mut calls.old, young);
        let had_calls = !calls.old.is_empty() || !late.is_empty();
        drop(calls);
        late.into_iter().for_each(|call| call.is_late());
        had_calls
    }

    /// Returns false if there are calls.
    fn ends_watching(&self) -> bool {
        let mut calls = self.calls();
        let has_calls = !calls.young.is_empty() || !calls.old.is_empty();
        calls.is_watched = has_calls;
        !has_calls
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MayBeLate for Polled {
    fn is_late(&self) {
        self.is_late.store(true, Ordering::Release);
        if !self.has_ended.load(Ordering::Acquire) {
            self.waker.wake_by_ref();
        }
    }
}

impl Future for Late<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match &self.call {
            Some(call) if call.is_late.load(Ordering::Acquire) => Poll::Ready(()),
            // A future that moves to another task is late at once.
            Some(call) if !call.waker.will_wake(cx.waker()) => Poll::Ready(()),
            Some(_) => Poll::Pending,
            None => {
                let (waker, flag) = (cx.waker().clone(), AtomicBool::default);
                let call = Arc::new(Polled { waker, is_late: flag(), has_ended: flag() });
                self.calls.add([Arc::clone(&call) as Arc<dyn MayBeLate>], Handle::current);
                self.call = Some(call);
                Poll::Pending
            }
        }
    }
}

impl Drop for Late<'_> {
    fn drop(&mut self) {
        if let Some(call) = &self.call {
            call.has_ended.store(true, Ordering::Release);
        }
    }
}

/// The task that finds late calls. If its runtime ends, all calls are late.
struct Watching {
    calls: LateCalls,
    has_ended: bool,
}

impl Watching {
    async fn run(mut self) {
        let mut n_idle = 0;
        while n_idle < IDLE_TICKS || !self.calls.ends_watching() {
            tokio::time::sleep(TICK).await;
            n_idle = if self.calls.tick() { 0 } else { n_idle + 1 };
        }
        self.has_ended = true;
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        if !self.has_ended {
            self.calls.calls().is_watched = false;
            self.calls.tick();
            self.calls.tick();
        }
    }
}
