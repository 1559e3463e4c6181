//! An immutable part of the index: for each word, which tools have it.

mod assemble;
mod build;
mod groups;
mod merge;
mod words;

use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

pub(super) use self::build::{build, length_of};
use self::groups::Groups;
pub(super) use self::merge::merge;
use super::record::Record;

/// Tools in the order of their ids, and their words.
pub(super) struct Segment {
    pub(super) records: Box<[Arc<Record>]>,
    /// How many words each tool has, weighted.
    pub(super) lengths: Box<[u16]>,
    /// Words as they are written; `partner` is the stem of each.
    pub(super) words: Terms,
    /// Stems. Where a stem has one form only, the two share their postings.
    pub(super) stems: Terms,
    postings: Box<[Posting]>,
    /// For each tool the stems of its name, each once.
    name_stems: Groups,
    /// For each stem the tools that have it in their names, in ascending order.
    named: Groups,
    /// Words that stand in names, in their own order.
    pub(super) name_words: Box<[u32]>,
}

/// That a tool has a word. All that a score takes is in one place: the postings of a word are read one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Posting {
    pub(super) doc: u32,
    /// How often, weighted; and [`IN_NAME`].
    frequency: u16,
    /// How many words the tool has.
    pub(super) length: u16,
}

/// Set where the word stands in the tool's name.
const IN_NAME: u16 = 1 << 15;

impl Posting {
    fn new(doc: u32, frequency: u16, is_in_name: bool, length: u16) -> Self {
        let frequency = frequency.min(IN_NAME - 1);
        Self { doc, frequency: if is_in_name { frequency | IN_NAME } else { frequency }, length }
    }

    #[inline]
    pub(super) fn frequency(self) -> u16 {
        self.frequency & !IN_NAME
    }

    /// Counts another form of the word in the same tool.
    fn add(&mut self, other: Self) {
        let frequency = self.frequency() + other.frequency();
        *self = Self::new(self.doc, frequency, self.is_in_name() || other.is_in_name(), self.length);
    }

    #[inline]
    pub(super) fn is_in_name(self) -> bool {
        self.frequency & IN_NAME != 0
    }
}

impl Segment {
    #[inline]
    pub(super) fn postings(&self, term: &Term) -> &[Posting] {
        &self.postings[term.start as usize..term.end as usize]
    }

    /// The stems of a tool's name.
    #[inline]
    pub(super) fn name_stems(&self, doc: u32) -> &[u32] {
        self.name_stems.get(doc)
    }

    /// The tools that have a stem in their names, in ascending order.
    #[inline]
    pub(super) fn named(&self, stem: u32) -> &[u32] {
        self.named.get(stem)
    }

    /// The tool of this id, dead or alive.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        self.records.binary_search_by(|record| record.id().cmp(id)).ok()
    }
}

/// Words or stems by their text.
#[derive(Default)]
pub(super) struct Terms {
    table: HashTable<u32>,
    hasher: RandomState,
    terms: Vec<Term>,
    texts: String,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    text: (u32, u32),
    start: u32,
    end: u32,
    /// Of a word, its stem.
    pub(super) partner: u32,
}

impl Terms {
    fn with_capacity(n_terms: usize) -> Self {
        Self { table: HashTable::with_capacity(n_terms), terms: Vec::with_capacity(n_terms), ..Self::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    pub(super) fn get(&self, idx: u32) -> &Term {
        &self.terms[idx as usize]
    }

    pub(super) fn text(&self, idx: u32) -> &str {
        self.text_of(&self.terms[idx as usize])
    }

    fn text_of(&self, term: &Term) -> &str {
        &self.texts[term.text.0 as usize..term.text.1 as usize]
    }

    pub(super) fn find(&self, text: &str) -> Option<u32> {
        let is_same = |idx: &u32| self.text(*idx) == text;
        self.table.find(self.hasher.hash_one(text), is_same).copied()
    }

    /// The place of a text; a new one is the last, and has no postings yet.
    fn add(&mut self, text: &str) -> u32 {
        let hash = self.hasher.hash_one(text);
        if let Some(idx) = self.table.find(hash, |idx| self.text(*idx) == text) {
            return *idx;
        }
        let idx = place(self.terms.len());
        let start = place(self.texts.len());
        self.texts.push_str(text);
        self.terms.push(Term { text: (start, place(self.texts.len())), start: 0, end: 0, partner: 0 });
        let Self { table, hasher, terms, texts } = self;
        let rehash = |idx: &u32| {
            let (start, end) = terms[*idx as usize].text;
            hasher.hash_one(&texts[start as usize..end as usize])
        };
        table.insert_unique(hash, idx, rehash);
        idx
    }

    /// All of them, in the order of their places.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Term)> {
        self.terms.iter().map(|term| (self.text_of(term), term))
    }
}

/// A place in an index. Four thousand million words of tools would not fit into memory before.
fn place(len: usize) -> u32 {
    u32::try_from(len).expect("a segment holds fewer than 2^32 of anything")
}
