//! An immutable inverted index of some tools.

mod assemble;
mod blocks;
mod build;
mod groups;
mod merge;
mod words;

use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use self::blocks::Blocks;
pub(super) use self::blocks::{Block, Postings};
pub(super) use self::build::{build, length_of};
use self::groups::Groups;
pub(super) use self::merge::merge;
use super::record::Record;

/// Tools in the order of their ids, with their words.
pub(super) struct Segment {
    pub(super) records: Box<[Arc<Record>]>,
    /// The weighted number of words of each tool.
    pub(super) lengths: Box<[u16]>,
    /// Words as they are written; `partner` is the stem.
    pub(super) words: Terms,
    /// Stems. A stem with a single form shares the postings of its word.
    pub(super) stems: Terms,
    postings: Box<[Posting]>,
    blocks: Blocks,
    /// The distinct stems of each tool's name.
    name_stems: Groups,
    /// The tools with each stem in their names, in ascending order.
    named: Groups,
    /// The words in names, sorted by text.
    pub(super) name_words: Box<[u32]>,
}

/// An occurrence of a word in a tool. It contains all data for the score, since postings are read sequentially.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Posting {
    pub(super) doc: u32,
    /// The weighted number of occurrences, and [`IN_NAME`].
    frequency: u16,
    /// The weighted number of words of the tool.
    pub(super) length: u16,
}

/// The bit that is set if the word is in the name of the tool.
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

    /// Adds the occurrences of another form of the word in the same tool.
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

    /// Returns the postings of a term in blocks.
    #[inline]
    pub(super) fn blocks(&self, term: &Term) -> Postings<'_> {
        self.blocks.of(&self.postings, term.start as usize, term.end as usize)
    }

    /// Returns the stems of a tool's name.
    #[inline]
    pub(super) fn name_stems(&self, doc: u32) -> &[u32] {
        self.name_stems.get(doc)
    }

    /// Returns the tools with a stem in their names, in ascending order.
    #[inline]
    pub(super) fn named(&self, stem: u32) -> &[u32] {
        self.named.get(stem)
    }

    /// Returns the tool with an id, whether it is live or not.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        self.records.binary_search_by(|record| record.id().cmp(id)).ok()
    }
}

/// Words or stems with an index by text.
#[derive(Default)]
pub(super) struct Terms {
    table: HashTable<u32>,
    hasher: RandomState,
    terms: Vec<Term>,
    texts: String,
}

/// A word or stem.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    text: (u32, u32),
    start: u32,
    end: u32,
    /// The stem of a word.
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

    /// Returns the position of a text; a new one is appended without postings.
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

    /// Returns all terms in the order of their positions.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Term)> {
        self.terms.iter().map(|term| (self.text_of(term), term))
    }
}

/// Converts a position. Memory would run out before a segment reached 2^32 of anything.
fn place(len: usize) -> u32 {
    u32::try_from(len).expect("a segment holds fewer than 2^32 of anything")
}
