//! Matching of patterns by the engine of the validator.

use std::collections::HashMap;

use super::super::budget::{Budget, Undecided};
use crate::Matcher;

/// The maximum number of cached patterns.
const MAX_KEPT: usize = 64;

/// A cache of compiled patterns.
#[derive(Default)]
pub(super) struct Matchers(HashMap<String, Matcher>);

impl Matchers {
    /// Returns true if a pattern matches a text.
    ///
    /// # Errors
    ///
    /// Returns an error if the budget is exhausted or the pattern is too large.
    pub(super) fn is_match(&mut self, pattern: &str, text: &str, budget: &Budget) -> Result<bool, Undecided> {
        if !self.0.contains_key(pattern) {
            // The cost of compiling a pattern grows faster than linearly with its text.
            budget.spend(500 + 50 * pattern.len() as u64)?;
            if self.0.len() >= MAX_KEPT {
                self.0.clear();
            }
            let compiled = Matcher::compile(pattern).ok_or(Undecided::Pattern)?;
            self.0.insert(pattern.to_owned(), compiled);
        }
        let compiled = &self.0[pattern];
        let per_byte = if compiled.needs_backtracking() { 100 } else { 1 };
        budget.spend(10 + per_byte * text.len() as u64)?;
        Ok(compiled.is_match(text))
    }
}
