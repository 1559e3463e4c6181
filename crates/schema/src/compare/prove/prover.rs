//! The state of the proofs for two documents: the goals that are open, and the results so far.

use std::collections::HashMap;

use super::super::budget::{Budget, Undecided};
use super::facts::{Document, Key};
use crate::Matcher;

/// The result of a proof attempt. True if it succeeds.
pub(super) type Proof = Result<bool, Undecided>;

/// The maximum depth of a proof, on a stack of [`STACK`] bytes and on any other.
const MAX_DEPTH: usize = 512;
const MAX_SHALLOW_DEPTH: usize = 24;
/// The stack size of a thread that compares schemas.
pub(in crate::compare) const STACK: usize = 64 << 20;
/// The maximum number of cached results.
pub(super) const MAX_KNOWN: usize = 20_000;
/// The maximum number of facts in the key of a cached result.
pub(super) const MAX_KEY: usize = 16;

/// The size of the current stack: `Large` for at least [`STACK`] bytes.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::compare) enum Stack {
    Large,
    Unknown,
}

/// The state of the proofs for two documents.
pub(in crate::compare) struct Prover<'s, 'b> {
    pub(super) documents: [Document<'s>; 2],
    pub(super) budget: &'b Budget,
    pub(super) matchers: Matchers,
    /// The goals that are being proven, with the level of the value at which they were opened.
    pub(super) open: Vec<(Key, usize)>,
    /// The results that do not depend on an open goal.
    pub(super) known: HashMap<Key, bool>,
    /// The lowest index in `open` that was used since the last reset.
    pub(super) lowest_used: usize,
    pub(super) level: usize,
    pub(super) depth: usize,
    pub(super) max_depth: usize,
    /// The first keyword that was not proven.
    pub(super) unproven: Option<String>,
}

impl<'s, 'b> Prover<'s, 'b> {
    pub(in crate::compare) fn new(documents: [Document<'s>; 2], budget: &'b Budget, stack: Stack) -> Self {
        Self {
            documents,
            budget,
            matchers: Matchers::default(),
            open: Vec::new(),
            known: HashMap::new(),
            lowest_used: usize::MAX,
            level: 0,
            depth: 0,
            max_depth: if stack == Stack::Large { MAX_DEPTH } else { MAX_SHALLOW_DEPTH },
            unproven: None,
        }
    }

    /// Returns the first keyword at which the last proof failed.
    pub(in crate::compare) fn unproven(&self) -> Option<&str> {
        self.unproven.as_deref()
    }
}

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
