//! The state of backends and the counts of their calls, for operators, and the notification of their changes.

use std::future::{Future, poll_fn};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime};

use crate::call::ErrorKind;
use crate::stream::Wakers;

crate::named! {
    /// The state of a backend's connection.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::backend::BackendState;
    ///
    /// assert_eq!(BackendState::BackingOff.to_string(), "backing_off");
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum BackendState {
        /// The backend has not been used yet.
        Idle = "idle",
        /// An attempt to connect is running.
        Connecting = "connecting",
        /// The backend can be called.
        Ready = "ready",
        /// The process of the backend was stopped, since it was unused. The next call starts it.
        Asleep = "asleep",
        /// The backend is connected, and its tools cannot be listed.
        Failed = "failed",
        /// The connection is lost or could not be established. The next attempt follows.
        BackingOff = "backing_off",
        /// The host has stopped the backend.
        Stopped = "stopped",
        /// The host has disabled the backend.
        Disabled = "disabled",
    }
}

impl BackendState {
    /// Returns true if the backend can be called: it is ready, or a call starts it.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::backend::BackendState;
    ///
    /// assert!(BackendState::Asleep.is_ready() && !BackendState::Connecting.is_ready());
    /// ```
    #[must_use]
    pub const fn is_ready(self) -> bool {
        matches!(self, Self::Ready | Self::Asleep)
    }
}

/// The state of a backend's connection and its history, as the backend reports it with
/// [`Backend::status`](super::Backend::status).
///
/// # Examples
///
/// ```
/// use std::time::SystemTime;
///
/// use toolkit::backend::{BackendState, BackendStatus};
///
/// let mut status = BackendStatus::new(BackendState::BackingOff);
/// status.since = Some(SystemTime::now());
/// status.last_error = Some("the connection was refused".to_owned());
/// assert_eq!(status.n_restarts, 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackendStatus {
    /// The state.
    pub state: BackendState,
    /// The time at which the backend became ready, or ceased to be. Attempts to connect do not change it.
    pub since: Option<SystemTime>,
    /// The earliest time of the next attempt to connect.
    pub next_attempt: Option<SystemTime>,
    /// The last error, also after a later success. It must not contain secrets.
    pub last_error: Option<String>,
    /// The number of connections after the first one. For a process, each attempt to start it counts, also a failed one.
    pub n_restarts: u64,
    /// The number of running calls whose result the backend collects later, such as tasks of MCP.
    pub n_tasks: u64,
}

impl BackendStatus {
    /// Creates a status without a history.
    #[must_use]
    pub fn new(state: BackendState) -> Self {
        Self { state, since: None, next_attempt: None, last_error: None, n_restarts: 0, n_tasks: 0 }
    }
}

/// The counts of the calls of a backend since it was registered.
///
/// `Backends` of the crate `toolkit-backends` reports it.
///
/// # Examples
///
/// ```
/// use toolkit::backend::BackendCalls;
///
/// /// Returns the share of calls that failed.
/// fn error_rate(calls: &BackendCalls) -> f64 {
///     let n_errors: u64 = calls.errors.iter().map(|(_, n)| n).sum();
///     n_errors as f64 / calls.n_ended.max(1) as f64
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackendCalls {
    /// The number of running calls, including those that wait for a permit.
    pub n_running: u64,
    /// The number of calls that have ended.
    pub n_ended: u64,
    /// The number of errors by kind. A call that is dropped counts as
    /// [`Cancelled`](crate::call::ErrorKind::Cancelled).
    pub errors: Vec<(ErrorKind, u64)>,
    /// The duration of all calls that have ended.
    pub duration: Duration,
    /// The number of calls that took at most a time, for growing times.
    pub histogram: Vec<(Duration, u64)>,
}

/// The upper bounds of the histogram.
const BOUNDS: [Duration; 10] = [
    Duration::from_micros(100),
    Duration::from_millis(1),
    Duration::from_millis(5),
    Duration::from_millis(25),
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_millis(2_500),
    Duration::from_secs(10),
    Duration::from_secs(60),
    Duration::from_secs(300),
];

/// Counters of the calls of a backend.
#[derive(Default)]
pub(crate) struct Counters {
    n_running: AtomicU64,
    /// The requests for which the backend must stay, and which are not running calls: those for resources, and calls that
    /// wait in a layer.
    n_held: AtomicU64,
    ended: Mutex<EndedCalls>,
    /// Notifies when the last running call or other request has ended.
    idle: Changes,
}

