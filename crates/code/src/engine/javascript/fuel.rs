//! The steps and the time of a program.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::failure::{Failure, FailureKind};
use crate::limits::Limits;

/// The number of backward jumps and calls between two polls of QuickJS.
const STEPS_PER_POLL: u64 = 10_000;
/// The steps that a job counts. Between two polls, thousands of jobs may run.
const STEPS_PER_JOB: u64 = 10;
/// The bytes that the host reads or writes for a program in the time of a step.
const BYTES_PER_STEP: usize = 32;
/// The steps between two looks at the clock, apart from polls.
const STEPS_PER_LOOK: u64 = 1_000;

/// The count of what a program has used, and the reason why it must end.
pub(super) struct Fuel {
    limits: Limits,
    stop: Arc<AtomicBool>,
    steps: Cell<u64>,
    /// The steps at the last look at the clock.
    looked: Cell<u64>,
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
            looked: Cell::new(0),
            run_time: Cell::new(Duration::ZERO),
            resumed: Cell::new(None),
            ended: Cell::new(None),
        }
    }

    /// Counts the steps between two polls, and returns true if the program must end.
    pub(super) fn poll(&self) -> bool {
        self.count(STEPS_PER_POLL)
    }

    /// Counts a job, and returns true if the program must end.
    pub(super) fn job(&self) -> bool {
        self.count(STEPS_PER_JOB)
    }

    /// Counts what the host does for the program, which no poll interrupts, and returns true if the program must end.
    pub(super) fn work(&self, bytes: usize) -> bool {
        self.count((bytes / BYTES_PER_STEP) as u64)
    }

    fn count(&self, steps: u64) -> bool {
        self.steps.set(self.steps.get() + steps);
        if self.ended.get().is_none() && self.steps.get() - self.looked.get() >= STEPS_PER_LOOK {
            self.look();
        }
        self.ended.get().is_some()
    }

    fn look(&self) {
        self.looked.set(self.steps.get());
        let elapsed = self.resumed.get().map_or(Duration::ZERO, |resumed| resumed.elapsed());
        let kind = if self.stop.load(Ordering::Relaxed) {
            FailureKind::Cancelled
        } else if self.steps.get() > self.limits.steps {
            FailureKind::Steps
        } else if self.run_time.get() + elapsed > self.limits.run_time {
            FailureKind::Time
        } else {
            return;
        };
        self.ended.set(Some(kind));
    }

    /// Starts the clock.
    pub(super) fn resume(&self) {
        self.resumed.set(Some(Instant::now()));
        if self.ended.get().is_none() {
            self.look();
        }
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
                "the program exceeds {} steps: check for a loop that does not end, or work on less data",
                self.limits.steps
            ),
            FailureKind::Time => format!(
                "the program computes for longer than {:?}: check for a loop that does not end, or work on less data",
                self.limits.run_time
            ),
            _ => "the run was canceled".to_owned(),
        };
        Some(Failure::new(kind, message))
    }
}
