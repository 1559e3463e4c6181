//! "Did you mean": the nearest candidate for a mistyped name, by edit distance, and an index of many names.

use std::cell::OnceCell;
use std::ops::Range;

use super::excerpt::quoted;

/// The maximum number of candidates that are compared, since an untrusted schema may have a million names.
const MAX_CANDIDATES: usize = 1024;

/// The longest name, in bytes, that is compared.
const MAX_LEN: usize = 128;

/// Returns the candidate nearest to `typed`, if `typed` could be a typo of it. Compares only the first 1,024 candidates.
pub fn suggest<'a>(typed: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    nearest(typed, candidates.take(MAX_CANDIDATES))
}

/// Does the same as [`suggest`] for any number of candidates. For names that are searched repeatedly, use [`NameIndex`].
pub fn nearest<'a>(typed: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Most candidates differ in their letters alone.
    let typo = OnceCell::new();
    let letters = Letters::of(typed);
    let near = candidates.filter_map(|candidate| {
        let at_most = max_distance(candidate);
        (candidate.len() <= MAX_LEN && letters.fewest_edits(Letters::of(candidate)) <= at_most)
            .then(|| typo.get_or_init(|| Typo::new(typed)).as_ref()?.distance_to(candidate, at_most))
            .flatten()
            .map(|distance| (distance, candidate))
    });
    near.min().map(|(_, candidate)| candidate)
}

/// The largest distance of a text that could be a typo of `candidate`: a third of its characters and one, and at least
/// one character must be left.
fn max_distance(candidate: &str) -> usize {
    let n_chars = candidate.chars().count();
    (n_chars / 3 + 1).min(n_chars.saturating_sub(1))
}

/// Returns `; did you mean …?` if one of `names` is near, or an empty string.
pub(crate) fn did_you_mean<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    suggest(name, names).map_or_else(String::new, |near| format!("; did you mean {}?", quoted(near)))
}

/// The letters of a word, ignoring case: one bit if a letter occurs, a second one if it occurs again.
#[derive(Clone, Copy)]
struct Letters(u64);

