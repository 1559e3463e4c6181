//! Hits of a search.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::query::Query;
use super::search::{Found, UNIT};
use super::snapshot::Snapshot;
use super::summary::Summary;

/// A tool that a search returned.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Hit {
    /// A summary of the tool.
    #[serde(serialize_with = "shared")]
    pub summary: Arc<Summary>,
    /// The score; higher is better. Scores are only comparable within one result.
    pub score: f32,
    /// The type of the score.
    pub score_type: ScoreType,
}

/// The type of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ScoreType {
    /// A word score; see [`Ranking`](super::Ranking).
    Bm25,
    /// The cosine similarity of two embeddings.
    Embedding,
    /// A combination of both.
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
    /// Returns the `limit` tools that match a query best; equal ones in the order of their ids.
    ///
    /// A tool matches if it contains any word of the query. A query without words matches all tools, in the order of
    /// their ids. A query of stop words only matches tools with such a name, if there are any. Only the first 16 KiB
    /// and 256 words of a query are used.
    ///
    /// ```
    /// use toolkit::Tool;
    /// use toolkit_search::Index;
    ///
    /// let send = Tool::builder("send").description("Sends an email.").build()?;
    /// let snapshot = Index::from_tools(&[send]).snapshot();
    /// assert_eq!(snapshot.search("email", 5)[0].summary.name, "send");
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn search<'q>(&self, query: impl Into<Query<'q>>, limit: usize) -> Vec<Hit> {
        let query = query.into();
        self.found(&query, limit).into_iter().map(Hit::by_words).collect()
    }
}
