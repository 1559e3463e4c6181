//! The format of the cache file.
//!
//! `MAGIC`, the model's name, the number of dimensions, the number of vectors, the SHA-256 of each text followed by its
//! vector in little-endian order, and finally the SHA-256 of everything before it.

use std::io::{self, ErrorKind, Read};
use std::path::Path;

use sha2::{Digest, Sha256};
use toolkit_runtime::open_regular_file;

use super::cache_error::CacheError;
use super::vector_map::{CAPACITY, Key, VectorMap};
use crate::bytes::{Bytes, put_number, put_text};

const MAGIC: &[u8; 16] = b"toolkit vectors2";
const DIGEST: usize = size_of::<Key>();
/// The size of the maximum number of vectors with 4096 dimensions, plus a megabyte for the name and the fixed fields.
const MAX_BYTES: u64 = CAPACITY as u64 * (4096 * 4 + DIGEST as u64) + (1 << 20);

pub(super) fn read(path: &Path, model: &str) -> Result<VectorMap, CacheError> {
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
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(VectorMap::default()),
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
fn parse(bytes: &[u8]) -> Option<(String, VectorMap)> {
    let (content, digest) = bytes.split_last_chunk::<DIGEST>()?;
    if *digest != <Key>::from(Sha256::digest(content)) {
        return None;
    }
    let mut bytes = Bytes::new(content.strip_prefix(MAGIC)?);
    let name = bytes.text().ok()?;
    let n_bytes = usize::try_from(bytes.number().ok()?).ok()?.checked_mul(4)?.checked_add(DIGEST)?;
    let n_vectors = bytes.number_to(CAPACITY).ok()?;
    if bytes.rest.len() != n_vectors.checked_mul(n_bytes)? {
        return None;
    }
    let mut known = VectorMap::default();
    for entry in bytes.rest.chunks_exact(n_bytes) {
        let (key, vector) = entry.split_first_chunk::<DIGEST>()?;
        let (numbers, _) = vector.as_chunks::<4>();
        known.put(*key, numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect());
    }
    Some((name.to_owned(), known))
}

/// Serializes the vectors, sorted by key; an error if they exceed the maximum size for reading.
pub(super) fn bytes(known: &VectorMap, model: &str) -> io::Result<Vec<u8>> {
    let mut vectors: Vec<(&Key, &Vec<f32>)> = known.vectors.iter().collect();
    vectors.sort_unstable_by_key(|(key, _)| *key);
    let dimensions = known.dimensions.unwrap_or(0);
    let mut bytes = MAGIC.to_vec();
    put_text(&mut bytes, model);
    put_number(&mut bytes, dimensions as u64);
    put_number(&mut bytes, vectors.len() as u64);
    let n_bytes = vectors.len().saturating_mul(DIGEST + dimensions * 4).saturating_add(DIGEST);
    if n_bytes.saturating_add(bytes.len()) as u64 > MAX_BYTES {
        return Err(ErrorKind::FileTooLarge.into());
    }
    bytes.reserve_exact(n_bytes);
    for (key, vector) in vectors {
        bytes.extend(key);
        bytes.extend(vector.iter().flat_map(|number| number.to_le_bytes()));
    }
    let digest = Sha256::digest(&bytes);
    bytes.extend(digest);
    Ok(bytes)
}
