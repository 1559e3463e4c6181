//! Blocks of postings, with bounds for the scores in them.

use super::Posting;

/// The number of postings in a block.
const LEN: usize = 64;

/// The bounds of a block. They hold for every length normalization, since a score grows with the frequency of a word and
/// falls with the length of its tool.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    pub(crate) max_frequency: u16,
    pub(crate) min_length: u16,
}

/// The blocks of all postings of a segment. Adjacent terms share the block between them.
pub(super) struct Blocks(Box<[Block]>);

/// The postings of a term, in the order of the tools, with their blocks.
#[derive(Clone, Copy)]
pub(crate) struct Postings<'s> {
    all: &'s [Posting],
    blocks: &'s [Block],
    /// The number of postings in the first block.
    n_in_first: usize,
}

impl Blocks {
    pub(super) fn new(postings: &[Posting]) -> Self {
        let block = |postings: &[Posting]| Block {
            max_frequency: postings.iter().map(|posting| posting.frequency()).max().unwrap_or(0),
            min_length: postings.iter().map(|posting| posting.length).min().unwrap_or(u16::MAX),
        };
        Self(postings.chunks(LEN).map(block).collect())
    }

    /// Returns the postings from `start` to `end` with their blocks.
    pub(super) fn of<'s>(&'s self, postings: &'s [Posting], start: usize, end: usize) -> Postings<'s> {
        let blocks = if start < end { &self.0[start / LEN..=(end - 1) / LEN] } else { &[] };
        Postings { all: &postings[start..end], blocks, n_in_first: (LEN - start % LEN).min(end - start) }
    }
}

impl<'s> Postings<'s> {
    pub(crate) fn all(self) -> &'s [Posting] {
        self.all
    }

    /// Returns the blocks with their postings.
    pub(crate) fn blocks(self) -> impl Iterator<Item = (Block, &'s [Posting])> {
        let (first, rest) = self.all.split_at(self.n_in_first);
        let postings = std::iter::once(first).chain(rest.chunks(LEN));
        self.blocks.iter().copied().zip(postings)
    }

    /// Returns the bounds of the blocks.
    pub(crate) fn bounds(self) -> impl Iterator<Item = Block> {
        self.blocks.iter().copied()
    }
}
