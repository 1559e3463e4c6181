//! The memory of the trees of large values. A tree takes up to eighty bytes for each byte of its text.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::call::{Arguments, ErrorKind, ToolError};
use toolkit_schema::json::TextScan;

/// The number of values for which a tree is built to compare it with a schema.
const MAX_VALUES: usize = 1_000_000;

/// The number of values from which on one tree is built at a time.
const LARGE: usize = 50_000;

/// The memory of a tree. Small trees need none.
pub(super) type TreeMemory = Option<MutexGuard<'static, ()>>;

/// Waits for the memory of the tree of arguments, of which large ones have one after the other.
///
/// # Errors
///
/// Returns an error for too many values. Most need no tree, since a plan of their schema reads the text.
pub(super) fn of_arguments(arguments: &Arguments<'_>) -> Result<TreeMemory, ToolError> {
    match arguments {
        Arguments::Json(json) => of_text(json, ErrorKind::TooLarge, "arguments that do not match their input schema"),
        Arguments::Value(_) => Ok(None),
    }
}

/// Does the same for a result.
pub(super) fn of_result(json: &[u8]) -> Result<TreeMemory, ToolError> {
    of_text(json, ErrorKind::ResultTooLarge, "a result that does not match its output schema")
}

fn of_text(json: &[u8], kind: ErrorKind, what: &str) -> Result<TreeMemory, ToolError> {
    static TREES: Mutex<()> = Mutex::new(());

    // Each value has at least two bytes.
    if json.len() < 2 * LARGE {
        return Ok(None);
    }
    let TextScan { n_values, is_too_deep, .. } = TextScan::new(&String::from_utf8_lossy(json));
    // The parser stops at values that are nested too deeply.
    if n_values > MAX_VALUES && !is_too_deep {
        let message = format!(
            "{n_values} values are more than the limit of {MAX_VALUES} for {what}, or whose schema has a keyword such as \
             `uniqueItems` that looks at more than one value"
        );
        return Err(ToolError::new(kind, message));
    }
    Ok((n_values >= LARGE).then(|| TREES.lock().unwrap_or_else(PoisonError::into_inner)))
}
