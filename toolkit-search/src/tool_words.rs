//! The words and stems of a tool.

use std::collections::BTreeSet;

use super::fields::each_word_of;
use super::ranking::Weights;
use super::words::stem;
use toolkit::tool::Tool;

/// The distinct words and stems of a tool.
pub(super) struct ToolWords {
    pub(super) words: BTreeSet<String>,
    pub(super) stems: BTreeSet<String>,
}

impl ToolWords {
    pub(super) fn new(tool: &Tool, weights: &Weights) -> Self {
        let mut words = BTreeSet::new();
        each_word_of(tool, |field, word| {
            if weights.get(field) > 0 && !words.contains(word) {
                words.insert(word.to_owned());
            }
        });
        let stems = words.iter().map(|word| stem(word).into_owned()).collect();
        Self { words, stems }
    }
}
