//! The evidence that a query has an answer.
//!
//! Every catalog has tools that get, find or create something, so that a request which no tool answers still matches
//! some of them. The subject of a request is in its other words. The evidence is therefore the score of a tool, in which
//! common words count a quarter. `docs/decisions/questions-without-an-answer.md` has the figures.

use crate::query::{ParsedQuery, Query, Word};
use crate::search::{Found, UNIT, best, scans_of, search};
use crate::state::{State, idf};
use crate::words::{is_common, stem};

/// The part of its score that a common word counts as evidence: one in `COMMON`.
const COMMON: u64 = 4;
/// The number of tools from which on the threshold is the whole one. Scores are lower in a smaller catalog, in which
/// many tools have the same subject.
const FULL: usize = 200;
/// The number of best tools whose evidence is examined, whatever the limit, so that any limit has the same first tools.
const EXAMINED: usize = 5;

/// Returns the `limit` tools that match a query best, or none if the query has no answer.
pub(crate) fn answers<'s>(state: &'s State, query: &Query<'_>, limit: usize) -> Vec<Found<'s>> {
    if limit == 0 || state.ranking.threshold == 0.0 || query.text().trim().is_empty() {
        return search(state, query, limit);
    }
    let parsed = ParsedQuery::new(query.text(), state);
    let mut found = best(state, &parsed, &query.filter, limit.max(EXAMINED));
    let has_answer = Evidence::new(state, &parsed).suffices(&found[..found.len().min(EXAMINED)]);
    found.truncate(if has_answer { limit } else { 0 });
    found
}

/// The evidence of a document for a query.
struct Evidence<'s, 'q> {
    state: &'s State,
    query: &'q ParsedQuery,
    /// False if all words are common. The query is then about them.
    has_specific_words: bool,
}

impl<'s, 'q> Evidence<'s, 'q> {
    fn new(state: &'s State, query: &'q ParsedQuery) -> Self {
        let has_specific_words = query.words.iter().any(|word| !is_common(&word.stem))
            || query.unknown.iter().any(|word| !is_common(&stem(word)));
        Self { state, query, has_specific_words }
    }

    /// Returns true if any of the best tools has enough evidence.
    fn suffices(&self, found: &[Found<'_>]) -> bool {
        let threshold = self.state.ranking.threshold * UNIT;
        let of_specific_words = threshold * self.state.n_tools.min(FULL) as f32 / FULL as f32;
        let suffices = |found: &Found<'_>| {
            let of_common = self.score_of(found, self.query.words.iter().filter(|word| self.counts_less(&word.stem)));
            let specific = u64::from(found.score).saturating_sub(of_common);
            specific >= (of_specific_words as u64).max(1) || specific + of_common / COMMON >= threshold as u64
        };
        found.iter().any(suffices) || found.iter().any(|found| self.covers_half(found))
    }

    fn counts_less(&self, stem: &str) -> bool {
        self.has_specific_words && is_common(stem)
    }

    /// Returns true if a tool contains at least half of the query, weighted by `idf`. Even a perfect match has a low score
    /// in a small catalog, or in a long text.
    fn covers_half(&self, found: &Found<'_>) -> bool {
        let Self { state, query, .. } = self;
        let weight = |stem: &str, n_tools: u32| {
            idf(state.n_tools, n_tools) / if self.counts_less(stem) { COMMON as f32 } else { 1.0 }
        };
        let (mut whole, mut covered) = (0.0, 0.0);
        let is_replacement = |text: &str| query.replacements.iter().any(|replacement| replacement.word == text);
        for word in query.words.iter().filter(|word| !is_replacement(&word.text)) {
            let weight = weight(&word.stem, self.count(&word.stem));
            whole += weight;
            covered += if self.contains(found, word) { weight } else { 0.0 };
        }
        for unknown in &query.unknown {
            let weight = weight(&stem(unknown), 0);
            whole += weight;
            let replacements = query.replacements.iter().filter(|replacement| replacement.unknown == *unknown);
            let words = replacements.flat_map(|of| query.words.iter().filter(|word| word.text == of.word));
            let found = words.filter(|word| self.contains(found, word));
            covered += weight * found.map(|word| word.factor).fold(0.0, f32::max);
        }
        covered * 2.0 >= whole
    }

    fn contains(&self, found: &Found<'_>, word: &Word) -> bool {
        self.score_of(found, [word]) > 0
    }

    /// Returns the score of a tool for some words of the query.
    fn score_of<'w>(&self, found: &Found<'_>, words: impl IntoIterator<Item = &'w Word>) -> u64 {
        let (part, tool) = found.place;
        let part = &self.state.parts[part as usize];
        let order = &part.segment.order;
        let lists = scans_of(self.state, part, words, self.state.norm());
        lists.iter().map(|list| u64::from(list.score_of(order.docs[tool as usize], &order.lengths))).sum()
    }

    /// Returns the number of tools with a stem.
    fn count(&self, stem: &str) -> u32 {
        let counts = self.state.parts.iter().filter_map(|part| Some(part.stem_count(part.segment.stems.find(stem)?)));
        counts.max().unwrap_or(0)
    }
}
