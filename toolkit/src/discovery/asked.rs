//! The words of a question.

use super::near::{self, Near};
use super::snapshot::Snapshot;
use super::words::{each_word_of_question, stem};

/// More of a question than this is not read, in bytes.
const MAX_TEXT_LEN: usize = 1 << 14;
/// More words than this are not looked up.
const MAX_WORDS: usize = 256;
/// For more unknown words than this none is looked for that is near.
const MAX_UNKNOWN: usize = 8;
/// What a word is worth that is near to the one that was asked for.
const NEAR: f32 = 0.5;

/// The words of a question, each once, and what each is worth.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) words: Vec<(String, f32)>,
    pub(super) stems: Vec<(String, f32)>,
    /// Words that are here in place of one that no tool has.
    pub(super) near: Vec<Near>,
}

impl Asked {
    /// The words that `text` asks for.
    ///
    /// A word that no tool has is taken to be mistyped or not typed to its end: words of names that it could become are
    /// asked for in its place.
    pub(super) fn of(text: &str, snapshot: &Snapshot) -> Self {
        let mut asked = Self::default();
        let mut unknown = Vec::new();
        let head = &text[..text.floor_char_boundary(MAX_TEXT_LEN)];
        each_word_of_question(head, |word| {
            if asked.words.len() + unknown.len() == MAX_WORDS || asked.words.iter().any(|(known, _)| known == word) {
                return;
            }
            let stem = stem(word);
            if snapshot.knows(word, &stem) {
                asked.add(word, &stem, 1.0);
            } else if unknown.len() < MAX_UNKNOWN && unknown.iter().all(|known| known != word) {
                unknown.push(word.to_owned());
            }
        });
        for word in unknown {
            for near in near::words(snapshot, &word) {
                asked.add(&near.found, &stem(&near.found), NEAR);
                asked.near.push(near);
            }
        }
        asked
    }

    /// Asks for a word; one that is asked for already stays what it was worth.
    fn add(&mut self, word: &str, stem: &str, factor: f32) {
        for (terms, text) in [(&mut self.words, word), (&mut self.stems, stem)] {
            if terms.iter().all(|(known, _)| known != text) {
                terms.push((text.to_owned(), factor));
            }
        }
    }
}
