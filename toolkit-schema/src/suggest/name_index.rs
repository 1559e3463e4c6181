//! An index of many names, for suggestions that do not compare all of them.

use super::letters::Letters;
use super::typo::Typo;
use super::{MAX_LEN, max_distance};

/// The maximum number of names that one search compares character by character.
const MAX_COMPARED: usize = 256;

/// The largest number of letters in which a name and its typo may differ.
const MAX_BOUND: usize = MAX_LEN / 3 + 1;

/// Names whose letters are indexed, so that a search compares only the most similar ones.
///
/// The index contains no text; the owner of the names passes it to each search, by the position of the name.
#[derive(Default)]
pub struct NameIndex {
    /// Sorted by the number of characters.
    letters: Vec<Letters>,
    positions: Vec<u32>,
    /// For each number of characters, the end of its names in the lists above.
    ends: Vec<usize>,
}

impl NameIndex {
    /// Indexes names. Those longer than 128 bytes are never suggested.
    pub fn new<T: AsRef<str>>(names: impl Iterator<Item = T>) -> Self {
        let mut sorted: Vec<(usize, u32, Letters)> = (0_u32..)
            .zip(names)
            .filter(|(_, name)| name.as_ref().len() <= MAX_LEN)
            .map(|(position, name)| (name.as_ref().chars().count(), position, Letters::of(name.as_ref())))
            .collect();
        sorted.sort_unstable_by_key(|&(n_chars, position, _)| (n_chars, position));
        let ends = (0..=MAX_LEN).map(|n_chars| sorted.partition_point(|&(n, ..)| n <= n_chars)).collect();
        Self {
            letters: sorted.iter().map(|&(.., letters)| letters).collect(),
            positions: sorted.iter().map(|&(_, position, _)| position).collect(),
            ends,
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

    /// Returns the names that could be meant, by the lower bound of their distance, and at most 256 for each.
    fn similar(&self, typed: &str) -> Vec<Vec<u32>> {
        let (n_typed, letters) = (typed.chars().count(), Letters::of(typed));
        let mut similar = vec![Vec::new(); MAX_BOUND + 1];
        // A name of n characters may be n / 3 + 1 edits away.
        for n_chars in 1..self.ends.len().min(n_typed * 3 / 2 + 3) {
            let at_most = n_chars / 3 + 1;
            let fewest = n_typed.abs_diff(n_chars);
            if fewest > at_most {
                continue;
            }
            for idx in self.ends[n_chars - 1]..self.ends[n_chars] {
                let bound = letters.fewest_edits(self.letters[idx]).max(fewest);
                if bound <= at_most && similar[bound].len() < MAX_COMPARED {
                    similar[bound].push(self.positions[idx]);
                }
            }
        }
        similar
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::nearest;
    use super::NameIndex;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

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
            let name = |nth: usize| {
                let letters = (0..12_u32).map(|place| nth.wrapping_mul(0x9E37_79B9).wrapping_shr(2 * place) % 26);
                letters.map(|letter| char::from(b'a' + u8::try_from(letter).unwrap())).collect::<String>()
            };
            let names: Vec<String> = (0..20_000).map(name).collect();
            let index = NameIndex::new(names.iter());
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
