//! The prover: two documents, the goals that are open, and the results so far.

use std::collections::HashMap;

use serde_json::Value;

use super::super::budget::{Budget, Undecided};
use super::document::{Document, Node};
use super::facts::{Facts, Key};
use super::pattern::Matchers;
use super::text;

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

    /// Proves that the schema `goal` of one document accepts every value that the schema `given` of the other accepts.
    /// Both are parts of their documents.
    pub(in crate::compare) fn accepts_all(&mut self, goal: (usize, &'s Value), given: (usize, &'s Value)) -> Proof {
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
            return Ok(is_whole && a.dialect == b.dialect && text::is_same(a.root, b.root, self.budget)?);
        }
        let mut facts = Facts::any();
        self.assume(&mut facts, given)?;
        self.entails(&facts, goal)
    }

    /// Returns the first keyword at which the last proof failed.
    pub(in crate::compare) fn unproven(&self) -> Option<&str> {
        self.unproven.as_deref()
    }
}
