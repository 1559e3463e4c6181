//! Exponential backoff between attempts to connect.

use std::time::Duration;

use tokio::time::Instant;

/// An exponential backoff. The wait doubles with each failure.
#[derive(Default)]
pub(super) struct Backoff {
    n_setbacks: u32,
    not_before: Option<Instant>,
    lifted_at: Option<Instant>,
}

const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(30);
/// The time without failures after which the wait starts over.
const FORGOTTEN: Duration = Duration::from_secs(300);

impl Backoff {
    /// Returns the time of the next attempt, or `None` if the last attempt succeeded.
    pub(super) fn not_before(&self) -> Option<Instant> {
        self.not_before
    }

    /// Returns the remaining wait.
    pub(super) fn left(&self) -> Option<Duration> {
        let left = self.not_before?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    pub(super) fn set_back(&mut self) {
        let wait = FIRST.saturating_mul(1 << self.n_setbacks.min(16)).min(LONGEST);
        self.n_setbacks += 1;
        self.not_before = Some(Instant::now() + wait);
    }

    /// Records a success. The number of failures is kept for a while, so that a server that succeeds only briefly still
    /// waits longer each time.
    pub(super) fn lift(&mut self) {
        self.not_before = None;
        if self.lifted_at.replace(Instant::now()).is_none_or(|at| at.elapsed() > FORGOTTEN) {
            self.n_setbacks = 0;
        }
    }

    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }
}
