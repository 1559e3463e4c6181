//! Reading a list of tools with their scores, and the table of scores.

use std::ops::Range;

use crate::ranking::{Norm, ONE};
use crate::segment::{BLOCK_LEN, Block, List};

/// A list of the query. Of a term's two lists, each tool is in one.
#[derive(Clone, Copy)]
pub(crate) struct Scan<'s> {
    list: List<'s>,
    /// The number of the term.
    pub(crate) term: usize,
    gain: Gain,
    norm: Norm<'s>,
    /// The share of a name that has the score 1, by tool, and its maximum in each block.
    shares: &'s [f32],
    share_bounds: &'s [f32],
    /// The range of the list in the window.
    start: usize,
    end: usize,
    /// The maximum score in the window.
    pub(crate) bound: Bound,
}

/// A maximum score.
#[derive(Clone, Copy, Default)]
pub(crate) struct Bound {
    pub(crate) text: u32,
    pub(crate) name: u32,
}

/// The maximum scores of a term for any tool.
#[derive(Clone, Copy)]
pub(crate) struct Gain {
    /// True if the words of the tool count, and not only its name.
    pub(crate) has_text: bool,
    /// The maximum scores of the word and of its stem, in units.
    pub(crate) word: u64,
    pub(crate) stem: u64,
    /// The score of a name in relation to its share.
    pub(crate) bonus: f32,
}

impl<'s> Scan<'s> {
    pub(crate) fn new(
        list: List<'s>,
        term: usize,
        gain: Gain,
        norm: Norm<'s>,
        shares: &'s [f32],
        share_bounds: &'s [f32],
    ) -> Self {
        Self { list, term, gain, norm, shares, share_bounds, start: 0, end: 0, bound: Bound::default() }
    }

    /// Computes the bound of the whole list, before the first window.
    pub(crate) fn bound_all(&mut self) {
        let whole = Self { end: self.list.docs.len(), ..*self };
        self.bound = whole.bound_in_window();
    }

    /// Adds the scores of the first tools of the list, at most `most` of them, and returns their number.
    pub(crate) fn add_head(&self, lengths: &[u16], most: usize, scores: &mut Scores) -> usize {
        let head = Self { end: self.list.docs.len().min(most), ..*self };
        head.add_all(lengths, |_| true, scores);
        head.end
    }

    /// Moves to the window that starts after the previous one and ends before `end`; returns false at the end of the
    /// list.
    pub(crate) fn enter(&mut self, end: u32) -> bool {
        let docs = &self.list.docs[self.end..];
        if docs.is_empty() {
            return false;
        }
        self.start = self.end;
        self.end += gallop(docs, end);
        self.bound = if self.start < self.end { self.bound_in_window() } else { Bound::default() };
        true
    }

    fn bound_in_window(&self) -> Bound {
        let blocks = self.start / BLOCK_LEN..self.end.div_ceil(BLOCK_LEN);
        let of_text = &self.list.blocks[blocks.clone()];
        let max_frequency = of_text.iter().map(|block| block.max_frequency).max().unwrap_or(0);
        let max_share = match self.gain.bonus > 0.0 {
            true => self.share_bounds[blocks].iter().fold(0.0, |most, share| share.max(most)),
            false => 0.0,
        };
        // The first tool is the shortest.
        self.gain.bound(self.norm, max_frequency, of_text[0].min_length, max_share)
    }

    /// Adds the scores of the tools in the window. In a block whose bound `adds_tools` rejects, only tools that have a
    /// score are added to.
    pub(crate) fn add_all(&self, lengths: &[u16], adds_tools: impl Fn(Bound) -> bool, scores: &mut Scores) {
        if self.gain.bonus > 0.0 {
            let share_of = |doc: u32| self.shares[doc as usize];
            self.add_blocks(lengths, share_of, |block| self.share_bounds[block], adds_tools, scores);
        } else {
            self.add_blocks(lengths, |_| 0.0, |_| 0.0, adds_tools, scores);
        }
    }

    #[inline]
    fn add_blocks(
        &self,
        lengths: &[u16],
        share_of: impl Fn(u32) -> f32,
        max_share_of: impl Fn(usize) -> f32,
        adds_tools: impl Fn(Bound) -> bool,
        scores: &mut Scores,
    ) {
        let Self { list, gain, norm, .. } = *self;
        let mut start = self.start;
        while start < self.end {
            let block = start / BLOCK_LEN;
            let end = ((block + 1) * BLOCK_LEN).min(self.end);
            let (docs, frequencies) = (&list.docs[start..end], &list.frequencies[start..end]);
            start = end;
            let Block { max_frequency, min_length } = list.blocks[block];
            let gain_of = |doc, frequency| gain.of(norm.fixed(frequency, lengths[doc as usize]), share_of(doc));
            if adds_tools(gain.bound(norm, max_frequency, min_length, max_share_of(block))) {
                for (doc, frequency) in docs.iter().zip(frequencies) {
                    scores.add(*doc, gain_of(*doc, *frequency));
                }
            } else {
                for (doc, frequency) in docs.iter().zip(frequencies) {
                    if scores.has(*doc) {
                        scores.add(*doc, gain_of(*doc, *frequency));
                    }
                }
            }
        }
    }

