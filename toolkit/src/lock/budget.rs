//! The work that comparing schemas may take.

use std::cell::Cell;

/// The steps that comparing one pair of schemas may take. A step looks at one keyword, property or item of a schema.
pub(super) const STEPS_PER_PAIR: u64 = 250_000;

/// The steps that comparing two catalogs may take in all.
pub(super) const STEPS_IN_ALL: u64 = 20_000_000;

/// A number of steps, and how many of them are left.
pub(super) struct Budget {
    limit: u64,
    initial: u64,
    left: Cell<u64>,
}

/// The reason for which no answer was found in time.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stop {
    /// The budget is spent.
    Budget(u64),
    /// A pattern takes too much memory to be matched.
    Pattern,
}

impl Budget {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, initial: limit, left: Cell::new(limit) }
    }

    /// Creates the budget of one pair of schemas, as far as this one allows for it.
    pub(super) fn part(&self) -> Self {
        let left = self.left.get();
        let (limit, initial) =
            if left < STEPS_PER_PAIR { (self.limit, left) } else { (STEPS_PER_PAIR, STEPS_PER_PAIR) };
        Self { limit, initial, left: Cell::new(initial) }
    }

    /// Takes the steps that were spent of a part.
    pub(super) fn take(&self, part: &Self) {
        self.spend_up_to(part.initial - part.left.get());
    }

    /// Takes so many steps, or all that are left.
    pub(super) fn spend_up_to(&self, steps: u64) {
        self.left.set(self.left.get().saturating_sub(steps));
    }

    pub(super) fn left(&self) -> u64 {
        self.left.get()
    }

    /// # Errors
    ///
    /// The budget has fewer steps left; then it has none.
    pub(super) fn spend(&self, steps: u64) -> Result<(), Stop> {
        match self.left.get().checked_sub(steps) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                self.left.set(0);
                Err(Stop::Budget(self.limit))
            }
        }
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stop::Budget(limit) => {
                write!(f, "undecided: comparing these schemas exceeds the budget of {limit} steps")
            }
            Stop::Pattern => f.write_str("undecided: a pattern takes too much memory to be matched"),
        }
    }
}
