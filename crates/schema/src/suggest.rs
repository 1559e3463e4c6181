//! "Did you mean": the nearest candidate for a mistyped name, by edit distance.

mod distance;

pub use self::distance::Typo;
use super::excerpt::quoted;

/// The maximum number of candidates that are compared, since an untrusted schema may have a million names.
const MAX_CANDIDATES: usize = 1024;

/// The maximum number of names that [`nearest`] compares: those of about 10,000 tools.
pub const MAX_NAMES: usize = 32_768;

/// The message without a suggestion among more names than [`MAX_NAMES`].
pub const TOO_MANY_NAMES: &str = "there are too many names to suggest one; search for the tool";

/// The longest name, in bytes, that is compared.
const MAX_LEN: usize = 128;

/// Returns the candidate nearest to `typed`, if `typed` could be a typo of it. Compares only the first 1,024 candidates.
pub fn suggest<'a>(typed: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    nearest(typed, candidates.take(MAX_CANDIDATES))
}

/// Does the same as [`suggest`] for up to [`MAX_NAMES`] candidates, and returns `None` if there are more: among names that
/// are not in the caches of the processor, each comparison takes 150 ns.
pub fn nearest<'a>(typed: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if candidates.size_hint().0 > MAX_NAMES {
        return None;
    }
    let typo = Typo::new(typed)?;
    let letters = Letters::of(typed);
    let mut best: Option<(usize, &str)> = None;
    for (nth, candidate) in candidates.enumerate() {
        if nth >= MAX_NAMES {
            return None;
        }
        if candidate.len() > MAX_LEN {
            continue;
        }
        let nearest = best.map_or(usize::MAX, |(distance, _)| distance);
        // Lower bounds of the distance reject most candidates. The first one does not read the text: it has at most as many
        // characters as bytes.
        if typo.n_chars > candidate.len() + max_distance(candidate.len()).min(nearest) {
            continue;
        }
        let others = Letters::of(candidate);
        let n_chars = if others.are_known() { candidate.len() } else { candidate.chars().count() };
        let at_most = max_distance(n_chars).min(nearest);
        if letters.fewest_edits(others) > at_most || (others.are_known() && n_chars > typo.n_chars + at_most) {
            continue;
        }
        let Some(distance) = typo.distance_to(candidate, at_most) else { continue };
        if best.is_none_or(|nearer| (distance, candidate) < nearer) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The largest distance of a text that could be a typo of a name with this number of characters: a third of them and one, and
/// at least one character must be left.
fn max_distance(n_chars: usize) -> usize {
    (n_chars / 3 + 1).min(n_chars.saturating_sub(1))
}

/// Returns `; did you mean …?` if one of `names` is near, or an empty string.
pub(crate) fn did_you_mean<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    suggest(name, names).map_or_else(String::new, |near| format!("; did you mean {}?", quoted(near)))
}

/// The characters of a word, ignoring case: a bit for each letter and digit that occurs, another one for each letter that
/// occurs again, and one for all other characters.
#[derive(Clone, Copy)]
struct Letters(u64);

impl Letters {
    /// The bit of each byte.
    const BITS: [u64; 256] = {
        let mut bits = [1 << 62; 256];
        let mut byte = 0;
        while byte < bits.len() {
            match byte as u8 {
                letter @ (b'a'..=b'z' | b'A'..=b'Z') => bits[byte] = 1 << (letter.to_ascii_lowercase() - b'a'),
                digit @ b'0'..=b'9' => bits[byte] = 1 << (2 * Self::N_LETTERS + (digit - b'0')),
                128.. => bits[byte] = Self::UNKNOWN,
                _ => {}
            }
            byte += 1;
        }
        bits
    };
    const N_LETTERS: u8 = 26;
    const UNKNOWN: u64 = 1 << 63;

    /// Reads a word. The letters of a word beyond ASCII are unknown.
    #[inline]
    fn of(word: &str) -> Self {
        let (mut once, mut twice) = (0, 0);
        for byte in word.bytes() {
            let bit = Self::BITS[usize::from(byte)];
            twice |= once & bit;
            once |= bit;
        }
        // The second bits of all that is not a letter are shifted out.
        Self(once | (twice << Self::N_LETTERS))
    }

    #[inline]
    fn are_known(self) -> bool {
        self.0 & Self::UNKNOWN == 0
    }

    /// Returns a lower bound of the edit distance to `other`: each edit adds at most one bit and removes at most one.
    /// Returns 0 if letters are unknown.
    #[inline]
    fn fewest_edits(self, other: Self) -> usize {
        if !(self.are_known() && other.are_known()) {
            return 0;
        }
        let (missing, left_over) = ((other.0 & !self.0).count_ones(), (self.0 & !other.0).count_ones());
        missing.max(left_over) as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Typo, max_distance, nearest};

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

    #[test]
    fn a_name_is_near_if_no_more_than_about_a_third_of_its_letters_differ() {
        for (n, at_most) in std::iter::zip(1.., [0, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5]) {
            let name = &"abcdefghijkl"[..n];
            for n_wrong in 0..=n {
                let typed = format!("{}{}", "z".repeat(n_wrong), &name[n_wrong..]);
                assert_eq!(nearest(&typed, [name].into_iter()).is_some(), n_wrong <= at_most, "{typed} {name}");
            }
        }
    }

    proptest! {
        #![proptest_config(test_support::random(1280))]

        #[test]
        fn the_nearest_name_is_the_first_of_those_with_the_smallest_distance(
            names in prop::collection::vec("[abczAé]{0,9}(_[abc019]{1,4})?", 0..200),
            typed in "[abczé]{1,9}(_[aBc019]{1,4})?",
        ) {
            let distance = |name: &str| strsim::osa_distance(&name.to_lowercase(), &typed.to_lowercase());
            let near = names.iter().map(|name| &**name).filter(|name| distance(name) <= max_distance(name.chars().count()));
            let expected = near.min_by_key(|name| (distance(name), *name));
            prop_assert_eq!(nearest(&typed, names.iter().map(|name| &**name)), expected);
        }
    }
}