/// The counts of calls that have ended.
#[derive(Default)]
struct EndedCalls {
    n: u64,
    errors: Vec<(ErrorKind, u64)>,
    duration: Duration,
    buckets: [u64; BOUNDS.len()],
}

/// A running call. A call that is dropped counts as cancelled.
pub(crate) struct RunningCall<'c> {
    counters: &'c Counters,
    started: Instant,
    failure: Option<ErrorKind>,
}

/// A request that keeps the backend from being idle.
pub(crate) struct HeldBackend<'c>(&'c Counters);

impl Counters {
    /// Keeps the backend from being idle until the guard is dropped.
    pub(crate) fn hold(&self) -> HeldBackend<'_> {
        self.n_held.fetch_add(1, Ordering::AcqRel);
        HeldBackend(self)
    }

    pub(crate) fn start(&self) -> RunningCall<'_> {
        self.n_running.fetch_add(1, Ordering::AcqRel);
        RunningCall { counters: self, started: Instant::now(), failure: Some(ErrorKind::Cancelled) }
    }

    pub(crate) fn snapshot(&self) -> BackendCalls {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let mut n_below = 0;
        let histogram = std::iter::zip(BOUNDS, ended.buckets).map(|(bound, n)| {
            n_below += n;
            (bound, n_below)
        });
        BackendCalls {
            n_running: self.n_running.load(Ordering::Acquire),
            n_ended: ended.n,
            errors: ended.errors.clone(),
            duration: ended.duration,
            histogram: histogram.collect(),
        }
    }

    /// Waits until no call is running and nothing else holds the backend.
    pub(crate) async fn idle(&self) {
        loop {
            self.idle.mark_seen();
            if self.n_running.load(Ordering::Acquire) == 0 && self.n_held.load(Ordering::Acquire) == 0 {
                return;
            }
            self.idle.changed().await;
        }
    }
}

impl RunningCall<'_> {
    /// Records the end of the call.
    pub(crate) fn end(mut self, failure: Option<ErrorKind>) {
        self.failure = failure;
    }
}

impl Drop for HeldBackend<'_> {
    fn drop(&mut self) {
        if self.0.n_held.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.idle.notify();
        }
    }
}

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        let took = self.started.elapsed();
        {
            let mut ended = self.counters.ended.lock().unwrap_or_else(PoisonError::into_inner);
            ended.n += 1;
            ended.duration += took;
            if let Some(nth) = BOUNDS.iter().position(|bound| took <= *bound) {
                ended.buckets[nth] += 1;
            }
            if let Some(kind) = self.failure {
                match ended.errors.iter_mut().find(|(other, _)| *other == kind) {
                    Some((_, n)) => *n += 1,
                    None => ended.errors.push((kind, 1)),
                }
            }
        }
        if self.counters.n_running.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.counters.idle.notify();
        }
    }
}

/// A flag for changes since the last look, and the tasks that wait for it.
#[derive(Debug, Default)]
pub struct Changes(Mutex<ChangesState>);

#[derive(Debug, Default)]
struct ChangesState {
    has_changed: bool,
    waiting: Wakers,
}

/// A task that waits for a change. Dropping it removes its waker.
struct WaitingForChange<'c> {
    changes: &'c Changes,
    key: Option<u64>,
}

impl Changes {
    /// Records a change and wakes the waiting tasks. The changed data must be visible before this call.
    pub fn notify(&self) {
        let mut state = self.state();
        state.has_changed = true;
        let waiting = state.waiting.take();
        drop(state);
        waiting.wake();
    }

    /// Clears the flag. Call this before reading the data.
    pub fn mark_seen(&self) {
        self.state().has_changed = false;
    }

    /// Completes when a change has occurred since the last [`Changes::mark_seen`].
    pub fn changed(&self) -> impl Future<Output = ()> + Send {
        let mut waiting = WaitingForChange { changes: self, key: None };
        poll_fn(move |cx| {
            let waiting = &mut waiting;
            let mut state = waiting.changes.state();
            if state.has_changed {
                return Poll::Ready(());
            }
            let former = state.waiting.keep(&mut waiting.key, cx.waker());
            drop(state);
            drop(former);
            Poll::Pending
        })
    }

    fn state(&self) -> MutexGuard<'_, ChangesState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WaitingForChange<'_> {
    fn drop(&mut self) {
        let waker = self.changes.state().waiting.forget(self.key);
        drop(waker);
    }
}
