//! Fuzzy matching of misspelled or incomplete words with words of tool names.

use super::part::Part;
use super::snapshot::Snapshot;

/// A word of a tool name that replaces an unknown word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Replacement {
    pub(super) unknown: String,
    pub(super) word: String,
}

/// The minimum length of an incomplete word in characters.
const MIN_PREFIX: usize = 3;
/// The maximum number of replacements of a word.
const MAX_FOUND: usize = 4;

/// Returns the words of tool names that are similar to `unknown`, the most similar first.
///
/// An incomplete word is completed. A word of four or more characters may have one wrong character, a word of eight or
/// more two; the first character has to be right. A transposition counts as one wrong character.
pub(super) fn replacements(snapshot: &Snapshot, unknown: &str) -> Vec<Replacement> {
    let Some(first) = unknown.chars().next() else {
        return Vec::new();
    };
    let n_chars = unknown.chars().count();
    let max_distance = match n_chars {
        ..4 => 0,
        4..8 => 1,
        8.. => 2,
    };
    if n_chars < MIN_PREFIX {
        return Vec::new();
    }
    let letters = letter_set(unknown);
    let mut found: Vec<(usize, &str)> = Vec::new();
    for (part, idx) in snapshot.parts.iter().flat_map(|part| name_words_starting_with(part, first)) {
        let word = part.segment.words.text(idx);
        let more = word.chars().count();
        let distance = if word.starts_with(unknown) {
            // Ranked after every misspelled word; shorter completions are better.
            max_distance + more - n_chars
        } else if more.abs_diff(n_chars) <= max_distance
            && (letters ^ letter_set(word)).count_ones() <= 2 * max_distance as u32
        {
            match strsim::osa_distance(unknown, word) {
                distance if distance <= max_distance => distance,
                _ => continue,
            }
        } else {
            continue;
        };
        if !found.contains(&(distance, word)) && is_in_a_name(part, idx) {
            found.push((distance, word));
        }
    }
    found.sort_unstable();
    found.truncate(MAX_FOUND);
    found.into_iter().map(|(_, word)| Replacement { unknown: unknown.to_owned(), word: word.to_owned() }).collect()
}

/// Returns a bit set of the letters of a word. A wrong character changes at most two bits, so that comparing the sets
/// is a cheap filter.
fn letter_set(word: &str) -> u32 {
    word.chars().fold(0, |letters, letter| letters | 1 << (letter as u32 % 32))
}

/// Returns the words of tool names that start with a character.
fn name_words_starting_with(part: &Part, first: char) -> impl Iterator<Item = (&Part, u32)> {
    let (words, names) = (&part.segment.words, &part.segment.name_words);
    let start = names.partition_point(|idx| words.text(*idx).chars().next() < Some(first));
    let of_first = names[start..].iter().take_while(move |idx| words.text(**idx).starts_with(first));
    of_first.map(move |idx| (part, *idx))
}

/// Returns true if a live tool has the word in its name.
fn is_in_a_name(part: &Part, word: u32) -> bool {
    let postings = part.segment.postings(part.segment.words.get(word));
    postings.iter().any(|posting| posting.is_in_name() && part.is_live(posting.doc as usize))
}

#[cfg(test)]
mod tests {
    use super::letter_set;

    #[test]
    fn the_letter_filter_rejects_no_word_within_the_distance() {
        let words = [
            "create", "crate", "craete", "creates", "reate", "cre4te", "delete", "größe", "grosse", "gröser", "größer",
            "検索",
        ];
        for a in words {
            for b in words {
                let bound = 2 * strsim::osa_distance(a, b);
                let n_different = (letter_set(a) ^ letter_set(b)).count_ones() as usize;
                assert!(n_different <= bound, "{a} and {b} differ in {n_different} bits");
            }
        }
    }
}
