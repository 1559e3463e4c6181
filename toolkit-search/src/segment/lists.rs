//! Lists of tools, with bounds for the scores in them.

use super::place::place;

/// The number of tools in a block.
pub(crate) const BLOCK_LEN: usize = 64;

/// The maximum number of occurrences that is stored.
pub(super) const MAX_FREQUENCY: u16 = u16::MAX >> 1;

/// The lists of all words of a segment, one after another.
#[derive(Default)]
pub(crate) struct Lists {
    docs: Vec<u32>,
    frequencies: Vec<u16>,
    blocks: Vec<Block>,
}

/// The position of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
    /// The first block.
    pub(super) block: u32,
}

/// The bounds of a block. They hold for every length normalization, since a score grows with the frequency of a word and
/// falls with the length of its tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) max_frequency: u16,
    pub(crate) min_length: u16,
}

/// The tools with a word, in ascending order.
#[derive(Clone, Copy)]
pub(crate) struct List<'s> {
    pub(crate) docs: &'s [u32],
    /// The weighted number of occurrences in each tool.
    pub(crate) frequencies: &'s [u16],
    pub(crate) blocks: &'s [Block],
}

impl Span {
    #[inline]
    pub(crate) fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Returns the range of the blocks.
    #[inline]
    pub(crate) fn blocks(self) -> std::ops::Range<usize> {
        let start = self.block as usize;
        start..start + self.len().div_ceil(BLOCK_LEN)
    }
}

impl Lists {
    /// Creates lists of this total length, whose elements are set later.
    pub(super) fn zeroed(n_docs: usize) -> Self {
        Self { docs: vec![0; n_docs], frequencies: vec![0; n_docs], blocks: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.docs.len()
    }

    #[inline]
    pub(super) fn push(&mut self, doc: u32, frequency: u16) {
        self.docs.push(doc);
        self.frequencies.push(frequency.min(MAX_FREQUENCY));
    }

    #[inline]
    pub(super) fn set(&mut self, at: u32, doc: u32, frequency: u16) {
        self.docs[at as usize] = doc;
        self.frequencies[at as usize] = frequency.min(MAX_FREQUENCY);
    }

    #[inline]
    pub(crate) fn get(&self, span: Span) -> List<'_> {
        let range = span.start as usize..span.end as usize;
        let (docs, frequencies) = (&self.docs[range.clone()], &self.frequencies[range]);
        List { docs, frequencies, blocks: &self.blocks[span.blocks()] }
    }

    /// Returns the number of blocks.
    pub(crate) fn n_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Computes the bounds of a list. `lengths` are those of the tools.
    pub(super) fn bound(&mut self, span: &mut Span, lengths: &[u16]) {
        span.block = place(self.blocks.len());
        let range = span.start as usize..span.end as usize;
        let (docs, frequencies) = (&self.docs[range.clone()], &self.frequencies[range]);
        let blocks = docs.chunks(BLOCK_LEN).zip(frequencies.chunks(BLOCK_LEN));
        self.blocks.extend(blocks.map(|(docs, frequencies)| Block {
            max_frequency: frequencies.iter().copied().max().unwrap_or(0),
            // Tools are in the order of their lengths.
            min_length: lengths[docs[0] as usize],
        }));
    }

    pub(super) fn shrink(&mut self) {
        self.docs.shrink_to_fit();
        self.frequencies.shrink_to_fit();
        self.blocks.shrink_to_fit();
    }
}

impl<'s> List<'s> {
    /// Returns the tools with the numbers of occurrences.
    pub(crate) fn iter(self) -> impl Iterator<Item = (u32, u16)> + 's {
        self.docs.iter().copied().zip(self.frequencies.iter().copied())
    }
}
