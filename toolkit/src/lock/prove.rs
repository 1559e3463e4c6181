//! Proofs that every value that one schema accepts is accepted by another.
//!
//! A proof shows that *facts*, which hold for a value, entail a *goal*. The facts are what a schema asserts and, at a
//! place within the value, what it asserts of that place. The goal is proven keyword by keyword. Where the facts allow
//! for several cases (`anyOf`, several types), each case has to entail the goal. A keyword without a rule here is not
//! proven, so what is proven holds, and what is not proven may hold all the same.
//!
//! Each schema is read by the rules of its own dialect and of its own document. Annotations, `format` and the content
//! keywords among them, are neither facts nor goals, as in validation.
//!
//! Recursive schemas are compared by induction on the size of the value: a goal that comes up again for the same facts
//! after a step into the value holds there.

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
use super::budget::{Budget, Stop};

/// The result of an attempt at a proof: true if it succeeds.
type Proof = Result<bool, Stop>;

/// How deep a proof may go on a stack of [`STACK`] bytes, and on any other.
const MAX_DEPTH: usize = 512;
const MAX_SHALLOW_DEPTH: usize = 24;
/// The stack of a thread that compares schemas.
pub(super) const STACK: usize = 64 << 20;
/// How many answers are kept.
const MAX_KNOWN: usize = 20_000;
/// How many facts a kept answer may have.
const MAX_KEY: usize = 16;

/// True if the thread has a stack of [`STACK`] bytes.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Stack {
    Large,
    Unknown,
}

pub(super) struct Prover<'s, 'b> {
    documents: [Document<'s>; 2],
    budget: &'b Budget,
    matchers: Matchers,
    /// The goals that are being proven, with the level of the value at which they came up.
    open: Vec<(Key, usize)>,
    /// The answers that depend on no open goal.
    known: HashMap<Key, bool>,
    /// The lowest place in `open` that was used since it was last reset.
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

    /// Proves that the schema `goal` of one document accepts all that the schema `given` of the other one does. Both
    /// are parts of their documents.
    pub(super) fn accepts_all(&mut self, goal: (usize, &'s Value), given: (usize, &'s Value)) -> Proof {
        let node = |(document, schema)| Node { schema, document };
        let (goal, given) = (node(goal), node(given));
        self.unproven = None;
        self.open.clear();
        (self.level, self.depth) = (0, 0);
        if !self.documents.iter().all(|document| document.is_tractable) {
            // Names other than pointers are not followed, so only a document of the same text is known to be the same.
            let [a, b] = [&self.documents[0], &self.documents[1]];
            let is_whole = std::ptr::eq(goal.schema, self.documents[goal.document].root)
                && std::ptr::eq(given.schema, self.documents[given.document].root);
            return Ok(is_whole && a.dialect == b.dialect && same::text(a.root, b.root, self.budget)?);
        }
        let mut facts = Facts::any();
        self.assume(&mut facts, given)?;
        self.entails(&facts, goal)
    }

    /// Returns the first keyword that the last proof failed at.
    pub(super) fn unproven(&self) -> Option<&str> {
        self.unproven.as_deref()
    }
}
