//! "Did you mean": the nearest candidate for a mistyped name.

mod letters;
mod name_index;
mod typo;

use std::cell::OnceCell;

pub use self::name_index::NameIndex;

use self::letters::Letters;
use self::typo::Typo;
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
