//! Budgets for comparing schemas.

use std::cell::Cell;

/// The number of steps for comparing one pair of schemas. A step visits one keyword, property or item of a schema.
pub(super) const STEPS_PER_PAIR: u64 = 250_000;

/// The number of steps for comparing two catalogs.
pub(super) const TOTAL_STEPS: u64 = 20_000_000;

/// A budget of steps.
pub(super) struct Budget {
    limit: u64,
    initial: u64,
    left: Cell<u64>,
}

/// The reason why a comparison stopped without an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Undecided {
    /// The budget is exhausted.
    Budget(u64),
    /// A pattern exceeds the memory limit of the engine.
    Pattern,
}

impl Budget {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, initial: limit, left: Cell::new(limit) }
    }

    /// Creates the budget of one pair of schemas, limited by what is left of this one.
    pub(super) fn part(&self) -> Self {
        let left = self.left.get();
        let (limit, initial) =
            if left < STEPS_PER_PAIR { (self.limit, left) } else { (STEPS_PER_PAIR, STEPS_PER_PAIR) };
        Self { limit, initial, left: Cell::new(initial) }
    }

    /// Deducts the steps that were spent from a part.
    pub(super) fn deduct(&self, part: &Self) {
        self.spend_up_to(part.initial - part.left.get());
    }

    /// Deducts the given number of steps, or all that are left.
    pub(super) fn spend_up_to(&self, steps: u64) {
        self.left.set(self.left.get().saturating_sub(steps));
    }

    pub(super) fn left(&self) -> u64 {
        self.left.get()
    }

    /// Deducts the given number of steps.
    ///
    /// # Errors
    ///
    /// Returns an error if fewer steps are left. The budget is exhausted afterwards.
    pub(super) fn spend(&self, steps: u64) -> Result<(), Undecided> {
        match self.left.get().checked_sub(steps) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                self.left.set(0);
                Err(Undecided::Budget(self.limit))
            }
        }
    }
}

impl std::fmt::Display for Undecided {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Undecided::Budget(limit) => {
                write!(f, "undecided: comparing these schemas exceeds the budget of {limit} steps")
            }
            Undecided::Pattern => f.write_str("undecided: a pattern needs too much memory"),
        }
    }
}
