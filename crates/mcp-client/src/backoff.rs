//! Exponential backoff between attempts.

#[cfg(test)]
mod tests;

use std::time::Duration;

use tokio::time::Instant;

/// An exponential backoff. The wait doubles with each failure.
#[derive(Default)]
pub(super) struct Backoff {
    n_failures: u32,
    /// The time of the next attempt, or `None` if the last attempt succeeded.
    pub(super) not_before: Option<Instant>,
    succeeded_at: Option<Instant>,
}

/// The lifetime from which on the end of a subscription does not count as a failure.
pub(super) const STABLE_AFTER: Duration = Duration::from_secs(60);

const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(30);
/// The time without failures after which the wait starts over.
const RESET_AFTER: Duration = Duration::from_secs(300);

impl Backoff {
    /// Returns the remaining wait.
    pub(super) fn left(&self) -> Option<Duration> {
        let left = self.not_before?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    pub(super) fn record_failure(&mut self) {
        let wait = FIRST.saturating_mul(1 << self.n_failures.min(16)).min(LONGEST);
        self.n_failures += 1;
        self.not_before = Some(Instant::now() + wait);
    }

    /// Records a success. The number of failures is kept for a while, so that a server that succeeds only briefly still
    /// waits longer each time.
    pub(super) fn record_success(&mut self) {
        self.not_before = None;
        if self.succeeded_at.replace(Instant::now()).is_none_or(|at| at.elapsed() > RESET_AFTER) {
            self.n_failures = 0;
        }
    }

    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }
}
