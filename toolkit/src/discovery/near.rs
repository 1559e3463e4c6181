//! Words of names that a mistyped or unfinished word could be.

use super::part::Part;
use super::snapshot::Snapshot;

/// A word of a name that was taken in place of one that no tool has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Near {
    pub(super) asked: String,
    pub(super) found: String,
}

/// The shortest word that is completed, in characters.
const MIN_PREFIX: usize = 3;
/// How many words are taken in place of one.
const MAX_FOUND: usize = 4;

/// The words of names that `asked` could be, the nearest first.
///
/// A word is completed, or has one character wrong from four characters on, two from eight on; its first character is
/// right. Swapping two neighbours is one mistake.
pub(super) fn words(snapshot: &Snapshot, asked: &str) -> Vec<Near> {
    let Some(first) = asked.chars().next() else {
        return Vec::new();
    };
    let n_chars = asked.chars().count();
    let most_wrong = match n_chars {
        ..4 => 0,
        4..8 => 1,
        8.. => 2,
    };
    if n_chars < MIN_PREFIX {
        return Vec::new();
    }
    let letters = letters_of(asked);
    let mut found: Vec<(usize, &str)> = Vec::new();
    for (part, idx) in snapshot.parts.iter().flat_map(|part| names_from(part, first)) {
        let word = part.segment.words.text(idx);
        let more = word.chars().count();
        let wrong = if word.starts_with(asked) {
            // Behind every mistyped word, and the less there is to complete the better.
            most_wrong + more - n_chars
        } else if more.abs_diff(n_chars) <= most_wrong
            && (letters ^ letters_of(word)).count_ones() <= 2 * most_wrong as u32
        {
            match strsim::osa_distance(asked, word) {
                wrong if wrong <= most_wrong => wrong,
                _ => continue,
            }
        } else {
            continue;
        };
        if !found.contains(&(wrong, word)) && is_in_a_name(part, idx) {
            found.push((wrong, word));
        }
    }
    found.sort_unstable();
    found.truncate(MAX_FOUND);
    found.into_iter().map(|(_, word)| Near { asked: asked.to_owned(), found: word.to_owned() }).collect()
}

/// A bit for each letter that a word has: a mistake changes two of them at most, and this costs less than to look for
/// mistakes.
fn letters_of(word: &str) -> u32 {
    word.bytes().fold(0, |letters, byte| letters | 1 << (byte % 32))
}

/// The words of names that begin with a character.
fn names_from(part: &Part, first: char) -> impl Iterator<Item = (&Part, u32)> {
    let (words, names) = (&part.segment.words, &part.segment.name_words);
    let start = names.partition_point(|idx| words.text(*idx).chars().next() < Some(first));
    let of_first = names[start..].iter().take_while(move |idx| words.text(**idx).starts_with(first));
    of_first.map(move |idx| (part, *idx))
}

/// Whether a tool that is still there has the word in its name.
fn is_in_a_name(part: &Part, word: u32) -> bool {
    let postings = part.segment.postings(part.segment.words.get(word));
    postings.iter().any(|posting| posting.is_in_name() && part.is_live(posting.doc as usize))
}
