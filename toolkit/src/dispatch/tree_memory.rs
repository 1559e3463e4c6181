//! The memory of the trees of large values. They are built one after the other, each on a thread that ends: an allocator such as that
//! of glibc keeps memory for each thread, and the trees of four texts of 2.6 MB left 580 MB on as many threads for tools.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, scope};

use crate::call::{Arguments, ErrorKind, ToolError};
use toolkit_schema::json::TextScan;

/// The number of values for which a tree is built, and the number from which on one tree is built at a time.
const MAX_VALUES: usize = 1_000_000;
const LARGE: usize = 50_000;

/// The memory of a tree. Small trees need none.
#[derive(Default)]
pub(super) struct TreeMemory(Option<MutexGuard<'static, ()>>);

impl TreeMemory {
    /// Runs the work that builds the tree.
    pub(super) fn build<T: Send>(&self, work: impl FnOnce() -> Result<T, ToolError> + Send) -> Result<T, ToolError> {
        if self.0.is_none() {
            return work();
        }
        scope(|scope| {
            let thread = Builder::new().spawn_scoped(scope, work).map_err(ToolError::internal)?;
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

/// Waits for the memory of the tree of arguments. Too many values are an error: most arguments need no tree, since a plan of their
/// schema reads the text.
pub(super) fn of_arguments(arguments: &Arguments<'_>) -> Result<TreeMemory, ToolError> {
    match arguments {
        Arguments::Json(json) => of_text(json, ErrorKind::TooLarge, "arguments that do not match their input schema"),
        Arguments::Value(_) => Ok(TreeMemory::default()),
    }
}

/// Does the same for a result.
pub(super) fn of_result(json: &[u8]) -> Result<TreeMemory, ToolError> {
    of_text(json, ErrorKind::ResultTooLarge, "a result that does not match its output schema")
}

fn of_text(json: &[u8], kind: ErrorKind, what: &str) -> Result<TreeMemory, ToolError> {
    static TREES: Mutex<()> = Mutex::new(());
    // Each value follows a comma or a bracket, some of which are in texts. The two brackets differ in one bit. In this form, many
    // bytes are compared at once, while counting the values takes as long as reading them.
    let begins = |byte: &u8| u8::from(byte | 0x20 == b'{') + u8::from(*byte == b',');
    let n_at_most = 1 + json.chunks(255).map(|chunk| usize::from(chunk.iter().map(begins).sum::<u8>())).sum::<usize>();
    // The parser stops at values that are nested too deeply.
    if n_at_most > MAX_VALUES
        && let TextScan { n_values, is_too_deep: false, .. } = TextScan::new(&String::from_utf8_lossy(json))
        && n_values > MAX_VALUES
    {
        let message = format!(
            "{n_values} values are more than the limit of {MAX_VALUES} for {what}, or whose schema has a keyword such as \
             `uniqueItems` that looks at more than one value"
        );
        return Err(ToolError::new(kind, message));
    }
    Ok(TreeMemory((n_at_most >= LARGE).then(|| TREES.lock().unwrap_or_else(PoisonError::into_inner))))
}
