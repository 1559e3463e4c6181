//! The edit distance between a typed text and many candidates.

use super::MAX_LEN;

/// A text whose distance to candidates is computed, ignoring case.
///
/// The distance counts insertions, deletions, substitutions, and transpositions of adjacent characters (optimal string
/// alignment). A column of the matrix is two bits for each typed character, so that one step processes a whole column
/// (H. Hyyrö, A bit-vector algorithm for computing Levenshtein and Damerau edit distances, 2003).
pub struct Typo {
    pub(super) n_chars: usize,
    /// For each character, the index of its positions.
    ascii: [u8; 128],
    other: Vec<(char, u8)>,
    /// The positions of each distinct character in the typed text. The first are those of all other characters: none.
    positions: Vec<u128>,
}

impl Typo {
    /// Returns `None` if the text is empty or longer than 128 bytes.
    pub fn new(typed: &str) -> Option<Self> {
        if typed.is_empty() || typed.len() > MAX_LEN {
            return None;
        }
        let mut positions = Vec::with_capacity(typed.len() + 1);
        positions.push(0);
        let mut typo = Self { n_chars: 0, ascii: [0; 128], other: Vec::new(), positions };
        for c in lowercase(typed) {
            // Lowercasing may lengthen a text.
            let position = 1_u128.checked_shl(u32::try_from(typo.n_chars).ok()?)?;
            match typo.index_of(c) {
                0 => {
                    let new = u8::try_from(typo.positions.len()).ok()?;
                    typo.positions.push(position);
                    match typo.ascii.get_mut(c as usize) {
                        Some(idx) => *idx = new,
                        None => typo.other.push((c, new)),
                    }
                }
                idx => typo.positions[usize::from(idx)] |= position,
            }
            typo.n_chars += 1;
        }
        Some(typo)
    }

    /// Returns the distance to a candidate, or `None` if it is larger than `at_most`.
    pub fn distance_to(&self, candidate: &str, at_most: usize) -> Option<usize> {
        // Lowercasing adds characters beyond ASCII only.
        if candidate.is_ascii() {
            let chars = candidate.bytes().map(|byte| char::from(byte.to_ascii_lowercase()));
            return self.distance(chars, candidate.len(), at_most);
        }
        self.distance(lowercase(candidate), usize::MAX / 2, at_most)
    }

    /// Returns the distance to a candidate of at most `left` characters.
    fn distance(&self, candidate: impl Iterator<Item = char>, mut left: usize, at_most: usize) -> Option<usize> {
        let last = 1_u128 << (self.n_chars - 1);
        let (mut positive, mut negative) = (u128::MAX, 0);
        let (mut diagonal, mut previous) = (0_u128, 0_u128);
        let mut distance = self.n_chars;
        for c in candidate {
            let equal = self.positions_of(c);
            let transposed = ((!diagonal & equal) << 1) & previous;
            diagonal = ((equal & positive).wrapping_add(positive) ^ positive) | equal | negative | transposed;
            let (grows, shrinks) = (negative | !(diagonal | positive), diagonal & positive);
            distance += usize::from(grows & last != 0);
            distance -= usize::from(shrinks & last != 0);
            let (grows, shrinks) = ((grows << 1) | 1, shrinks << 1);
            positive = shrinks | !(diagonal | grows);
            negative = grows & diagonal;
            previous = equal;
            left = left.saturating_sub(1);
            // Each remaining character decreases the distance by at most one.
            if distance > at_most + left {
                return None;
            }
        }
        (distance <= at_most).then_some(distance)
    }

    fn positions_of(&self, c: char) -> u128 {
        self.positions[usize::from(self.index_of(c))]
    }

    fn index_of(&self, c: char) -> u8 {
        match self.ascii.get(c as usize) {
            Some(idx) => *idx,
            None => self.other.iter().find(|(other, _)| *other == c).map_or(0, |(_, idx)| *idx),
        }
    }
}

fn lowercase(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase)
}
