//! Vectors that are kept in a file.

mod error;
mod file;
mod known;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};
use toolkit::discovery::{Embedder, EmbedderError};

pub use self::error::CacheError;
use self::known::Known;

/// The SHA-256 of a text.
type Key = [u8; 32];

/// An embedder that embeds no text again whose vector is in its file.
///
/// ```
/// # use toolkit::discovery::{Embedder, EmbedderError};
/// # struct Model;
/// # impl Embedder for Model {
/// #     fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
/// #         Ok(texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect())
/// #     }
/// # }
/// # let folder = std::env::temp_dir().join(format!("toolkit-embed-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("vectors");
/// use toolkit_embed::Cached;
///
/// let cached = Cached::open(Model, "model", &path)?;
/// let vectors = cached.embed(&["Adds two integers."])?;
/// cached.save()?;
///
/// let again = Cached::open(Model, "model", &path)?;
/// assert_eq!(again.len(), 1);
/// assert_eq!(again.embed(&["Adds two integers."])?, vectors);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), EmbedderError>(())
/// ```
pub struct Cached<E> {
    embedder: E,
    model: String,
    path: PathBuf,
    known: Mutex<Known>,
}

impl<E> Cached<E> {
    /// How many vectors are kept at most; of 384 numbers each these take 300 MB. Beyond it the half goes that was not
    /// used for longest.
    pub const CAPACITY: usize = 200_000;

    /// Keeps the vectors of an embedder in a file, which need not be there yet.
    ///
    /// `model` tells apart what made the vectors: its name, and whatever else of it may change, such as a version.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is damaged, or has vectors of another model.
    pub fn open(embedder: E, model: impl Into<String>, path: impl AsRef<Path>) -> Result<Self, CacheError> {
        let (model, path) = (model.into(), path.as_ref().to_owned());
        let known = Mutex::new(file::read(&path, &model)?);
        Ok(Self { embedder, model, path, known })
    }

    /// Writes the vectors to the file. Who reads it meanwhile finds the old ones or the new ones, whole.
    ///
    /// # Errors
    ///
    /// The file cannot be written; or it would be too large to be opened, with more than 4096 numbers in each of
    /// [`Self::CAPACITY`] vectors.
    pub fn save(&self) -> Result<(), CacheError> {
        // Copied, so that nobody who searches waits for a disk.
        let bytes = file::bytes(&self.known(), &self.model);
        let written = bytes.and_then(|bytes| file::write(&self.path, &bytes));
        written.map_err(|error| CacheError::File { path: self.path.clone(), error })
    }

    /// How many vectors are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known().len()
    }

    /// Whether no vector is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: Embedder> Embedder for Cached<E> {
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        let keys: Vec<Key> = texts.iter().map(|text| Sha256::digest(text.as_bytes()).into()).collect();
        let mut found: Vec<Option<Vec<f32>>> = {
            let mut known = self.known();
            keys.iter().map(|key| known.get(key)).collect()
        };
        let mut asked = HashSet::new();
        let missing: Vec<usize> =
            (0..texts.len()).filter(|nth| found[*nth].is_none() && asked.insert(keys[*nth])).collect();
        if !missing.is_empty() {
            let made = self.embedder.embed(&missing.iter().map(|nth| texts[*nth]).collect::<Vec<_>>())?;
            if made.len() != missing.len() {
                return Err(format!("{} vectors were made of {} texts", made.len(), missing.len()).into());
            }
            let made: HashMap<Key, Vec<f32>> = missing.into_iter().map(|nth| keys[nth]).zip(made).collect();
            let mut known = self.known();
            made.iter().for_each(|(key, vector)| known.put(*key, vector));
            drop(known);
            for (key, found) in keys.iter().zip(&mut found) {
                *found = found.take().or_else(|| made.get(key).cloned());
            }
        }
        Ok(found.into_iter().flatten().collect())
    }
}

impl<E> fmt::Debug for Cached<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cached").field("model", &self.model).field("path", &self.path).finish_non_exhaustive()
    }
}
