//! Lists of tools by word or stem, in the order of a segment, with bounds for the scores in them.

mod terms;

pub(crate) use self::terms::{Term, Terms};

/// The number of tools in a block.
pub(crate) const BLOCK_LEN: usize = 64;

/// The maximum number of occurrences that is stored.
pub(crate) const MAX_FREQUENCY: u16 = u16::MAX >> 1;

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
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The first block.
    pub(crate) block: u32,
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
    pub(crate) fn zeroed(n_docs: usize) -> Self {
        Self { docs: vec![0; n_docs], frequencies: vec![0; n_docs], blocks: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.docs.len()
    }

    #[inline]
    pub(crate) fn push(&mut self, doc: u32, frequency: u16) {
        self.docs.push(doc);
        self.frequencies.push(frequency.min(MAX_FREQUENCY));
    }

    #[inline]
    pub(crate) fn set(&mut self, at: u32, doc: u32, frequency: u16) {
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
    pub(crate) fn bound(&mut self, span: &mut Span, lengths: &[u16]) {
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

    pub(crate) fn shrink(&mut self) {
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

/// The order of the tools of a segment in its lists: by length, and tools of equal length by id.
///
/// A word has the highest score in the shortest tools, so that a search finds the best tools early and can skip most of
/// the rest.
pub(crate) struct Order {
    /// The weighted number of words of each tool, in this order.
    pub(crate) lengths: Box<[u16]>,
    /// The tools, as positions in the order of the ids.
    pub(crate) tools: Box<[u32]>,
    /// The position of each tool in this order.
    pub(crate) docs: Box<[u32]>,
}

impl Order {
    /// Orders tools by their lengths, which are in the order of the ids.
    pub(crate) fn new(lengths: &[u16]) -> Self {
        let mut tools: Box<[u32]> = (0..place(lengths.len())).collect();
        tools.sort_by_key(|tool| lengths[*tool as usize]);
        let mut docs: Box<[u32]> = vec![0; lengths.len()].into();
        for (doc, tool) in tools.iter().enumerate() {
            docs[*tool as usize] = place(doc);
        }
        Self { lengths: tools.iter().map(|tool| lengths[*tool as usize]).collect(), tools, docs }
    }

    /// Returns the length of a tool.
    pub(crate) fn length_of(&self, tool: usize) -> u16 {
        self.lengths[self.docs[tool] as usize]
    }
}

/// Converts a position. Memory would run out before a segment reached 2^32 of anything.
pub(crate) fn place(len: usize) -> u32 {
    u32::try_from(len).expect("a segment holds fewer than 2^32 of anything")
}

#[cfg(test)]
mod tests {
    use super::Order;

    #[test]
    fn tools_are_in_the_order_of_lengths_and_then_of_ids() {
        let order = Order::new(&[3, 9, 1, 3, 1]);
        assert_eq!(*order.tools, [2, 4, 0, 3, 1]);
        assert_eq!(*order.docs, [2, 4, 0, 3, 1]);
        assert_eq!(*order.lengths, [1, 1, 3, 3, 9]);
        assert_eq!(order.length_of(1), 9);
    }
}
