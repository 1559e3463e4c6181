//! The format of the cache file.
//!
//! All numbers are little-endian: `MAGIC`, the length of the model's name and the name, the number of dimensions, the
//! number of vectors, the SHA-256 of each text followed by its vector, and finally the SHA-256 of everything before it.

use std::io::{self, ErrorKind, Read};
use std::path::Path;

use sha2::{Digest, Sha256};
use toolkit_runtime::open_regular_file;

use super::cache_error::CacheError;
use super::lru::{CAPACITY, Key, Lru};

const MAGIC: &[u8; 16] = b"toolkit vectors1";
const DIGEST: usize = size_of::<Key>();
/// The size of the maximum number of vectors with 4096 dimensions, plus a megabyte for the name and the fixed fields.
const MAX_BYTES: u64 = CAPACITY as u64 * (4096 * 4 + DIGEST as u64) + (1 << 20);
/// The size of everything except the vectors and the name.
const AROUND: usize = MAGIC.len() + 3 * size_of::<u32>() + DIGEST;

pub(super) fn read(path: &Path, model: &str) -> Result<Lru, CacheError> {
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
pub(super) fn bytes(known: &Lru, model: &str) -> io::Result<Vec<u8>> {
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
