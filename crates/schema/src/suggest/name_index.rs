//! An index of many names, for suggestions that do not compare all of them.

use std::ops::Range;

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
    /// The letters of each name, in the order of the groups.
    letters: Vec<Letters>,
    positions: Vec<u32>,
    groups: Vec<Group>,
}

/// The names that have the same number of characters and of different letters.
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
