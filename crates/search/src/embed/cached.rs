//! Caching of vectors: in memory, and in a file.

use std::collections::{HashMap, HashSet};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fmt, io};

use sha2::{Digest, Sha256};
use toolkit_runtime::{FileAccess, open_regular_file, replace_file};

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
    known: Mutex<Lru>,
}

impl<E> Cached<E> {
    /// The maximum number of cached vectors; with 384 dimensions each, they take 300 MB. When it is exceeded, the least
    /// recently used half is removed.
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
        let bytes = bytes(&self.known(), &self.model);
        let written = bytes.and_then(|bytes| replace_file(&self.path, FileAccess::Default, &bytes));
        written.map_err(|error| CacheError::File { path: self.path.clone(), error })
    }

    /// Returns the number of cached vectors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known().len()
    }

    /// Returns true if no vector is cached.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn known(&self) -> MutexGuard<'_, Lru> {
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
        let mut unique = HashSet::new();
        let missing: Vec<usize> =
            (0..texts.len()).filter(|nth| found[*nth].is_none() && unique.insert(keys[*nth])).collect();
        if !missing.is_empty() {
            let made = self.embedder.embed(&missing.iter().map(|nth| texts[*nth]).collect::<Vec<_>>())?;
            if made.len() != missing.len() {
                return Err(format!("the embedder returned {} vectors for {} texts", made.len(), missing.len()).into());
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

// The error of a vector cache.

/// An error of a [`Cached`] embedder's file.
///
/// ```
/// use toolkit_search::embed::{CacheError, Cached};
/// # use toolkit_search::{Embedder, EmbedderError};
/// # struct Model;
/// # impl Embedder for Model {
/// #     fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
/// #         Ok(texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect())
/// #     }
/// # }
/// # let path = std::env::temp_dir().join(format!("toolkit-search-other-model-{}", std::process::id()));
///
/// Cached::open(Model, "model 1", &path)?.save()?;
/// // The vectors of another model cannot be compared with these: start with an empty cache.
/// let cached = match Cached::open(Model, "model 2", &path) {
///     Err(CacheError::OtherModel { path, found, .. }) => {
///         assert_eq!(found, "model 1");
///         std::fs::remove_file(&path)?;
///         Cached::open(Model, "model 2", &path)?
///     }
///     other => other?,
/// };
/// assert!(cached.is_empty());
/// # Ok::<(), EmbedderError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum CacheError {
    /// The file could not be read or written.
    #[non_exhaustive]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The I/O error.
        error: io::Error,
    },
    /// The file is not a cache file, is incomplete, or has been changed.
    #[non_exhaustive]
    Damaged {
        /// The path of the file.
        path: PathBuf,
    },
    /// The vectors in the file are of another model.
    #[non_exhaustive]
    OtherModel {
        /// The path of the file.
        path: PathBuf,
        /// The model of the vectors.
        found: String,
    },
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Damaged { path } => {
                write!(f, "{}: not a cache of vectors, or a damaged one; delete it", path.display())
            }
            Self::OtherModel { path, found } => write!(
                f,
                "{}: the vectors are of the model `{}`; delete the file or use another one",
                path.display(),
                found.escape_debug()
            ),
        }
    }
}

impl std::error::Error for CacheError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { error, .. } => Some(error),
            _ => None,
        }
    }
}

// The format of the cache file.
//
// All numbers are little-endian: `MAGIC`, the length of the model's name and the name, the number of dimensions, the
// number of vectors, the SHA-256 of each text followed by its vector, and finally the SHA-256 of everything before it.

const MAGIC: &[u8; 16] = b"toolkit vectors1";
const DIGEST: usize = size_of::<Key>();
/// The size of the maximum number of vectors with 4096 dimensions, plus a megabyte for the name and the fixed fields.
const MAX_BYTES: u64 = CAPACITY as u64 * (4096 * 4 + DIGEST as u64) + (1 << 20);
/// The size of everything except the vectors and the name.
const AROUND: usize = MAGIC.len() + 3 * size_of::<u32>() + DIGEST;

fn read(path: &Path, model: &str) -> Result<Lru, CacheError> {
    let mut bytes = Vec::new();
    let mut read = || -> io::Result<()> {
        let mut file = open_regular_file(path)?.take(MAX_BYTES);
        file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut bytes)?;
        // Files of other kinds are not read any further.
        if bytes == MAGIC {
            file.read_to_end(&mut bytes)?;
        }
        Ok(())
    };
    match read() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Lru::default()),
        Err(error) => return Err(CacheError::File { path: path.to_owned(), error }),
        Ok(_) => {}
    }
    let damaged = || CacheError::Damaged { path: path.to_owned() };
    let (found, known) = parse(&bytes).ok_or_else(damaged)?;
    if found != model {
        return Err(CacheError::OtherModel { path: path.to_owned(), found });
    }
    Ok(known)
}

