//! Models that run in this process.

mod bert;
mod config;
mod tokenizer;

use std::fmt;
use std::num::NonZero;
use std::path::Path;
use std::thread;

use crate::{Embedder, EmbedderError};

use self::bert::Bert;
use self::config::Config;
pub use self::config::ModelError;
use self::config::Weights;
use self::tokenizer::Tokenizer;

/// A sentence-embedding model of the BERT family, such as all-MiniLM-L6-v2, that runs on the CPU of this process.
///
/// The vector of a text depends neither on the other texts nor on the number of threads. Long texts are truncated to
/// the number of tokens that the model was trained for, 256 for all-MiniLM-L6-v2.
///
/// ```no_run
/// use toolkit_search::Semantic;
/// use toolkit_search::embed::LocalModel;
///
/// let model = LocalModel::open("models/all-MiniLM-L6-v2")?;
/// assert_eq!(model.dimensions(), 384);
/// let semantic = Semantic::new(model);
/// # Ok::<(), toolkit_search::embed::ModelError>(())
/// ```
pub struct LocalModel {
    tokenizer: Tokenizer,
    bert: Bert,
}

impl LocalModel {
    /// Loads a model from a folder in the format of sentence-transformers: `config.json`, `tokenizer.json`,
    /// `model.safetensors`, and optionally `sentence_bert_config.json`, `modules.json` and the `config.json` of the
    /// pooling.
    ///
    /// # Errors
    ///
    /// Returns an error if a file is missing or damaged, or if the model is of another kind. Supported are BERT models
    /// with WordPiece tokens, GELU, 32-bit weights, and mean or first-token pooling.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, ModelError> {
        let folder = folder.as_ref();
        let config = Config::read(folder)?;
        let tokenizer = Tokenizer::read(folder, config.max_tokens, config.vocab_size)?;
        let bert = Bert::read(&config, &Weights::read(folder)?)?;
        Ok(Self { tokenizer, bert })
    }

    /// Returns the number of dimensions of a vector.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.bert.dimensions()
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        self.bert.vector(&self.tokenizer.tokens(text))
    }
}

/// Distributes texts among the cores of the machine.
impl Embedder for LocalModel {
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        let n_threads = thread::available_parallelism().map_or(1, NonZero::get).min(texts.len());
        if n_threads <= 1 {
            return Ok(texts.iter().map(|text| self.vector(text)).collect());
        }
        let embed = |texts: &[&str]| -> Vec<_> { texts.iter().map(|text| self.vector(text)).collect() };
        // All threads are joined before an error is returned, since a scope panics if a thread that was not joined has
        // panicked.
        let made: Vec<thread::Result<Vec<Vec<f32>>>> = thread::scope(|scope| {
            let shares = texts.chunks(texts.len().div_ceil(n_threads));
            let threads: Vec<_> = shares.map(|share| scope.spawn(move || embed(share))).collect();
            threads.into_iter().map(thread::ScopedJoinHandle::join).collect()
        });
        let made: thread::Result<Vec<Vec<Vec<f32>>>> = made.into_iter().collect();
        Ok(made.map_err(|_| "the model panicked")?.into_iter().flatten().collect())
    }
}

impl fmt::Debug for LocalModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalModel").field("dimensions", &self.dimensions()).finish_non_exhaustive()
    }
}
