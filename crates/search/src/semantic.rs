//! Semantic search by embeddings, alone or fused with the search by words.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use foldhash::quality::RandomState;

use super::hit::{Hit, ScoreType};
use super::query::Query;
use super::search::{UNIT, search};
use super::snapshot::Snapshot;
use super::summary::summary_text;
use toolkit::tool::Tool;

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
    cache: Mutex<Cache>,
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
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
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

// Errors of embedders and of the semantic search.

/// An error of an embedder.
///
/// Any error type converts to it with `?`:
///
/// ```
/// use toolkit_search::{Embedder, EmbedderError};
///
/// /// Reads vectors from the lines of a file.
/// struct Precomputed(std::path::PathBuf);
///
/// impl Embedder for Precomputed {
///     fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
///         let lines = std::fs::read_to_string(&self.0)?;
///         let vectors = lines.lines().take(texts.len());
///         vectors.map(|line| Ok(line.split(' ').map(str::parse).collect::<Result<_, _>>()?)).collect()
///     }
/// }
///
/// let error = Precomputed("missing".into()).embed(&["mail"]).unwrap_err();
/// assert!(error.is::<std::io::Error>());
/// ```
pub type EmbedderError = Box<dyn std::error::Error + Send + Sync>;

/// An error of a semantic search.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_search::{Embedder, EmbedderError, Fusion, Index, Semantic, SemanticError};
///
/// /// A model whose server is down.
/// struct Unreachable;
///
/// impl Embedder for Unreachable {
///     fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
///         Err("connection refused".into())
///     }
/// }
///
/// let snapshot = Index::from_tools(&[Tool::builder("send").build()?]).snapshot();
/// let hits = match Semantic::new(Unreachable).search(&snapshot, "send", Fusion::default(), 5) {
///     // The search by words needs no model.
///     Err(SemanticError::Embedder(_)) => snapshot.search("send", 5),
///     other => other?,
/// };
/// assert_eq!(hits[0].summary.name, "send");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum SemanticError {
    /// The embedder failed.
    Embedder(EmbedderError),
    /// The embedder did not return one vector for each text.
    #[non_exhaustive]
    Count {
        /// The number of texts.
        texts: usize,
        /// The number of vectors.
        vectors: usize,
    },
    /// Vectors have different numbers of dimensions.
    #[non_exhaustive]
    Length {
        /// The number of dimensions of the other vectors.
        expected: usize,
        /// The number of dimensions of the vector.
        found: usize,
    },
    /// The weight of the search by words is not from 0 to 1.
    #[non_exhaustive]
    LinearWeight {
        /// The weight.
        words: f32,
    },
    /// The weight of the semantic search is negative or not finite.
    #[non_exhaustive]
    AdditiveWeight {
        /// The weight.
        meaning: f32,
    },
}

impl fmt::Display for SemanticError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedder(error) => write!(f, "the embedder failed: {error}"),
            Self::Count { texts, vectors } => {
                write!(f, "the embedder returned {vectors} vectors for {texts} texts")
            }
            Self::Length { expected, found } => write!(
                f,
                "the embedder returned a vector with {found} dimensions after vectors with {expected}; use a single model"
            ),
            Self::LinearWeight { words } => write!(f, "the weight of words is {words}; it must be from 0 to 1"),
            Self::AdditiveWeight { meaning } => {
                write!(f, "the weight of meaning is {meaning}; it must be finite and at least 0")
            }
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

// The vectors of tools.

/// Vectors by hashes of their texts.
#[derive(Default)]
struct Cache {
    vectors: HashMap<u128, Arc<[f32]>, RandomState>,
    /// Two independent random hashers, so that texts with the same key cannot be constructed.
    hashers: [RandomState; 2],
}

impl Cache {
    fn has(&self, text: &str) -> bool {
        self.vectors.contains_key(&self.key(text))
    }

    /// Inserts a vector. If its length differs from the others', it is unknown which of them are wrong, so that all are
    /// removed.
    fn put(&mut self, text: &str, mut vector: Vec<f32>) -> Result<(), SemanticError> {
        let expected = self.vectors.values().next().map_or(vector.len(), |vector| vector.len());
        if vector.len() != expected {
            self.vectors.clear();
            return Err(SemanticError::Length { expected, found: vector.len() });
        }
        normalize(&mut vector);
        self.vectors.insert(self.key(text), vector.into());
        Ok(())
    }

    /// Returns the vectors of tools by id, and removes all others from the cache.
    fn keep(&mut self, tools: &[(String, String)]) -> Vectors {
        let mut kept = HashMap::default();
        let mut vectors = Vectors::default();
        for (id, text) in tools {
            let key = self.key(text);
            let Some(vector) = self.vectors.get(&key) else { continue };
            vectors.length = Some(vector.len());
            kept.insert(key, Arc::clone(vector));
            vectors.tools.push((id.clone(), Arc::clone(vector)));
        }
        self.vectors = kept;
        vectors
    }

    fn key(&self, text: &str) -> u128 {
        let [a, b] = self.hashers.each_ref().map(|hasher| u128::from(hasher.hash_one(text)));
        a << 64 | b
    }
}

/// The normalized vectors of tools, in the order of their ids.
#[derive(Default)]
struct Vectors {
    length: Option<usize>,
    tools: Vec<(String, Arc<[f32]>)>,
}

