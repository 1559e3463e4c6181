//! How long to wait before a server that could not be reached is tried again.

use std::time::Duration;

use tokio::time::Instant;

/// How long to wait before a server that could not be reached is tried again: twice as long each time.
#[derive(Default)]
pub(super) struct Backoff {
    n_setbacks: u32,
    not_before: Option<Instant>,
}

const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(30);

impl Backoff {
    /// When to try again; `None` where nothing has failed.
    pub(super) fn not_before(&self) -> Option<Instant> {
        self.not_before
    }

    /// How long there is still to wait.
    pub(super) fn left(&self) -> Option<Duration> {
        let left = self.not_before?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    pub(super) fn set_back(&mut self) {
        let wait = FIRST.saturating_mul(1 << self.n_setbacks.min(16)).min(LONGEST);
        self.n_setbacks += 1;
        self.not_before = Some(Instant::now() + wait);
    }

    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }
}
