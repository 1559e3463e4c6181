//! An immutable inverted index of some tools, built from tools or merged from two segments, and its serialization.

mod assemble;
mod build;
mod merge;
mod saved_words;

use std::sync::Arc;

pub(crate) use self::build::{build, length_of};
pub(crate) use self::merge::merge;
pub(crate) use self::saved_words::{put_words, take_words};
use crate::lists::Lists;
pub(super) use crate::lists::{BLOCK_LEN, Block, List, Order, Term, Terms};
use crate::record::Record;
use crate::words::Shape;

/// Tools with their words.
pub(super) struct Segment {
    /// The tools in the order of their ids.
    pub(super) records: Box<[Arc<Record>]>,
    /// The order of the tools in the lists.
    pub(super) order: Order,
    /// Words as they are written; `partner` is the stem.
    pub(super) words: Terms,
    /// Stems. A stem with a single form shares the lists of its word.
    pub(super) stems: Terms,
    /// The tools with each word in their names.
    pub(super) named: Lists,
    /// The other tools with each word.
    pub(super) others: Lists,
    /// The words in names, sorted by text.
    pub(super) name_words: Box<[u32]>,
    pub(super) name_shapes: Box<[Shape]>,
    /// The stems in names, sorted by text.
    pub(super) name_stems: Box<[u32]>,
}

impl Segment {
    /// Returns the tool with an id, whether it is live or not.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        self.records.binary_search_by(|record| record.cmp_id(id)).ok()
    }
}
