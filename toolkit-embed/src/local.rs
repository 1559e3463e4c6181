//! A model that runs in this process.

mod bert;
mod config;
mod error;
mod file;
mod pooling;
mod tokenizer;
mod weights;

use std::fmt;
use std::num::NonZero;
use std::path::Path;
use std::thread;

use toolkit::discovery::{Embedder, EmbedderError};

use self::bert::Bert;
use self::config::Config;
pub use self::error::ModelError;
use self::tokenizer::Tokenizer;
use self::weights::Weights;

/// A sentence-embedding model of the BERT family, such as all-MiniLM-L6-v2, that runs on the CPU of this process.
///
/// A text has the same vector whatever it is embedded together with, and on however many threads. Of a long text the
/// beginning counts: as many tokens as the model was trained for, which are 256 of all-MiniLM-L6-v2.
pub struct LocalModel {
    tokenizer: Tokenizer,
    bert: Bert,
}

impl LocalModel {
    /// Loads the model in a folder, as sentence-transformers publishes it: `config.json`, `tokenizer.json`,
    /// `model.safetensors`, and where they are there `sentence_bert_config.json`, `modules.json` and the pooling's own
    /// `config.json`.
    ///
    /// # Errors
    ///
    /// A file is missing or damaged, or the model is of another kind: what is read is BERT with words in pieces
    /// (WordPiece), GELU, weights of 32 bits, and the mean of all tokens or the first of them as the vector of a text.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, ModelError> {
        let folder = folder.as_ref();
        let config = Config::read(folder)?;
        let tokenizer = Tokenizer::read(folder, config.max_tokens, config.vocab_size)?;
        let bert = Bert::read(&config, &Weights::read(folder)?)?;
        Ok(Self { tokenizer, bert })
    }

    /// How many numbers a vector has.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.bert.dimensions()
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        self.bert.vector(&self.tokenizer.tokens(text))
    }
}

/// Texts are divided among the cores of the machine.
impl Embedder for LocalModel {
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        let n_threads = thread::available_parallelism().map_or(1, NonZero::get).min(texts.len());
        if n_threads <= 1 {
            return Ok(texts.iter().map(|text| self.vector(text)).collect());
        }
        let embed = |texts: &[&str]| -> Vec<_> { texts.iter().map(|text| self.vector(text)).collect() };
        // All of them are waited for before any of them fails: a scope panics where it has to wait for one that did.
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
