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

mod arrays;
mod assume;
mod children;
mod document;
mod empty;
mod facts;
mod goal;
mod leaf;
mod number;
mod objects;
mod pattern;
mod same;
mod split;
mod types;

use std::collections::HashMap;

use serde_json::Value;

pub(super) use self::document::Document;
use self::document::Node;
use self::facts::{Facts, Key};
use self::pattern::Matchers;
use super::budget::{Budget, Undecided};

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

pub(super) struct Prover<'s, 'b> {
    documents: [Document<'s>; 2],
    budget: &'b Budget,
    matchers: Matchers,
    /// The goals that are being proven, with the level of the value at which they were opened.
    open: Vec<(Key, usize)>,
    /// The results that do not depend on an open goal.
    known: HashMap<Key, bool>,
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

    /// Proves that the schema `goal` of one document accepts every value that the schema `given` of the other accepts.
    /// Both are parts of their documents.
    pub(super) fn accepts_all(&mut self, goal: (usize, &'s Value), given: (usize, &'s Value)) -> Proof {
        let node = |(document, schema)| Node { schema, document };
        let (goal, given) = (node(goal), node(given));
        self.unproven = None;
        self.open.clear();
        (self.level, self.depth) = (0, 0);
        if !self.documents.iter().all(|document| document.is_tractable) {
            // References other than pointers are not followed, so only documents with equal text are known to be
            // equivalent.
            let [a, b] = [&self.documents[0], &self.documents[1]];
            let is_whole = std::ptr::eq(goal.schema, self.documents[goal.document].root)
                && std::ptr::eq(given.schema, self.documents[given.document].root);
            return Ok(is_whole && a.dialect == b.dialect && same::text(a.root, b.root, self.budget)?);
        }
        let mut facts = Facts::any();
        self.assume(&mut facts, given)?;
        self.entails(&facts, goal)
    }

    /// Returns the first keyword at which the last proof failed.
    pub(super) fn unproven(&self) -> Option<&str> {
        self.unproven.as_deref()
    }
}
