//! Parsed queries.

use super::fuzzy::{self, Replacement};
use super::state::State;
use super::words::{each_word_of_query, stem};

/// The number of bytes of a query that are parsed.
const MAX_TEXT_LEN: usize = 1 << 14;
/// The maximum number of distinct words.
const MAX_WORDS: usize = 256;
/// The maximum number of unknown words for which similar ones are searched.
const MAX_UNKNOWN: usize = 8;

/// The distinct words of a query.
#[derive(Debug, Default)]
pub(super) struct ParsedQuery {
    pub(super) words: Vec<Word>,
    /// Similar words that replace words which no tool contains.
    pub(super) replacements: Vec<Replacement>,
}

/// A word, its stem and the factor of its score.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) stem: String,
    pub(super) factor: f32,
}

impl ParsedQuery {
    /// Parses `text`.
    ///
    /// A word that no tool contains is assumed to be misspelled or incomplete, and replaced by similar words of tool
    /// names.
    pub(super) fn new(text: &str, state: &State) -> Self {
        let mut query = Self::default();
        let mut unknown: Vec<String> = Vec::new();
        let head = &text[..text.floor_char_boundary(MAX_TEXT_LEN)];
        each_word_of_query(head, |word| {
            if query.words.len() + unknown.len() == MAX_WORDS || query.words.iter().any(|known| known.text == word) {
                return;
            }
            if let Some(stem) = state.stem_of_known(word) {
                query.words.push(Word { text: word.to_owned(), stem, factor: 1.0 });
            } else if unknown.len() < MAX_UNKNOWN && unknown.iter().all(|known| known != word) {
                unknown.push(word.to_owned());
            }
        });
        if state.ranking.fuzzy == 0.0 {
            return query;
        }
        for replacement in unknown.iter().flat_map(|word| fuzzy::replacements(state, word)) {
            if query.words.iter().all(|known| known.text != replacement.word) {
                let (text, stem) = (replacement.word.clone(), stem(&replacement.word).into_owned());
                query.words.push(Word { text, stem, factor: state.ranking.fuzzy });
            }
            query.replacements.push(replacement);
        }
        query
    }

    /// Returns the distinct stems; of several words with the same stem, the first determines the factor.
    pub(super) fn stems(&self) -> impl Iterator<Item = (&str, f32)> {
        let words = self.words.iter().enumerate();
        let firsts = words.filter(|(at, word)| self.words[..*at].iter().all(|before| before.stem != word.stem));
        firsts.map(|(_, word)| (&*word.stem, word.factor))
    }
}
