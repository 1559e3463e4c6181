//! Counters of the calls of a backend.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::changes::Changes;
use super::status::BackendCalls;
use crate::call::ErrorKind;

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
    ended: Mutex<Ended>,
    /// Notifies when the last running call or other request has ended.
    idle: Changes,
}

/// The counts of calls that have ended.
#[derive(Default)]
struct Ended {
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
pub(crate) struct Held<'c>(&'c Counters);

impl Counters {
    /// Keeps the backend from being idle until the guard is dropped.
    pub(crate) fn hold(&self) -> Held<'_> {
        self.n_held.fetch_add(1, Ordering::AcqRel);
        Held(self)
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

impl Drop for Held<'_> {
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
