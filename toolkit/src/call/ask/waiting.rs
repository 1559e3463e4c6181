//! The time that a call waits for its user.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time during which at least one question of a call was open.
#[derive(Debug, Default)]
pub(crate) struct Waiting(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    n_open: usize,
    /// The time at which the first of the open questions was asked.
    since: Option<Instant>,
    total: Duration,
}

impl Waiting {
    /// Counts a question as open until the guard is dropped.
    pub(crate) fn begin(&self) -> Open<'_> {
        let mut state = self.state();
        if state.n_open == 0 {
            state.since = Some(Instant::now());
        }
        state.n_open += 1;
        Open(self)
    }

    /// Returns the time until now.
    pub(crate) fn total(&self) -> Duration {
        let state = self.state();
        state.total + state.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open question.
#[derive(Debug)]
pub(crate) struct Open<'w>(&'w Waiting);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.n_open -= 1;
        if state.n_open == 0
            && let Some(since) = state.since.take()
        {
            state.total += since.elapsed();
        }
    }
}
