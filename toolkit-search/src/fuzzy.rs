//! Fuzzy matching of misspelled or incomplete words with words of tool names.

mod distance;

use self::distance::distance_up_to;
use super::part::Part;
use super::segment::Segment;
use super::shape::Shape;
use super::state::State;

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
pub(super) fn replacements(state: &State, unknown: &str) -> Vec<Replacement> {
    let Some(first) = unknown.chars().next() else {
        return Vec::new();
    };
    let shape = Shape::new(unknown);
    let n_chars = usize::from(shape.n_chars);
    let max_distance = match n_chars {
        ..4 => 0,
        4..8 => 1,
        8.. => 2,
    };
    if n_chars < MIN_PREFIX {
        return Vec::new();
    }
    let mut found: Vec<(usize, &str)> = Vec::new();
    for part in &state.parts {
        let Segment { words, name_words, name_shapes, .. } = &*part.segment;
        let start = name_words.partition_point(|idx| words.text(*idx).chars().next() < Some(first));
        let n_words = name_words[start..].partition_point(|idx| words.text(*idx).starts_with(first));
        for (idx, of_word) in name_words[start..][..n_words].iter().zip(&name_shapes[start..]) {
            let (is_near, is_longer) = (shape.is_near(*of_word, max_distance), shape.may_start(*of_word));
            if !is_near && !is_longer {
                continue;
            }
            let word = words.text(*idx);
            let distance = if is_longer && word.starts_with(unknown) {
                // Ranked after every misspelled word; shorter completions are better.
                max_distance + usize::from(of_word.n_chars) - n_chars
            } else {
                match is_near.then(|| distance_up_to(max_distance, unknown, word)).flatten() {
                    Some(distance) => distance,
                    None => continue,
                }
            };
            if !found.contains(&(distance, word)) && is_in_a_name(part, *idx) {
                found.push((distance, word));
            }
        }
    }
    found.sort_unstable();
    found.truncate(MAX_FOUND);
    found.into_iter().map(|(_, word)| Replacement { unknown: unknown.to_owned(), word: word.to_owned() }).collect()
}

/// Returns true if a live tool has the word in its name.
fn is_in_a_name(part: &Part, word: u32) -> bool {
    let segment = &part.segment;
    let named = segment.named.get(segment.words.get(word).named);
    named.docs.iter().any(|doc| part.is_live(segment.order.tools[*doc as usize] as usize))
}
