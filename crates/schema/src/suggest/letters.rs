//! A lower bound of the edit distance that takes a few instructions.

/// The letters of a word, ignoring case: one bit if a letter occurs, a second one if it occurs again.
#[derive(Clone, Copy)]
pub(super) struct Letters(u64);

impl Letters {
    /// Reads a word. All letters of a word beyond ASCII are unknown.
    pub(super) fn of(word: &str) -> Self {
        if !word.is_ascii() {
            return Self(Self::UNKNOWN);
        }
        let mut letters = 0;
        for byte in word.bytes() {
            let nth = byte.to_ascii_lowercase().wrapping_sub(b'a');
            if nth < 26 {
                let first = 1 << nth;
                letters |= if letters & first == 0 { first } else { first << 26 };
            }
        }
        Self(letters)
    }

    /// Returns a lower bound of the edit distance to `other`: each edit adds at most one letter and removes at most
    /// one. Returns 0 if letters are unknown.
    #[inline]
    pub(super) fn fewest_edits(self, other: Self) -> usize {
        if (self.0 | other.0) & Self::UNKNOWN != 0 {
            return 0;
        }
        let (missing, left_over) = ((other.0 & !self.0).count_ones(), (self.0 & !other.0).count_ones());
        missing.max(left_over) as usize
    }

    /// Returns the number of bits, or `None` if letters are unknown.
    pub(super) fn count(self) -> Option<usize> {
        (self.0 & Self::UNKNOWN == 0).then(|| self.0.count_ones() as usize)
    }

    /// Returns the number of bits that only one of two words has.
    #[inline]
    pub(super) fn differing(self, other: Self) -> usize {
        (self.0 ^ other.0).count_ones() as usize
    }

    const UNKNOWN: u64 = 1 << 63;
}
