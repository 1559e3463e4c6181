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

/// The words of a question, each once.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) words: Vec<Word>,
    /// Words that are here in place of one that no tool has.
    pub(super) near: Vec<Near>,
}

/// A word, its stem, and what finding it is worth.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) stem: String,
    pub(super) factor: f32,
}

impl Asked {
    /// The words that `text` asks for.
    ///
    /// A word that no tool has is taken to be mistyped or not typed to its end: words of names that it could become are
    /// asked for in its place.
    pub(super) fn of(text: &str, snapshot: &Snapshot) -> Self {
        let mut asked = Self::default();
        let mut unknown: Vec<String> = Vec::new();
        let head = &text[..text.floor_char_boundary(MAX_TEXT_LEN)];
        each_word_of_question(head, |word| {
            if asked.words.len() + unknown.len() == MAX_WORDS || asked.words.iter().any(|known| known.text == word) {
                return;
            }
            if let Some(stem) = snapshot.stem_of_known(word) {
                asked.words.push(Word { text: word.to_owned(), stem, factor: 1.0 });
            } else if unknown.len() < MAX_UNKNOWN && unknown.iter().all(|known| known != word) {
                unknown.push(word.to_owned());
            }
        });
        if snapshot.ranking.near == 0.0 {
            return asked;
        }
        for near in unknown.iter().flat_map(|word| near::words(snapshot, word)) {
            if asked.words.iter().all(|known| known.text != near.found) {
                let (text, stem) = (near.found.clone(), stem(&near.found).into_owned());
                asked.words.push(Word { text, stem, factor: snapshot.ranking.near });
            }
            asked.near.push(near);
        }
        asked
    }

    /// The stems, each once: of two words with one stem the first says what it is worth.
    pub(super) fn stems(&self) -> impl Iterator<Item = (&str, f32)> {
        let words = self.words.iter().enumerate();
        let firsts = words.filter(|(at, word)| self.words[..*at].iter().all(|before| before.stem != word.stem));
        firsts.map(|(_, word)| (&*word.stem, word.factor))
    }
}
