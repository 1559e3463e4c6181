//! What a search finds.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::search::{Found, UNIT};
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
