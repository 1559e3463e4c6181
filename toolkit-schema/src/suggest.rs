//! "Did you mean": the nearest candidate for a mistyped name.

use super::excerpt::quoted;

/// The maximum number of candidates that are compared, since an untrusted schema may have a million names.
const MAX_CANDIDATES: usize = 1024;

/// Returns the candidate nearest to `typed`, if `typed` could be a typo of it. Compares only the first 1,024 candidates.
pub fn suggest<'a>(typed: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    nearest(typed, candidates.take(MAX_CANDIDATES))
}

/// Does the same as [`suggest`] for any number of candidates.
pub fn nearest<'a>(typed: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // The distance takes quadratic time.
    if typed.len() > 128 {
        return None;
    }
    let lower = typed.to_lowercase();
    let n_chars = lower.chars().count();
    let letters = Letters::count(&lower);
    candidates
        .filter(|candidate| candidate.len() <= 128)
        // The difference in length is a cheap lower bound of the distance.
        .filter(|candidate| {
            let candidate = candidate.chars().count();
            n_chars.abs_diff(candidate) <= candidate / 3 + 2
        })
        .filter(|candidate| letters.fewest_edits(candidate) <= candidate.chars().count() / 3 + 1)
        .map(|candidate| {
            let distance = strsim::osa_distance(&lower, &candidate.to_lowercase());
            (distance, candidate)
        })
        .filter(|&(distance, candidate)| distance <= candidate.chars().count() / 3 + 1)
        .filter(|&(distance, candidate)| distance < candidate.chars().count())
        .min_by_key(|&(distance, candidate)| (distance, candidate))
        .map(|(_, candidate)| candidate)
}

/// The number of occurrences of each letter in a word, ignoring case. All other bytes are counted together.
struct Letters([i16; 27]);

impl Letters {
    fn count(word: &str) -> Self {
        let mut letters = Self([0; 27]);
        word.bytes().for_each(|byte| letters.0[Self::place(byte)] += 1);
        letters
    }

    fn place(byte: u8) -> usize {
        let place = byte.to_ascii_lowercase().wrapping_sub(b'a');
        usize::from(place.min(26))
    }

    /// Returns a lower bound of the edit distance to `other`: each edit adds at most one letter and removes at most
    /// one. Returns 0 for text beyond ASCII.
    fn fewest_edits(&self, other: &str) -> usize {
        if !other.is_ascii() {
            return 0;
        }
        let mut surplus = self.0;
        other.bytes().for_each(|byte| surplus[Self::place(byte)] -= 1);
        let sum = |n: fn(i16) -> i16| surplus[..26].iter().map(|surplus| n(*surplus).max(0)).sum::<i16>();
        let (missing, left_over) = (sum(|surplus| -surplus), sum(|surplus| surplus));
        usize::from(missing.max(left_over).unsigned_abs())
    }
}

/// Returns `; did you mean …?` if one of `names` is near, or an empty string.
pub(crate) fn did_you_mean<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    suggest(name, names).map_or_else(String::new, |near| format!("; did you mean {}?", quoted(near)))
}
