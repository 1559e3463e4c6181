//! The length normalization of BM25.

use std::sync::OnceLock;

use crate::ranking::Ranking;

/// The binary places of fixed-point fractions; a float is not more precise.
pub(crate) const ONE: u32 = 24;

/// The frequencies and lengths whose fractions are stored.
const FREQUENCIES: u16 = 16;
const LENGTHS: u16 = 256;
const LEN: usize = FREQUENCIES as usize * LENGTHS as usize;

/// The fractions of common frequencies and lengths in a snapshot, since the first search. A division takes as long as the
/// rest of the work for a posting.
pub(crate) type Fractions = OnceLock<Box<[u32; LEN]>>;

/// The length normalization.
#[derive(Clone, Copy)]
pub(crate) struct Norm<'s> {
    base: f32,
    per_word: f32,
    fractions: &'s [u32; LEN],
}

impl<'s> Norm<'s> {
    /// Normalizes by the average number of words of a tool. `fractions` belongs to this ranking and average.
    pub(crate) fn new(ranking: &Ranking, average: f32, fractions: &'s Fractions) -> Self {
        let per_word = if average > 0.0 { ranking.k1 * ranking.b / average } else { 0.0 };
        let norm = Self { base: ranking.k1 * (1.0 - ranking.b), per_word, fractions: &[0; LEN] };
        let fractions = fractions.get_or_init(|| {
            let mut fractions = Box::new([0; LEN]);
            for (at, fraction) in (0..).zip(&mut *fractions) {
                *fraction = norm.computed(at / LENGTHS, at % LENGTHS);
            }
            fractions
        });
        Self { fractions, ..norm }
    }

    /// Returns the fraction of the maximum score that a tool has for a frequency.
    #[inline]
    pub(crate) fn part(self, frequency: u16, length: u16) -> f32 {
        let frequency = f32::from(frequency);
        frequency / (frequency + (self.base + self.per_word * f32::from(length)))
    }

    /// Returns the same as a fixed-point number.
    #[inline]
    pub(crate) fn fixed(self, frequency: u16, length: u16) -> u64 {
        let fraction = match frequency < FREQUENCIES && length < LENGTHS {
            true => self.fractions[usize::from(frequency) * usize::from(LENGTHS) + usize::from(length)],
            false => self.computed(frequency, length),
        };
        u64::from(fraction)
    }

    fn computed(self, frequency: u16, length: u16) -> u32 {
        (self.part(frequency, length) * (1 << ONE) as f32) as u32
    }
}
