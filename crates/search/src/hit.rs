//! Hits of a search.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::search::{Found, UNIT};
use super::summary::Summary;

/// A tool that a search returned.
///
/// ```
/// use serde_json::json;
/// use toolkit::Tool;
/// use toolkit_search::Index;
///
/// let send = Tool::builder("send").namespace("mail").description("Sends an email.").build()?;
/// let hits = Index::from_tools(&[send]).search("email", 5);
/// assert_eq!(hits[0].summary.id, "mail:send");
/// assert!(hits[0].score > 0.0);
///
/// // As JSON, for a model or another program.
/// let json = serde_json::to_value(&hits)?;
/// assert_eq!(json[0]["summary"]["shortDescription"], "Sends an email.");
/// assert_eq!(json[0]["scoreType"], "bm25");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// # use toolkit_search::{Embedder, EmbedderError};
/// # struct Model;
/// # impl Embedder for Model {
/// #     fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
/// #         Ok(texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect())
/// #     }
/// # }
/// use toolkit::Tool;
/// use toolkit_search::{Fusion, Index, ScoreType, Semantic};
///
/// let snapshot = Index::from_tools(&[Tool::builder("send").build()?]).snapshot();
/// let semantic = Semantic::new(Model);
/// semantic.update(&snapshot)?;
/// let score_type = |fusion| semantic.search(&snapshot, "send", fusion, 1).map(|hits| hits[0].score_type);
/// assert_eq!(score_type(Fusion::Words)?, ScoreType::Bm25);
/// assert_eq!(score_type(Fusion::Meaning)?, ScoreType::Embedding);
/// assert_eq!(score_type(Fusion::default())?, ScoreType::Hybrid);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
        Self { summary: Arc::clone(found.record.summary()), score, score_type: ScoreType::Bm25 }
    }
}

fn shared<S: Serializer>(summary: &Arc<Summary>, serializer: S) -> Result<S::Ok, S::Error> {
    summary.serialize(serializer)
}
