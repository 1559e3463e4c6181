//! Reading of the files of a model, with bounds.

use std::io::ErrorKind;
use std::path::Path;

use serde::de::DeserializeOwned;
use toolkit_runtime::read_regular_file;

use super::model_error::ModelError;

/// The maximum size of a JSON file; vocabularies of many languages take about 20 MB.
const MAX_JSON_BYTES: u64 = 64 << 20;

/// Reads a JSON file.
pub(crate) fn json<T: DeserializeOwned>(path: &Path) -> Result<T, ModelError> {
    let bytes = bytes(path, MAX_JSON_BYTES)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| ModelError::Damaged { path: path.to_owned(), reason: shown(&error.to_string()) })
}

/// Reads a JSON file, or returns the default if it does not exist.
pub(crate) fn optional<T: DeserializeOwned + Default>(path: &Path) -> Result<T, ModelError> {
    match json(path) {
        Err(ModelError::File { error, .. }) if error.kind() == ErrorKind::NotFound => Ok(T::default()),
        read => read,
    }
}

/// Returns text from a file on one line, truncated.
pub(crate) fn shown(text: &str) -> String {
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
pub(crate) fn bytes(path: &Path, max: u64) -> Result<Vec<u8>, ModelError> {
    read_regular_file(path, max).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => {
            ModelError::Damaged { path: path.to_owned(), reason: format!("the file has more than {max} bytes") }
        }
        _ => ModelError::File { path: path.to_owned(), error },
    })
}
