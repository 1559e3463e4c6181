//! Finding tools by what is meant, and by that and words together.

mod blend;
mod text;
mod vectors;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

pub use self::blend::Blend;
use self::text::text_of;
use self::vectors::{Cache, Vectors};
use super::hit::{Hit, ScoreType};
use super::query::Query;
use super::search::UNIT;
use super::snapshot::Snapshot;

/// Turns texts into vectors that are near each other where the texts mean much the same.
///
/// A model in this process and an endpoint elsewhere are both embedders; the crate `toolkit-embed` has one of each, and
/// one that keeps vectors in a file. Calls may block: of the tools' texts they are made by [`Semantic::update`] alone, and
/// a search makes one, for its question.
pub trait Embedder: Send + Sync {
    /// A vector for each of the texts, all of one length.
    ///
    /// # Errors
    ///
    /// Whatever keeps the model from answering.
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

/// Whatever keeps an embedder from answering.
pub type EmbedderError = Box<dyn std::error::Error + Send + Sync>;

/// How many texts an embedder is given at once.
const BATCH: usize = 64;

/// Finds the tools of an index by what is meant.
///
/// A model reads of a tool its namespace and name in words, its summary, and the names of its arguments.
///
/// [`Semantic::update`] has vectors made of the tools that are new or say something else than before; until then a new
/// tool is found by its words alone, and a changed one by its words and by what it meant before. Call it where waiting for the model hurts nobody, such as in
/// [`Index::on_change`](super::Index::on_change) by way of a thread.
pub struct Semantic<E> {
    embedder: E,
    /// Behind a lock of its own: making vectors takes long, and searches read only `current`.
    cache: Mutex<Cache>,
    current: RwLock<Arc<Vectors>>,
}

impl<E: Embedder> Semantic<E> {
    /// Finds tools with the help of a model.
    pub fn new(embedder: E) -> Self {
        Self { embedder, cache: Mutex::default(), current: RwLock::default() }
    }

    /// Has vectors made for the tools of a snapshot, and says of how many texts.
    ///
    /// A text has a vector made once, however often its tool goes and comes, as long as no update is made without it.
    ///
    /// Updates wait for one another, and the last one counts, of whichever version its snapshot is. So let one thread
    /// make them, which takes each time the snapshot that there is then.
    ///
    /// # Errors
    ///
    /// The model does not answer, or not with a vector of one length for each text. What is found stays as it was
    /// before; where lengths differ, the next update has all vectors made anew.
    pub fn update(&self, snapshot: &Snapshot) -> Result<usize, SemanticError> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let texts: Vec<(String, String)> =
            snapshot.records().map(|record| (record.id().to_owned(), text_of(&record.tool.clone()))).collect();
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

    /// The tools that answer a question best, at most `limit`; equally good ones in the order of their ids.
    ///
    /// A question without words is answered as by [`Snapshot::search`].
    ///
    /// # Errors
    ///
    /// The model does not answer, or the blend is none.
    pub fn search<'q>(
        &self,
        snapshot: &Snapshot,
        query: impl Into<Query<'q>>,
        blend: Blend,
        limit: usize,
    ) -> Result<Vec<Hit>, SemanticError> {
        let query = query.into();
        blend.check()?;
        if limit == 0 || blend == Blend::Words || query.text().trim().is_empty() {
            return Ok(snapshot.search(query, limit));
        }
        let vectors = Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner));
        let question = self.embed(&[query.text()])?.swap_remove(0);
        let by_meaning: Vec<(&str, f32)> = vectors
            .near(&question)?
            .filter(|(id, _)| snapshot.record(id).is_some_and(|record| query.filter.admits(record)))
            .collect();
        let score_type = if blend == Blend::Meaning { ScoreType::Embedding } else { ScoreType::Hybrid };
        let by_words = match blend {
            Blend::Meaning => Vec::new(),
            _ => snapshot.found(&query, Blend::DEPTH.max(limit)),
        };
        let words = by_words.iter().map(|found| (found.record.id(), found.score as f32 / UNIT)).collect();
        let mut mixed = blend.mix(words, by_meaning);
        mixed.truncate(limit);
        let hits = mixed.into_iter().filter_map(|(id, score)| {
            let summary = Arc::clone(&snapshot.record(id)?.summary);
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

/// Why nothing was searched by meaning.
#[derive(Debug)]
#[non_exhaustive]
pub enum SemanticError {
    /// The model does not answer.
    Embedder(EmbedderError),
    /// The model made another number of vectors than it was given texts.
    #[non_exhaustive]
    Count {
        /// How many it was given.
        texts: usize,
        /// How many it made.
        vectors: usize,
    },
    /// Vectors of one model have different lengths.
    #[non_exhaustive]
    Length {
        /// The length of those that there are.
        expected: usize,
        /// The length of this one.
        found: usize,
    },
    /// The share of words in a blend is not from 0 to 1.
    #[non_exhaustive]
    Share {
        /// The share asked for.
        words: f32,
    },
    /// What meaning is worth in a blend is below zero, or no number.
    #[non_exhaustive]
    Worth {
        /// What was asked for.
        meaning: f32,
    },
}

impl fmt::Display for SemanticError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedder(error) => write!(f, "the embedder failed: {error}"),
            Self::Count { texts, vectors } => {
                write!(f, "the embedder made {vectors} vectors of {texts} texts; it must make one of each")
            }
            Self::Length { expected, found } => write!(
                f,
                "the embedder made a vector of {found} numbers after others of {expected}; use one model for all"
            ),
            Self::Share { words } => write!(f, "the share of words is {words}; it is from 0 to 1"),
            Self::Worth { meaning } => write!(f, "meaning is worth {meaning}; it is worth 0 or more"),
        }
    }
}

impl std::error::Error for SemanticError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Embedder(error) => Some(&**error),
            _ => None,
        }
    }
}
