//! The files of a model, which may be missing, too large, or something else.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use serde::de::DeserializeOwned;

use super::error::ModelError;

/// More than any file has that is read whole, but the weights: vocabularies of many languages take some 20 MB.
const MAX_JSON_BYTES: u64 = 64 << 20;

/// Reads a file of JSON.
pub(super) fn json<T: DeserializeOwned>(path: &Path) -> Result<T, ModelError> {
    let bytes = bytes(path, MAX_JSON_BYTES)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| ModelError::Damaged { path: path.to_owned(), reason: shown(&error.to_string()) })
}

/// A file that need not be there; then it says nothing.
pub(super) fn optional<T: DeserializeOwned + Default>(path: &Path) -> Result<T, ModelError> {
    match json(path) {
        Err(ModelError::File { error, .. }) if error.kind() == ErrorKind::NotFound => Ok(T::default()),
        read => read,
    }
}

/// What a file says, on one line and not too long.
pub(super) fn shown(text: &str) -> String {
    /// In characters.
    const MAX: usize = 200;
    let mut shown = String::new();
    for c in text.chars().take(MAX) {
        match c {
            '"' | '\'' | '\\' => shown.push(c),
            _ => shown.extend(c.escape_debug()),
        }
    }
    shown
}

/// Reads a file that has at most so many bytes.
pub(super) fn bytes(path: &Path, max: u64) -> Result<Vec<u8>, ModelError> {
    let failed = |error| ModelError::File { path: path.to_owned(), error };
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut bytes = Vec::with_capacity(length.min(max) as usize);
    file.take(max + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > max {
        return Err(ModelError::Damaged { path: path.to_owned(), reason: format!("it has more than {max} bytes") });
    }
    Ok(bytes)
}
