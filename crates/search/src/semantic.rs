//! Semantic search by embeddings, alone or fused with the search by words.

mod fusion;
mod semantic_error;
mod vectors;

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

pub use self::fusion::Fusion;
pub use self::semantic_error::{EmbedderError, SemanticError};
use self::vectors::{VectorCache, Vectors};
use super::hit::{Hit, ScoreType};
use super::query::Query;
use super::search::{UNIT, search};
use super::snapshot::Snapshot;
use super::summary::summary_text;
use toolkit::tool::Tool;
use toolkit_runtime::Mutex;

/// An embedding model, which maps texts to vectors so that similar texts have similar vectors.
///
/// A model may run in this process or behind an endpoint. The module [`embed`](crate::embed) has one of each, and a
/// cache of vectors in a file. Calls may block. Only [`Semantic::update`] embeds the texts of tools; a search embeds its query.
///
/// ```
/// use toolkit_search::{Embedder, EmbedderError};
///
/// /// Embeds a text as its length.
/// struct Length;
///
/// impl Embedder for Length {
///     fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
///         Ok(texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect())
///     }
/// }
///
/// assert_eq!(Length.embed(&["mail"])?, [[4.0, 1.0]]);
/// # Ok::<(), EmbedderError>(())
/// ```
pub trait Embedder: Send + Sync {
    /// Embeds each text. All vectors have the same number of dimensions.
    ///
    /// # Errors
    ///
    /// Returns any error of the model.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError>;
}

impl<E: Embedder + ?Sized> Embedder for Arc<E> {
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        (**self).embed(texts)
    }
}

impl<E: Embedder + ?Sized> Embedder for Box<E> {
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        (**self).embed(texts)
    }
}

impl<E: Embedder + ?Sized> Embedder for &E {
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        (**self).embed(texts)
    }
}

/// The number of texts in one call of an embedder.
const BATCH: usize = 64;

/// A semantic search over the tools of an index.
///
/// The text that is embedded for a tool consists of its namespace and name, its summary, and the names of its
/// arguments.
///
/// [`Semantic::update`] embeds new and changed tools. Until then, the search by words alone finds a new tool, and a
/// changed tool keeps its previous vector. Call it where blocking is acceptable, such as in a thread that
/// [`Index::on_change`](super::Index::on_change) notifies.
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
/// use toolkit_search::{Fusion, Index, Semantic};
///
/// let send = Tool::builder("send").description("Sends an email.").build()?;
/// let (index, semantic) = (Index::from_tools(&[send]), Semantic::new(Model));
/// assert_eq!(semantic.update(&index.snapshot())?, 1);
/// let hits = semantic.search(&index.snapshot(), "post a letter", Fusion::default(), 5)?;
/// assert_eq!(hits[0].summary.name, "send");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Semantic<E> {
    embedder: E,
    /// Has its own lock, since embedding takes long and searches only read `current`.
    cache: Mutex<VectorCache>,
    current: RwLock<Arc<Vectors>>,
}

impl<E: Embedder> Semantic<E> {
    /// Creates a semantic search with an embedding model, without vectors.
    pub fn new(embedder: E) -> Self {
        Self { embedder, cache: Mutex::default(), current: RwLock::default() }
    }

    /// Embeds the new and changed tools of a snapshot, and returns the number of embedded texts.
    ///
    /// A text is not embedded again as long as every updated snapshot has a tool with it.
    ///
    /// Updates are serialized, and the last one determines the vectors, whatever the version of its snapshot. Let a
    /// single thread call this method with the current snapshot.
    ///
    /// # Errors
    ///
    /// Returns an error if the model fails, or does not return one vector for each text, all with the same number of
    /// dimensions. The previous vectors stay in use. If the numbers of dimensions differ, the next update embeds all
    /// texts.
    pub fn update(&self, snapshot: &Snapshot) -> Result<usize, SemanticError> {
        let mut cache = self.cache.lock();
        let texts: Vec<(String, String)> = snapshot
            .state
            .records()
            .map(|record| (record.id().into_owned(), text_of(&record.tool().clone())))
            .collect();
        let mut missing: Vec<&str> = texts.iter().map(|(_, text)| &**text).filter(|text| !cache.has(text)).collect();
        missing.sort_unstable();
        missing.dedup();
        for batch in missing.chunks(BATCH) {
            let made = self.embed(batch)?;
            for (text, vector) in batch.iter().zip(made) {
                cache.put(text, vector)?;
            }
        }
        let vectors = cache.keep(&texts);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(vectors);
        Ok(missing.len())
    }

