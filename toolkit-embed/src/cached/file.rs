//! The file of vectors.
//!
//! All numbers are little-endian: `MAGIC`, the length of the model's name and the name, the number of dimensions, that
//! of vectors, then each vector after the SHA-256 of its text, and in the end the SHA-256 of all that.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::error::CacheError;
use super::{Cached, Key, Known};

const MAGIC: &[u8; 16] = b"toolkit vectors1";
const DIGEST: usize = size_of::<Key>();
/// As many vectors as are kept, of 4096 numbers.
const MAX_BYTES: u64 = Cached::<()>::CAPACITY as u64 * 4096 * 4;

pub(super) fn read(path: &Path, model: &str) -> Result<Known, CacheError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    match read {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Known::default()),
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

/// The model's name and its vectors; `None` where anything is not as it was written.
fn parse(bytes: &[u8]) -> Option<(String, Known)> {
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
    if n_vectors > Cached::<()>::CAPACITY || rest.len() != n_vectors.checked_mul(n_bytes)? {
        return None;
    }
    let mut known = Known::default();
    for entry in rest.chunks_exact(n_bytes) {
        let (key, vector) = entry.split_first_chunk::<DIGEST>()?;
        let (numbers, _) = vector.as_chunks::<4>();
        known.put(*key, &numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect::<Vec<_>>());
    }
    Some((str::from_utf8(name).ok()?.to_owned(), known))
}

/// The same vectors give the same bytes.
pub(super) fn bytes(known: &Known, model: &str) -> Vec<u8> {
    let mut vectors: Vec<(&Key, &Vec<f32>)> = known.older.iter().chain(&known.recent).collect();
    vectors.sort_unstable_by_key(|(key, _)| *key);
    let mut bytes = MAGIC.to_vec();
    let numbers = [model.len(), known.dimensions.unwrap_or(0), vectors.len()];
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
    bytes
}

/// By way of a file beside it, which then takes its name.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), CacheError> {
    let beside = {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}", std::process::id()));
        name
    };
    let written: io::Result<()> = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&beside);
        CacheError::File { path: path.to_owned(), error }
    })
}
