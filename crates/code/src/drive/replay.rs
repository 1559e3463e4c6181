//! Answers of an earlier run of the same program.

use std::collections::{HashSet, VecDeque};

use crate::engine::Call;
use crate::failure::{Failure, FailureKind};
use crate::journal::Entry;

/// The answers that the program gets again, in their order.
pub(super) struct Replay {
    entries: VecDeque<Entry>,
    /// The ids of the calls that the program has made again.
    made: HashSet<u32>,
}

impl Replay {
    pub(super) fn new(entries: Vec<Entry>) -> Self {
        Self { entries: entries.into(), made: HashSet::new() }
    }

    /// Keeps the calls that have an answer, and returns the others.
    ///
    /// # Errors
    ///
    /// Returns an error if the program makes another call than in the earlier run.
    pub(super) fn new_calls(&mut self, calls: Vec<Call>) -> Result<Vec<Call>, Failure> {
        if self.entries.is_empty() {
            return Ok(calls);
        }
        let mut new = Vec::new();
        for call in calls {
            match self.entries.iter().find(|entry| entry.answer.id == call.id) {
                Some(entry) if entry.answers(&call) => {
                    self.made.insert(call.id);
                }
                Some(_) => return Err(differs()),
                None => new.push(call),
            }
        }
        Ok(new)
    }

    /// Returns the next answer, or `None` after the last one.
    ///
    /// # Errors
    ///
    /// Returns an error if the program has not made its call.
    pub(super) fn next(&mut self) -> Result<Option<Entry>, Failure> {
        let Some(entry) = self.entries.pop_front() else { return Ok(None) };
        if self.made.remove(&entry.answer.id) { Ok(Some(entry)) } else { Err(differs()) }
    }
}

fn differs() -> Failure {
    Failure::new(FailureKind::Violation, "the journal is not that of this program: it makes other calls")
}