impl Letters {
    /// Reads a word. All letters of a word beyond ASCII are unknown.
    fn of(word: &str) -> Self {
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
    fn fewest_edits(self, other: Self) -> usize {
        if (self.0 | other.0) & Self::UNKNOWN != 0 {
            return 0;
        }
        let (missing, left_over) = ((other.0 & !self.0).count_ones(), (self.0 & !other.0).count_ones());
        missing.max(left_over) as usize
    }

    /// Returns the number of bits, or `None` if letters are unknown.
    fn count(self) -> Option<usize> {
        (self.0 & Self::UNKNOWN == 0).then(|| self.0.count_ones() as usize)
    }

    /// Returns the number of bits that only one of two words has.
    #[inline]
    fn differing(self, other: Self) -> usize {
        (self.0 ^ other.0).count_ones() as usize
    }

    const UNKNOWN: u64 = 1 << 63;
}

// The edit distance between a typed text and many candidates.

/// A text whose distance to candidates is computed, ignoring case.
///
/// The distance counts insertions, deletions, substitutions, and transpositions of adjacent characters (optimal string
/// alignment). A column of the matrix is two bits for each typed character, so that one step processes a whole column
/// (H. Hyyrö, A bit-vector algorithm for computing Levenshtein and Damerau edit distances, 2003).
struct Typo {
    n_chars: usize,
    /// For each character, the index of its positions.
    ascii: [u8; 128],
    other: Vec<(char, u8)>,
    /// The positions of each distinct character in the typed text. The first are those of all other characters: none.
    positions: Vec<u128>,
}

impl Typo {
    /// Returns `None` if the text is empty or too long to be compared.
    fn new(typed: &str) -> Option<Self> {
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
    fn distance_to(&self, candidate: &str, at_most: usize) -> Option<usize> {
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

// An index of many names, for suggestions that do not compare all of them.

/// The maximum number of names that one search compares character by character.
const MAX_COMPARED: usize = 256;

/// The largest number of letters in which a name and its typo may differ.
const MAX_BOUND: usize = MAX_LEN / 3 + 1;

/// Names whose letters are indexed, so that a search compares only the most similar ones.
///
/// The index contains no text; the owner of the names passes it to each search, by the position of the name.
#[derive(Clone, Default)]
pub struct NameIndex {
    /// The letters of each name, in the order of the groups.
    letters: Vec<Letters>,
    positions: Vec<u32>,
    groups: Vec<Group>,
}

/// The names that have the same number of characters and of different letters.
#[derive(Clone)]
struct Group {
    n_chars: usize,
    /// `None` if the letters are unknown.
    n_letters: Option<usize>,
    names: Range<usize>,
}

impl NameIndex {
    /// Indexes names. Those longer than 128 bytes are never suggested.
    pub fn new<T: AsRef<str>>(names: impl Iterator<Item = T>) -> Self {
        let key = |(n_chars, letters, position): &(usize, Letters, u32)| (*n_chars, letters.count(), *position);
        let mut sorted: Vec<(usize, Letters, u32)> = (0_u32..)
            .zip(names)
            .filter(|(_, name)| name.as_ref().len() <= MAX_LEN)
            .map(|(position, name)| (name.as_ref().chars().count(), Letters::of(name.as_ref()), position))
            .collect();
        sorted.sort_unstable_by_key(key);
        let mut groups: Vec<Group> = Vec::new();
        for (idx, &(n_chars, letters, _)) in sorted.iter().enumerate() {
            let n_letters = letters.count();
            match groups.last_mut() {
                Some(group) if (group.n_chars, group.n_letters) == (n_chars, n_letters) => group.names.end = idx + 1,
                _ => groups.push(Group { n_chars, n_letters, names: idx..idx + 1 }),
            }
        }
        Self {
            letters: sorted.iter().map(|&(_, letters, _)| letters).collect(),
            positions: sorted.iter().map(|&(.., position)| position).collect(),
            groups,
        }
    }

    /// Returns the position of the name nearest to `typed`, if `typed` could be a typo of it. Compares the 256 names whose
    /// letters are the most similar. `name` returns the name at a position.
    pub fn nearest<T: AsRef<str>>(&self, typed: &str, name: impl Fn(usize) -> T) -> Option<usize> {
        let typo = Typo::new(typed)?;
        let mut best: Option<(usize, T, usize)> = None;
        let mut n_left = MAX_COMPARED;
        for (bound, similar) in self.similar(typed).into_iter().enumerate() {
            if best.as_ref().is_some_and(|(distance, ..)| *distance < bound) {
                break;
            }
            for position in similar.into_iter().take(n_left) {
                n_left -= 1;
                let position = position as usize;
                let name = name(position);
                let Some(distance) = typo.distance_to(name.as_ref(), max_distance(name.as_ref())) else { continue };
                let is_nearer =
                    |(nearest, other, _): &(usize, T, usize)| (distance, name.as_ref()) < (*nearest, other.as_ref());
                if best.as_ref().is_none_or(is_nearer) {
                    best = Some((distance, name, position));
                }
            }
        }
        best.map(|(.., position)| position)
    }

    /// Returns the names that could be meant, by the lower bound of their distance: all that [`NameIndex::nearest`]
    /// compares, and some others.
    fn similar(&self, typed: &str) -> Vec<Vec<u32>> {
        let (n_typed, letters) = (typed.chars().count(), Letters::of(typed));
        let fewest_edits = |group: &Group| {
            let letters = group.n_letters.zip(letters.count()).map_or(0, |(a, b)| a.abs_diff(b));
            (letters, letters.max(group.n_chars.abs_diff(n_typed)))
        };
        let mut groups: Vec<(usize, usize, &Group)> = self
            .groups
            .iter()
            .map(|group| (fewest_edits(group), group))
            .filter(|((_, fewest), group)| *fewest <= group.max_distance())
            .map(|((letters, fewest), group)| (fewest, letters, group))
            .collect();
        groups.sort_by_key(|&(fewest, ..)| fewest);
        let mut similar = Similar::new();
        for (fewest, difference, group) in groups {
            if fewest > similar.max_bound {
                break;
            }
            let are_known = group.n_letters.is_some() && letters.count().is_some();
            let names = self.letters[group.names.clone()].iter().zip(&self.positions[group.names.clone()]);
            for (&other, &position) in names {
                // The larger one of two numbers, by their sum and their difference.
                let by_letters = if are_known { (letters.differing(other) + difference) / 2 } else { 0 };
                let bound = by_letters.max(fewest);
                if bound <= group.max_distance().min(similar.max_bound) {
                    similar.add(bound, position);
                }
            }
        }
        similar.by_bound
    }
}

impl Group {
    /// The largest distance at which one of the names could be meant.
    fn max_distance(&self) -> usize {
        self.n_chars / 3 + 1
    }
}

/// The positions of names by the lower bound of their distance.
struct Similar {
    by_bound: Vec<Vec<u32>>,
    /// The largest bound of a name that is compared: enough names have smaller ones.
    max_bound: usize,
    n_names: usize,
}

impl Similar {
    fn new() -> Self {
        Self { by_bound: vec![Vec::new(); MAX_BOUND + 1], max_bound: MAX_BOUND, n_names: 0 }
    }

    fn add(&mut self, bound: usize, position: u32) {
        if self.by_bound[bound].len() == MAX_COMPARED {
            return;
        }
        self.by_bound[bound].push(position);
        self.n_names += 1;
        while self.n_names - self.by_bound[self.max_bound].len() >= MAX_COMPARED {
            self.n_names -= self.by_bound[self.max_bound].len();
            self.max_bound -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::{NameIndex, Typo, nearest};

    static MANY: LazyLock<(Vec<String>, NameIndex)> = LazyLock::new(|| {
        let name = |nth: usize| {
            let letters = (0..12_u32).map(|place| nth.wrapping_mul(0x9E37_79B9).wrapping_shr(2 * place) % 26);
            letters.map(|letter| char::from(b'a' + u8::try_from(letter).unwrap())).collect::<String>()
        };
        let names: Vec<String> = (0..20_000).map(name).collect();
        let index = NameIndex::new(names.iter());
        (names, index)
    });

    proptest! {
        #![proptest_config(test_support::random(40_960))]

        #[test]
        fn the_distance_is_that_of_optimal_string_alignment(a in "[abcAé_]{1,12}", b in "[abcAé_]{0,12}") {
            let expected = strsim::osa_distance(&a.to_lowercase(), &b.to_lowercase());
            let typo = Typo::new(&a).unwrap();
            for at_most in 0..14 {
                let distance = typo.distance_to(&b, at_most);
                prop_assert_eq!(distance, (expected <= at_most).then_some(expected), "{} {} {}", a, b, at_most);
            }
        }
    }

    #[test]
    fn a_long_text_is_compared_up_to_128_bytes() {
        let long = "ab".repeat(64);
        let near = format!("{}x", &long[..127]);
        assert_eq!(Typo::new(&long).unwrap().distance_to(&near, 3), Some(1));
        assert!(Typo::new(&format!("{long}a")).is_none());
    }

    proptest! {
        #![proptest_config(test_support::random(1280))]

        #[test]
        fn few_names_are_all_compared(
            names in prop::collection::vec("[abcé]{0,9}(_[abc]{1,4})?", 0..200),
            typed in "[abcé]{1,9}(_[abc]{1,4})?",
        ) {
            let found = NameIndex::new(names.iter()).nearest(&typed, |nth| &names[nth]);
            prop_assert_eq!(found.map(|nth| &*names[nth]), nearest(&typed, names.iter().map(|name| &**name)));
        }

        #[test]
        fn one_typo_is_found_among_many_names(nth in 0_usize..20_000, place in 0_usize..11, c in "[a-z]") {
            let (names, index) = &*MANY;
            let meant = &names[nth];
            let swapped = {
                let mut letters: Vec<char> = meant.chars().collect();
                letters.swap(place, place + 1);
                letters.into_iter().collect()
            };
            let (before, after) = meant.split_at(place);
            for typed in [format!("{before}{c}{after}"), format!("{before}{}", &after[1..]), swapped] {
                let found = index.nearest(&typed, |nth| &names[nth]).map(|nth| &names[nth]);
                let distance = found.map(|found| strsim::osa_distance(found, &typed));
                prop_assert!(distance <= Some(1) && distance.is_some(), "{} {:?}", typed, found);
            }
        }
    }
}
