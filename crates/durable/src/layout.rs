//! The places of a step in the record of its run.
//!
//! The engine numbers the entries of a run in the order in which they are created. All entries that a step may need are
//! created together, and those of the steps in the order of the chain: their numbers then do not depend on the order in
//! which parallel steps end.

/// The name of the workflow that runs a chain.
pub(crate) const WORKFLOW: &str = "toolkit.chain";

/// The name of the queue of runs.
pub(crate) const QUEUE: &str = "toolkit.runs";

/// The number of attempts to run a step, each but the first after a decision.
pub(crate) const MAX_ATTEMPTS: usize = 8;

/// The number of entries of one attempt: the guard, the result, and two for the decision.
const ENTRIES: usize = 4;

/// An attempt to run a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) step: usize,
    /// The number of the attempt, from 0.
    pub(crate) attempt: usize,
}

/// An entry of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Guard,
    Result,
    Decision,
}

impl Place {
    /// Returns the number of an entry in the record of the run.
    pub(crate) fn number(self, entry: Entry) -> i32 {
        let number = (self.step * MAX_ATTEMPTS + self.attempt) * ENTRIES + entry as usize;
        i32::try_from(number).unwrap_or(i32::MAX)
    }

    /// Returns the place of an entry. Returns `None` for the deadline of a decision.
    pub(crate) fn find(number: i32) -> Option<(Self, Entry)> {
        let number = usize::try_from(number).ok()?;
        let (attempts, entry) = (number / ENTRIES, number % ENTRIES);
        let entry = [Entry::Guard, Entry::Result, Entry::Decision].into_iter().nth(entry)?;
        Some((Self { step: attempts / MAX_ATTEMPTS, attempt: attempts % MAX_ATTEMPTS }, entry))
    }

    pub(crate) fn guard_name(self) -> String {
        format!("step {} attempt {}", self.step, self.attempt + 1)
    }

    pub(crate) fn result_name(self) -> String {
        format!("step {} result {}", self.step, self.attempt + 1)
    }

    /// Returns the topic of the decision after this attempt.
    pub(crate) fn topic(self) -> String {
        format!("step {} decision {}", self.step, self.attempt + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_found_by_its_number() {
        for (step, attempt) in [(0, 0), (0, 7), (3, 2), (63, 7)] {
            let place = Place { step, attempt };
            for entry in [Entry::Guard, Entry::Result, Entry::Decision] {
                assert_eq!(Place::find(place.number(entry)), Some((place, entry)));
            }
            assert_eq!(Place::find(place.number(Entry::Decision) + 1), None);
        }
        assert_eq!(Place::find(-1), None);
    }
}
