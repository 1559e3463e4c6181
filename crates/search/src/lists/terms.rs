//! Words or stems, with an index by text.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::{Span, place};

/// Words or stems with an index by text.
#[derive(Default)]
pub(crate) struct Terms {
    table: HashTable<u32>,
    hasher: RandomState,
    pub(crate) terms: Vec<Term>,
    texts: String,
}

/// A word or stem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    text: (u32, u32),
    /// The tools with the term in their names.
    pub(crate) named: Span,
    /// The other tools with the term.
    pub(crate) others: Span,
    /// The stem of a word.
    pub(crate) partner: u32,
}

impl Term {
    /// Returns the number of tools with the term.
    pub(crate) fn n_docs(&self) -> usize {
        self.named.len() + self.others.len()
    }
}

impl Terms {
    pub(crate) fn with_capacity(n_terms: usize) -> Self {
        Self { table: HashTable::with_capacity(n_terms), terms: Vec::with_capacity(n_terms), ..Self::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.terms.len()
    }

    pub(crate) fn get(&self, idx: u32) -> &Term {
        &self.terms[idx as usize]
    }

    pub(crate) fn text(&self, idx: u32) -> &str {
        self.text_of(&self.terms[idx as usize])
    }

    fn text_of(&self, term: &Term) -> &str {
        &self.texts[term.text.0 as usize..term.text.1 as usize]
    }

    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        let is_same = |idx: &u32| self.text(*idx) == text;
        self.table.find(self.hasher.hash_one(text), is_same).copied()
    }

    /// Returns the position of a text; a new one is appended without tools.
    pub(crate) fn add(&mut self, text: &str) -> u32 {
        let hash = self.hasher.hash_one(text);
        if let Some(idx) = self.table.find(hash, |idx| self.text(*idx) == text) {
            return *idx;
        }
        let idx = place(self.terms.len());
        let start = place(self.texts.len());
        self.texts.push_str(text);
        let text = (start, place(self.texts.len()));
        self.terms.push(Term { text, named: Span::default(), others: Span::default(), partner: 0 });
        let Self { table, hasher, terms, texts } = self;
        let rehash = |idx: &u32| {
            let (start, end) = terms[*idx as usize].text;
            hasher.hash_one(&texts[start as usize..end as usize])
        };
        table.insert_unique(hash, idx, rehash);
        idx
    }

    pub(crate) fn shrink(&mut self) {
        self.terms.shrink_to_fit();
        self.texts.shrink_to_fit();
    }

    /// Returns all terms in the order of their positions.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Term)> {
        self.terms.iter().map(|term| (self.text_of(term), term))
    }

    /// Returns the terms that a name contains, sorted by text.
    pub(crate) fn in_names(&self) -> Box<[u32]> {
        let is_in_name = |idx: &u32| self.get(*idx).named.len() > 0;
        let mut found: Vec<u32> = (0..place(self.len())).filter(is_in_name).collect();
        found.sort_unstable_by_key(|idx| self.text(*idx));
        found.into()
    }
}