/// Parses the model's name and its vectors; `None` if the file is damaged.
fn parse(bytes: &[u8]) -> Option<(String, Lru)> {
    let (content, digest) = bytes.split_last_chunk::<DIGEST>()?;
    if *digest != <Key>::from(Sha256::digest(content)) {
        return None;
    }
    let mut rest = content.strip_prefix(MAGIC)?;
    let number = |rest: &mut &[u8]| -> Option<usize> {
        let (number, after) = rest.split_first_chunk::<4>()?;
        *rest = after;
        usize::try_from(u32::from_le_bytes(*number)).ok()
    };
    let n_name = number(&mut rest)?;
    let (name, after) = rest.split_at_checked(n_name)?;
    rest = after;
    let (dimensions, n_vectors) = (number(&mut rest)?, number(&mut rest)?);
    let n_bytes = dimensions.checked_mul(4)?.checked_add(DIGEST)?;
    if n_vectors > CAPACITY || rest.len() != n_vectors.checked_mul(n_bytes)? {
        return None;
    }
    let mut known = Lru::default();
    for entry in rest.chunks_exact(n_bytes) {
        let (key, vector) = entry.split_first_chunk::<DIGEST>()?;
        let (numbers, _) = vector.as_chunks::<4>();
        known.put(*key, &numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect::<Vec<_>>());
    }
    Some((str::from_utf8(name).ok()?.to_owned(), known))
}

/// Serializes the vectors, sorted by key; an error if they exceed the maximum size for reading.
fn bytes(known: &Lru, model: &str) -> io::Result<Vec<u8>> {
    let mut vectors: Vec<(&Key, &[f32])> = known.iter().collect();
    vectors.sort_unstable_by_key(|(key, _)| *key);
    let dimensions = known.dimensions.unwrap_or(0);
    let n_bytes = vectors.len().saturating_mul(DIGEST + dimensions * 4).saturating_add(AROUND + model.len());
    if n_bytes as u64 > MAX_BYTES {
        return Err(ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::with_capacity(n_bytes);
    bytes.extend(MAGIC);
    let numbers = [model.len(), dimensions, vectors.len()];
    let [n_name, dimensions, n_vectors] = numbers.map(|number| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend(n_name);
    bytes.extend(model.as_bytes());
    bytes.extend(dimensions);
    bytes.extend(n_vectors);
    for (key, vector) in vectors {
        bytes.extend(key);
        bytes.extend(vector.iter().flat_map(|number| number.to_le_bytes()));
    }
    let digest = Sha256::digest(&bytes);
    bytes.extend(digest);
    Ok(bytes)
}

/// The SHA-256 digest of a text.
type Key = [u8; 32];

/// The maximum number of vectors.
const CAPACITY: usize = 200_000;

/// A bounded map of vectors by the digests of their texts. When it is full, the least recently used half is removed.
struct Lru {
    /// The number of dimensions, once there is a vector.
    dimensions: Option<usize>,
    capacity: usize,
    /// A counter of accesses.
    clock: u64,
    vectors: HashMap<Key, (u64, Vec<f32>)>,
}

impl Lru {
    fn with_capacity(capacity: usize) -> Self {
        Self { dimensions: None, capacity, clock: 0, vectors: HashMap::new() }
    }

    fn len(&self) -> usize {
        self.vectors.len()
    }

    fn iter(&self) -> impl Iterator<Item = (&Key, &[f32])> {
        self.vectors.iter().map(|(key, (_, vector))| (key, &**vector))
    }

    fn get(&mut self, key: &Key) -> Option<Vec<f32>> {
        let (last_use, vector) = self.vectors.get_mut(key)?;
        self.clock += 1;
        *last_use = self.clock;
        Some(vector.clone())
    }

    /// Inserts a vector. One with another number of dimensions is ignored; the search reports it as an error.
    fn put(&mut self, key: Key, vector: &[f32]) {
        if vector.is_empty() || *self.dimensions.get_or_insert(vector.len()) != vector.len() {
            return;
        }
        if self.vectors.len() >= self.capacity && !self.vectors.contains_key(&key) {
            self.forget_half();
        }
        self.clock += 1;
        self.vectors.insert(key, (self.clock, vector.to_vec()));
    }

    fn forget_half(&mut self) {
        let mut uses: Vec<u64> = self.vectors.values().map(|(last_use, _)| *last_use).collect();
        let middle = uses.len() / 2;
        // Every access has another time.
        let (_, first_kept, _) = uses.select_nth_unstable(middle);
        self.vectors.retain(|_, (last_use, _)| last_use >= first_kept);
    }
}

impl Default for Lru {
    fn default() -> Self {
        Self::with_capacity(CAPACITY)
    }
}

#[cfg(test)]
mod tests {
    use super::Lru;

    #[test]
    fn what_is_used_stays() {
        let mut known = Lru::with_capacity(4);
        let key = |nth: u8| [nth; 32];
        (0..4).for_each(|nth| known.put(key(nth), &[f32::from(nth)]));
        assert_eq!(known.len(), 4, "there is room for all of them");
        known.put(key(3), &[3.0]);
        assert_eq!(known.len(), 4, "it is known already");
        assert_eq!(known.get(&key(0)), Some(vec![0.0]));
        known.put(key(4), &[4.0]);
        let kept: Vec<bool> = (0..5).map(|nth| known.get(&key(nth)).is_some()).collect();
        assert_eq!(kept, [true, false, false, true, true]);
        for nth in 5..100 {
            known.put(key(nth), &[0.0]);
            assert!(known.len() <= 4 && known.get(&key(0)).is_some());
        }
    }
}
