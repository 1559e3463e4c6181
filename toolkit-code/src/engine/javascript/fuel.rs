//! The steps and the time of a program.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::failure::{Failure, FailureKind};
use crate::limits::Limits;

/// The number of backward jumps and calls between two polls of QuickJS.
const STEPS_PER_POLL: u64 = 10_000;
/// The number of jobs between two looks at the clock.
const JOBS_PER_LOOK: u64 = 64;

/// The count of what a program has used, and the reason why it must end.
pub(super) struct Fuel {
    limits: Limits,
    stop: Arc<AtomicBool>,
    steps: Cell<u64>,
    run_time: Cell<Duration>,
    resumed: Cell<Option<Instant>>,
    ended: Cell<Option<FailureKind>>,
}

impl Fuel {
    pub(super) fn new(limits: Limits, stop: Arc<AtomicBool>) -> Self {
        Self {
            limits,
            stop,
            steps: Cell::new(0),
            run_time: Cell::new(Duration::ZERO),
            resumed: Cell::new(None),
            ended: Cell::new(None),
        }
    }

    /// Counts the steps between two polls, and returns true if the program must end.
    pub(super) fn poll(&self) -> bool {
        self.steps.set(self.steps.get() + STEPS_PER_POLL);
        self.look()
    }

    /// Counts a job, and returns true if the program must end.
    pub(super) fn job(&self) -> bool {
        let steps = self.steps.get() + 1;
        self.steps.set(steps);
        steps.is_multiple_of(JOBS_PER_LOOK) && self.look() || self.ended.get().is_some()
    }

    fn look(&self) -> bool {
        if self.ended.get().is_none() {
            let elapsed = self.resumed.get().map_or(Duration::ZERO, |resumed| resumed.elapsed());
            if self.steps.get() > self.limits.steps {
                self.ended.set(Some(FailureKind::Steps));
            } else if self.stop.load(Ordering::Relaxed) {
                self.ended.set(Some(FailureKind::Cancelled));
            } else if self.run_time.get() + elapsed > self.limits.run_time {
                self.ended.set(Some(FailureKind::Time));
            }
        }
        self.ended.get().is_some()
    }

    /// Starts the clock.
    pub(super) fn resume(&self) {
        self.resumed.set(Some(Instant::now()));
        self.look();
    }

    /// Stops the clock.
    pub(super) fn pause(&self) {
        if let Some(resumed) = self.resumed.take() {
            self.run_time.set(self.run_time.get() + resumed.elapsed());
        }
    }

    pub(super) fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// Returns why the program must end.
    pub(super) fn failure(&self) -> Option<Failure> {
        let kind = self.ended.get()?;
        let message = match kind {
            FailureKind::Steps => format!(
                "the program exceeded {} steps: check for loops that do not end, or work on less data",
                self.limits.steps
            ),
            FailureKind::Time => format!(
                "the program computed for longer than {:?}: check for loops that do not end, or work on less data",
                self.limits.run_time
            ),
            _ => "the run was canceled".to_owned(),
        };
        Some(Failure::new(kind, message))
    }
}