    /// Returns the `limit` tools that match a query best; equal ones in the order of their ids.
    ///
    /// A query without words has the result of [`Snapshot::search`].
    ///
    /// # Errors
    ///
    /// Returns an error if the model fails or a parameter of `fusion` is invalid.
    pub fn search<'q>(
        &self,
        snapshot: &Snapshot,
        query: impl Into<Query<'q>>,
        fusion: Fusion,
        limit: usize,
    ) -> Result<Vec<Hit>, SemanticError> {
        let query = query.into();
        fusion.check()?;
        if limit == 0 || fusion == Fusion::Words || query.text().trim().is_empty() {
            return Ok(snapshot.search(query, limit));
        }
        let vectors = Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner));
        let question = self.embed(&[query.text()])?.swap_remove(0);
        let by_meaning: Vec<(&str, f32)> = vectors
            .near(&question)?
            .filter(|(id, _)| snapshot.state.record(id).is_some_and(|record| query.filter.matches(record)))
            .collect();
        let score_type = if fusion == Fusion::Meaning { ScoreType::Embedding } else { ScoreType::Hybrid };
        let by_words = match fusion {
            Fusion::Meaning => Vec::new(),
            _ => search(&snapshot.state, &query, Fusion::DEPTH.max(limit)),
        };
        let ids: Vec<_> = by_words.iter().map(|found| found.record.id()).collect();
        let words = ids.iter().zip(&by_words).map(|(id, found)| (&**id, found.score as f32 / UNIT)).collect();
        let mut fused = fusion.fuse(words, by_meaning);
        fused.truncate(limit);
        let hits = fused.into_iter().filter_map(|(id, score)| {
            let summary = Arc::clone(snapshot.state.record(id)?.summary());
            Some(Hit { summary, score, score_type })
        });
        Ok(hits.collect())
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, SemanticError> {
        let vectors = self.embedder.embed(texts).map_err(SemanticError::Embedder)?;
        if vectors.len() != texts.len() {
            return Err(SemanticError::Count { texts: texts.len(), vectors: vectors.len() });
        }
        Ok(vectors)
    }
}

impl<E> fmt::Debug for Semantic<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semantic").finish_non_exhaustive()
    }
}

/// The maximum length of the text in bytes; longer texts do not improve the results.
const MAX_LEN: usize = 2048;

/// Returns the text of a tool: its namespace and name split into words, its summary, and the names of its arguments.
///
/// The text depends on nothing but the tool. Only the first paragraph of the description is used: the others are about
/// calling the tool, and would have the same weight.
fn text_of(tool: &Tool) -> String {
    let mut text = in_words(tool.id().namespace().unwrap_or_default());
    push(&mut text, " ", &in_words(tool.name()));
    push(&mut text, ": ", &summary_text(tool, tool.meta().as_ref()));
    let arguments = tool.input().as_value()["properties"].as_object();
    let mut arguments: Vec<&String> = arguments.into_iter().flat_map(|arguments| arguments.keys()).collect();
    // The order must not depend on the features of `serde_json`.
    arguments.sort_unstable();
    for (nth, name) in arguments.into_iter().enumerate() {
        push(&mut text, if nth == 0 { " " } else { ", " }, &in_words(name));
        if text.len() >= MAX_LEN {
            break;
        }
    }
    text.truncate(text.floor_char_boundary(MAX_LEN));
    text
}

fn push(text: &mut String, between: &str, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str(between);
    }
    text.push_str(more);
}

/// Splits a name into words: `sendHTTPRequest_v2` becomes `send HTTP Request v2`.
fn in_words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 8);
    let mut before = ' ';
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let is_part = c.is_alphanumeric() || !c.is_ascii();
        let ends_word = before.is_lowercase() || before.is_numeric();
        let ends_acronym = before.is_uppercase() && chars.peek().is_some_and(|next| next.is_lowercase());
        if !is_part || (c.is_uppercase() && (ends_word || ends_acronym)) {
            words.push(' ');
        }
        if is_part {
            words.push(c);
        }
        before = c;
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}