impl Vectors {
    /// Returns the cosine similarity of each tool and the query.
    fn near(&self, question: &[f32]) -> Result<impl Iterator<Item = (&str, f32)>, SemanticError> {
        if let Some(expected) = self.length.filter(|expected| *expected != question.len()) {
            return Err(SemanticError::Length { expected, found: question.len() });
        }
        let mut question = question.to_vec();
        normalize(&mut question);
        Ok(self.tools.iter().map(move |(id, vector)| (&**id, dot(&question, vector))))
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Eight sums, which the compiler vectorizes.
    let mut sums = [0.0_f32; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        (0..8).for_each(|lane| sums[lane] += a[lane] * b[lane]);
    }
    sums.iter().sum::<f32>() + rest
}

/// Normalizes a vector. An empty, zero or non-finite vector becomes zero, which is similar to nothing.
fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    if !(length.is_finite() && length > 0.0) {
        return vector.fill(0.0);
    }
    vector.iter_mut().for_each(|x| *x = (f64::from(*x) / length) as f32);
}

// Fusion of the search by words and the semantic search.

/// The method that fuses the search by words and the semantic search.
///
/// The default is [`Fusion::additive`] with the weight 32. `benches/tables/semantic-search.md` documents how it was chosen, and its
/// quality.
///
/// ```
/// use toolkit_search::Fusion;
///
/// assert_eq!(Fusion::default(), Fusion::additive(32.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fusion {
    /// The search by words only; see [`Snapshot::search`](super::Snapshot::search).
    Words,
    /// The semantic search only: the cosine similarity of two vectors.
    Meaning,
    /// Reciprocal rank fusion (RRF): the sum of `1 / (60 + rank)`, independent of the scores.
    #[non_exhaustive]
    Rrf,
    /// The score of the search by words, plus the cosine similarity scaled to a range from 0 for the lowest to
    /// `meaning` for the highest.
    ///
    /// A score of the search by words is a sum of evidence: it grows with the number of matching words and with their
    /// rarity. Since it is not normalized here, the words decide if many of them match, and the embeddings decide if
    /// few do, separately for each query. The other methods give both searches a fixed weight, even if the best match
    /// of words is weak.
    #[non_exhaustive]
    Additive {
        /// The maximum contribution of the semantic search, on the scale of word scores; 0 and up.
        meaning: f32,
    },
    /// The weighted sum of normalized scores: word scores relative to the best one, and cosine similarities scaled to a
    /// range from 0 for the lowest to 1 for the highest.
    #[non_exhaustive]
    Linear {
        /// The weight of the search by words, from 0 to 1; the semantic search has the rest.
        words: f32,
    },
}

impl Default for Fusion {
    fn default() -> Self {
        Self::additive(32.0)
    }
}

impl Fusion {
    /// The maximum number of results that are fused.
    const DEPTH: usize = 1000;

    /// The constant of RRF: the higher it is, the less the first ranks stand out. 60 is usual.
    const K: f32 = 60.0;

    /// Returns reciprocal rank fusion.
    #[must_use]
    pub const fn rrf() -> Self {
        Self::Rrf
    }

    /// Returns additive fusion, with the maximum contribution of the semantic search.
    #[must_use]
    pub const fn additive(meaning: f32) -> Self {
        Self::Additive { meaning }
    }

    /// Returns linear fusion, with the weight of the search by words; 0.5 is a neutral choice.
    #[must_use]
    pub const fn linear(words: f32) -> Self {
        Self::Linear { words }
    }

    fn check(self) -> Result<(), SemanticError> {
        match self {
            Self::Linear { words } if !(0.0..=1.0).contains(&words) => Err(SemanticError::LinearWeight { words }),
            Self::Additive { meaning } if !(meaning >= 0.0 && meaning.is_finite()) => {
                Err(SemanticError::AdditiveWeight { meaning })
            }
            _ => Ok(()),
        }
    }

    /// Fuses two results, and returns the best tools first. `words` is sorted by score.
    fn fuse<'t>(self, words: Vec<(&'t str, f32)>, mut meaning: Vec<(&'t str, f32)>) -> Vec<(&'t str, f32)> {
        let mut fused: BTreeMap<&'t str, f32> = BTreeMap::new();
        match self {
            Self::Words => fused.extend(words),
            Self::Meaning => fused.extend(meaning),
            Self::Rrf => {
                meaning.sort_by(best_first);
                meaning.truncate(Self::DEPTH);
                for answer in [words, meaning] {
                    for (rank, (id, _)) in answer.into_iter().enumerate() {
                        *fused.entry(id).or_default() += 1.0 / (Self::K + rank as f32 + 1.0);
                    }
                }
            }
            Self::Linear { words: share } => {
                let best = words.first().map_or(1.0, |(_, score)| score.max(f32::MIN_POSITIVE));
                fused.extend(words.into_iter().map(|(id, score)| (id, share * score / best)));
                add_scaled(&mut fused, meaning, 1.0 - share);
            }
            Self::Additive { meaning: worth } => {
                fused.extend(words);
                add_scaled(&mut fused, meaning, worth);
            }
        }
        let mut fused: Vec<(&str, f32)> = fused.into_iter().collect();
        fused.sort_by(best_first);
        fused
    }
}

/// Adds cosine similarities, scaled to a range from 0 for the lowest to `max_score` for the highest.
fn add_scaled<'t>(fused: &mut BTreeMap<&'t str, f32>, cosines: Vec<(&'t str, f32)>, max_score: f32) {
    let bound = |f: fn(f32, f32) -> f32| cosines.iter().map(|(_, cosine)| *cosine).reduce(f).unwrap_or(0.0);
    let (least, greatest) = (bound(f32::min), bound(f32::max));
    let range = (greatest - least).max(f32::MIN_POSITIVE);
    for (id, cosine) in cosines {
        *fused.entry(id).or_default() += max_score * ((cosine - least) / range);
    }
}

fn best_first(a: &(&str, f32), b: &(&str, f32)) -> Ordering {
    b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0))
}
