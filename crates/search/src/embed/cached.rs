//! Caching of vectors: in memory, and in a file.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use toolkit_runtime::{FileAccess, Mutex, replace_file};

use super::cache_error::CacheError;
use super::cache_file::{bytes, read};
use super::vector_map::{CAPACITY, Key, VectorMap};
use crate::{Embedder, EmbedderError};

/// An embedder that caches the vectors of another one in a file.
///
/// ```
/// # use toolkit_search::{Embedder, EmbedderError};
/// # struct Model;
/// # impl Embedder for Model {
/// #     fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
/// #         Ok(texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect())
/// #     }
/// # }
/// # let folder = std::env::temp_dir().join(format!("toolkit-embed-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("vectors");
/// use toolkit_search::embed::Cached;
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
    known: Mutex<VectorMap>,
}

impl<E> Cached<E> {
    /// The maximum number of cached vectors; with 384 dimensions each, they take 300 MB. A vector beyond it removes all
    /// others.
    pub const CAPACITY: usize = CAPACITY;

    /// Creates a cache for `embedder` with the file at `path`, which need not exist.
    ///
    /// `model` identifies the source of the vectors: the name of the model and whatever else may change, such as a
    /// version.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, is damaged, or has vectors of another model.
    pub fn open(embedder: E, model: impl Into<String>, path: impl AsRef<Path>) -> Result<Self, CacheError> {
        let (model, path) = (model.into(), path.as_ref().to_owned());
        let known = Mutex::new(read(&path, &model)?);
        Ok(Self { embedder, model, path, known })
    }

    /// Writes the vectors to the file. Concurrent readers see either the old or the new file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written, or if it would exceed the maximum size for reading, which allows
    /// for [`Self::CAPACITY`] vectors with 4096 dimensions.
    pub fn save(&self) -> Result<(), CacheError> {
        // Copied first, so that searches do not wait for the disk.
        let bytes = bytes(&self.known.lock(), &self.model);
        let written = bytes.and_then(|bytes| replace_file(&self.path, FileAccess::Default, &bytes));
        written.map_err(|error| CacheError::File { path: self.path.clone(), error })
    }

    /// Returns the number of cached vectors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.lock().vectors.len()
    }

    /// Returns true if no vector is cached.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<E: Embedder> Embedder for Cached<E> {
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        let keys: Vec<Key> = texts.iter().map(|text| Sha256::digest(text.as_bytes()).into()).collect();
        let mut found: Vec<Option<Vec<f32>>> = {
            let known = self.known.lock();
            keys.iter().map(|key| known.vectors.get(key).cloned()).collect()
        };
        let mut unique = HashSet::new();
        let missing: Vec<usize> =
            (0..texts.len()).filter(|nth| found[*nth].is_none() && unique.insert(keys[*nth])).collect();
        if !missing.is_empty() {
            let made = self.embedder.embed(&missing.iter().map(|nth| texts[*nth]).collect::<Vec<_>>())?;
            if made.len() != missing.len() {
                return Err(format!("the embedder returned {} vectors for {} texts", made.len(), missing.len()).into());
            }
            let made: HashMap<Key, Vec<f32>> = missing.into_iter().map(|nth| keys[nth]).zip(made).collect();
            let mut known = self.known.lock();
            made.iter().for_each(|(key, vector)| known.put(*key, vector.clone()));
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
