//! Bounded reads of a model's files.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use serde::de::DeserializeOwned;

use super::error::ModelError;

/// The maximum size of a JSON file; vocabularies of many languages take about 20 MB.
const MAX_JSON_BYTES: u64 = 64 << 20;

/// Reads a JSON file.
pub(super) fn json<T: DeserializeOwned>(path: &Path) -> Result<T, ModelError> {
    let bytes = bytes(path, MAX_JSON_BYTES)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| ModelError::Damaged { path: path.to_owned(), reason: shown(&error.to_string()) })
}

/// Reads a JSON file, or returns the default if it does not exist.
pub(super) fn optional<T: DeserializeOwned + Default>(path: &Path) -> Result<T, ModelError> {
    match json(path) {
        Err(ModelError::File { error, .. }) if error.kind() == ErrorKind::NotFound => Ok(T::default()),
        read => read,
    }
}

/// Returns text from a file on one line, truncated.
pub(super) fn shown(text: &str) -> String {
    /// The maximum length in characters.
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

/// Reads a file of at most `max` bytes.
pub(super) fn bytes(path: &Path, max: u64) -> Result<Vec<u8>, ModelError> {
    let failed = |error| ModelError::File { path: path.to_owned(), error };
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut bytes = Vec::with_capacity(length.min(max) as usize);
    file.take(max + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > max {
        return Err(ModelError::Damaged {
            path: path.to_owned(),
            reason: format!("the file has more than {max} bytes"),
        });
    }
    Ok(bytes)
}