    /// Adds the scores of this list to tools in ascending order.
    pub(crate) fn add_to(&self, found: &mut [(u32, u32)], lengths: &[u16]) {
        let list = self.list;
        let mut at = self.start;
        for (doc, score) in found {
            at += gallop(&list.docs[at..self.end], *doc);
            if at == self.end {
                return;
            }
            if list.docs[at] == *doc {
                *score = score.saturating_add(self.score_at(at, lengths));
            }
        }
    }

    /// Returns the score of a tool; 0 if it is not in the list.
    pub(crate) fn score_of(&self, doc: u32, lengths: &[u16]) -> u32 {
        self.list.docs.binary_search(&doc).map_or(0, |at| self.score_at(at, lengths))
    }

    fn score_at(&self, at: usize, lengths: &[u16]) -> u32 {
        let Self { list, gain, norm, .. } = *self;
        let doc = list.docs[at] as usize;
        let share = if gain.bonus > 0.0 { self.shares[doc] } else { 0.0 };
        gain.of(norm.fixed(list.frequencies[at], lengths[doc]), share)
    }
}

impl Gain {
    /// Returns the score for a fixed-point fraction of the maximum and a share of the name.
    #[inline]
    fn of(self, fraction: u64, share: f32) -> u32 {
        (self.of_text(fraction) + u64::from(self.of_name(share))).min(u32::MAX.into()) as u32
    }

    #[inline]
    fn of_text(self, fraction: u64) -> u64 {
        let Self { has_text, word, stem, .. } = self;
        // Rounded separately, since word and stem may be separate lists in another segment. A word that every tool has
        // adds almost nothing, but it is a match.
        if has_text { (((word * fraction) >> ONE) + ((stem * fraction) >> ONE)).max(1) } else { 0 }
    }

    #[inline]
    fn of_name(self, share: f32) -> u32 {
        if self.bonus > 0.0 { ((self.bonus * share) as u32).max(1) } else { 0 }
    }

    #[inline]
    fn bound(self, norm: Norm<'_>, max_frequency: u16, min_length: u16, max_share: f32) -> Bound {
        // A float may round a larger fraction to a smaller number.
        let text = self.of_text(norm.fixed(max_frequency, min_length) + 4).min(u32::MAX.into()) as u32;
        Bound { text, name: self.of_name(max_share) }
    }
}

/// Returns the number of tools before `doc`, by exponential search.
#[inline]
fn gallop(docs: &[u32], doc: u32) -> usize {
    let mut step = 1;
    while step < docs.len() && docs[step] < doc {
        step *= 2;
    }
    let start = step / 2;
    let end = docs.len().min(step + 1);
    start + docs[start..end].partition_point(|before| *before < doc)
}

/// The scores by tool.
#[derive(Default)]
pub(crate) struct Scores {
    /// Zero without a score.
    scores: Vec<u32>,
    /// One bit for each tool with a score.
    has_score: Vec<u64>,
}

impl Scores {
    pub(crate) fn make_room(&mut self, n_docs: usize) {
        if self.scores.len() < n_docs {
            self.scores.resize(n_docs, 0);
            self.has_score.resize(n_docs.div_ceil(64), 0);
        }
    }

    /// Returns true if a tool has a score.
    #[inline]
    pub(crate) fn has(&self, doc: u32) -> bool {
        self.has_score[doc as usize / 64] & (1 << (doc % 64)) != 0
    }

    #[inline]
    pub(crate) fn add(&mut self, doc: u32, gain: u32) {
        let score = &mut self.scores[doc as usize];
        *score = score.saturating_add(gain);
        self.has_score[doc as usize / 64] |= 1 << (doc % 64);
    }

    /// Removes the scores of a range that starts at a multiple of 64, and calls `found` with them in ascending order.
    pub(crate) fn drain(&mut self, range: Range<usize>, mut found: impl FnMut(u32, u32)) {
        let words = range.start / 64..range.end.div_ceil(64);
        for (bits, word) in self.has_score[words.clone()].iter_mut().zip(words) {
            while *bits != 0 {
                let doc = word * 64 + bits.trailing_zeros() as usize;
                *bits &= *bits - 1;
                found(doc as u32, std::mem::take(&mut self.scores[doc]));
            }
        }
    }
}
