//! Patterns, matched by the engine that validates.

use std::collections::HashMap;

use super::super::budget::{Budget, Stop};
use crate::schema::Matcher;

/// How many compiled patterns are kept.
const MAX_KEPT: usize = 64;

/// The patterns that were compiled.
#[derive(Default)]
pub(super) struct Matchers(HashMap<String, Matcher>);

impl Matchers {
    /// Matches a text against a pattern.
    ///
    /// # Errors
    ///
    /// The budget is spent, or the pattern is too large.
    pub(super) fn is_match(&mut self, pattern: &str, text: &str, budget: &Budget) -> Result<bool, Stop> {
        if !self.0.contains_key(pattern) {
            // What a pattern takes to be compiled grows with its text, and faster.
            budget.spend(500 + 50 * pattern.len() as u64)?;
            if self.0.len() >= MAX_KEPT {
                self.0.clear();
            }
            let compiled = Matcher::compile(pattern).ok_or(Stop::Pattern)?;
            self.0.insert(pattern.to_owned(), compiled);
        }
        let compiled = &self.0[pattern];
        let per_byte = if compiled.is_hard() { 100 } else { 1 };
        budget.spend(10 + per_byte * text.len() as u64)?;
        Ok(compiled.is_match(text))
    }
}
