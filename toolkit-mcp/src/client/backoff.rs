//! How long to wait before a server that could not be reached is tried again.

use std::time::Duration;

use tokio::time::Instant;

/// How long to wait before a server that could not be reached is tried again: twice as long each time.
#[derive(Default)]
pub(super) struct Backoff {
    n_setbacks: u32,
    not_before: Option<Instant>,
    lifted_at: Option<Instant>,
}

const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(30);
/// How long things must go well before setbacks are forgotten.
const FORGOTTEN: Duration = Duration::from_secs(300);

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

    /// Says that it went well this time. What goes well again and again, but never for long, is still waited for longer
    /// each time.
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
