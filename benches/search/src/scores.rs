//! Comparison of scores with those of tantivy.

use std::error::Error;

use toolkit_search::{Index, Ranking};

use crate::by_tantivy::ByTantivy;
use crate::corpus::Corpus;

/// Scores are integers in units of 1/65,536, and the part of each word is truncated to one.
const ROUNDING: f32 = 1e-4;

/// Compares every score of every question with that of tantivy, and returns their number.
///
/// # Errors
///
/// Returns an error if scores differ by more than rounding, or only one library finds a tool.
pub(crate) fn compare(n_tools: usize) -> Result<usize, Box<dyn Error>> {
    let corpus = Corpus::uniform(n_tools);
    let peer = ByTantivy::of(&corpus)?;
    let index = Index::with_ranking(&corpus.tools, Ranking::plain());
    let mut n_compared = 0;
    for (place, question) in corpus.questions.iter().enumerate() {
        let scores = peer.scores(place, n_tools)?;
        let hits = index.search(question, usize::MAX);
        if hits.len() != scores.len() {
            return Err(format!("`{question}` finds {} tools, and {} in tantivy", hits.len(), scores.len()).into());
        }
        for hit in hits {
            let number: usize = hit.summary.id.rsplit(':').next().unwrap_or_default().parse()?;
            let of_peer = scores.get(&number).copied().unwrap_or_default();
            if (hit.score - of_peer).abs() > ROUNDING {
                return Err(format!("`{question}`: tool {number} has {}, and {of_peer} in tantivy", hit.score).into());
            }
            n_compared += 1;
        }
    }
    Ok(n_compared)
}

#[cfg(test)]
mod tests {
    #[test]
    fn scores_are_those_of_tantivy() {
        assert!(super::compare(1_000).unwrap() > 10_000);
    }
}
