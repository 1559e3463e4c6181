//! A table of scores.

use std::ops::Range;

/// The scores by tool.
#[derive(Default)]
pub(super) struct Scores {
    /// Zero without a score.
    scores: Vec<u32>,
    /// One bit for each tool with a score.
    has_score: Vec<u64>,
}

impl Scores {
    pub(super) fn make_room(&mut self, n_docs: usize) {
        if self.scores.len() < n_docs {
            self.scores.resize(n_docs, 0);
            self.has_score.resize(n_docs.div_ceil(64), 0);
        }
    }

    /// Returns true if a tool has a score.
    #[inline]
    pub(super) fn has(&self, doc: u32) -> bool {
        self.has_score[doc as usize / 64] & (1 << (doc % 64)) != 0
    }

    #[inline]
    pub(super) fn add(&mut self, doc: u32, gain: u32) {
        let score = &mut self.scores[doc as usize];
        *score = score.saturating_add(gain);
        self.has_score[doc as usize / 64] |= 1 << (doc % 64);
    }

    /// Removes the scores of a range that starts at a multiple of 64, and calls `found` with them in ascending order.
    pub(super) fn drain(&mut self, range: Range<usize>, mut found: impl FnMut(u32, u32)) {
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
