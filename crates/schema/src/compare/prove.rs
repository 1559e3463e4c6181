//! Proofs that one schema accepts every value that another one accepts.
//!
//! A proof shows that *facts* about a value entail a *goal*. The facts are the assertions of a schema about the value,
//! or about a location inside it. The goal is proven keyword by keyword. If the facts allow several cases (`anyOf`,
//! several types), each case must entail the goal. A keyword without a rule here is not proven. Therefore proofs are
//! sound but not complete: whatever is proven holds, and what is not proven may also hold.
//!
//! Each schema is interpreted by its own dialect and within its own document. As in validation, annotations (including
//! `format` and the content keywords) are neither facts nor goals.
//!
//! Recursive schemas are compared by induction on the size of the value: a goal that recurs for the same facts after a
//! step into the value holds there.
//!
//! | module | contents |
//! |---|---|
//! | `goal` | the entry, and proofs of goals keyword by keyword |
//! | `containers`, `leaf`, `number` | goals about arrays and objects, about known values and lengths, about numbers |
//! | `empty` | facts that hold for no value, which entail every goal |
//! | `facts` | documents, the schemas in them, and facts about a value |
//! | `assume` | schemas as facts, and the cases of facts |
//! | `children` | facts about the values inside a value |
//! | `same` | schemas and documents with the same keywords |
//! | this file | the state that all of them share: budget, open goals, results |

mod assume;
mod children;
mod containers;
mod empty;
mod facts;
mod goal;
mod leaf;
mod number;
mod same;

use std::collections::HashMap;

pub(super) use self::facts::Document;
use self::facts::ProofKey;
pub(super) use self::goal::accepts_all;
use super::budget::{Budget, Undecided};
use crate::patterns::Matcher;

/// The result of a proof attempt. True if it succeeds.
type Proof = Result<bool, Undecided>;

/// The maximum depth of a proof, on a stack of [`STACK`] bytes and on any other.
const MAX_DEPTH: usize = 512;
const MAX_SHALLOW_DEPTH: usize = 24;
/// The stack size of a thread that compares schemas.
pub(super) const STACK: usize = 64 << 20;
/// The maximum number of cached results.
const MAX_KNOWN: usize = 20_000;
/// The maximum number of facts in the key of a cached result.
const MAX_KEY: usize = 16;

/// The size of the current stack: `Large` for at least [`STACK`] bytes.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Stack {
    Large,
    Unknown,
}

/// The state of the proofs for two documents.
pub(super) struct Prover<'s, 'b> {
    documents: [Document<'s>; 2],
    budget: &'b Budget,
    matchers: Matchers,
    /// The goals that are being proven, with the level of the value at which they were opened.
    open: Vec<(ProofKey, usize)>,
    /// The results that do not depend on an open goal.
    known: HashMap<ProofKey, bool>,
    /// The lowest index in `open` that was used since the last reset.
    lowest_used: usize,
    level: usize,
    depth: usize,
    max_depth: usize,
    /// The first keyword that was not proven.
    unproven: Option<String>,
}

impl<'s, 'b> Prover<'s, 'b> {
    pub(super) fn new(documents: [Document<'s>; 2], budget: &'b Budget, stack: Stack) -> Self {
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
    pub(super) fn unproven(&self) -> Option<&str> {
        self.unproven.as_deref()
    }
}

/// The maximum number of cached patterns.
const MAX_KEPT: usize = 64;

/// A cache of compiled patterns.
#[derive(Default)]
struct Matchers(HashMap<String, Matcher>);

impl Matchers {
    /// Returns true if a pattern matches a text.
    ///
    /// # Errors
    ///
    /// Returns an error if the budget is exhausted or the pattern is too large.
    fn is_match(&mut self, pattern: &str, text: &str, budget: &Budget) -> Result<bool, Undecided> {
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
