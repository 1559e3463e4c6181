//! What a search finds.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::query::Query;
use super::search::{Found, UNIT};
use super::snapshot::Snapshot;
use super::summary::Summary;

/// A tool that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Hit {
    /// What it is.
    #[serde(serialize_with = "shared")]
    pub summary: Arc<Summary>,
    /// How well it answers; higher is better, and only comparable within one answer.
    pub score: f32,
    /// What the score is.
    pub score_type: ScoreType,
}

/// What a score is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ScoreType {
    /// By words: see [`Ranking`](super::Ranking).
    Bm25,
    /// By meaning: the cosine of two embeddings.
    Embedding,
    /// By both.
    Hybrid,
}

impl Hit {
    pub(super) fn by_words(found: Found<'_>) -> Self {
        let score = found.score as f32 / UNIT;
        Self { summary: Arc::clone(&found.record.summary), score, score_type: ScoreType::Bm25 }
    }
}

fn shared<S: Serializer>(summary: &Arc<Summary>, serializer: S) -> Result<S::Ok, S::Error> {
    summary.serialize(serializer)
}

impl Snapshot {
    /// The tools that answer a question best, at most `limit`; equally good ones in the order of their ids.
    ///
    /// Any word of the question will do; a question without words is answered by all tools in the order of their ids,
    /// and one of stop words alone by tools that are named so, if there are any. Of a very long question the first 16
    /// KiB and 256 words count.
    #[must_use]
    pub fn search<'q>(&self, query: impl Into<Query<'q>>, limit: usize) -> Vec<Hit> {
        let query = query.into();
        self.found(&query, limit).into_iter().map(Hit::by_words).collect()
    }
}
