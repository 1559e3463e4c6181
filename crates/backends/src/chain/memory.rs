//! The memory that a running chain retains.

use std::io;

use serde::Serialize;
use toolkit::call::RunResult;

/// The maximum size of the JSON that one step may take from the results of others, in bytes.
///
/// Without this limit, a chain whose steps each take the preceding result twice would double its size with every step.
pub const MAX_TAKEN_BYTES: usize = 16 << 20;

/// Limits of running a [`Chain`](super::Chain).
///
/// ```standalone_crate
/// use toolkit::{Catalog, Context, Dispatcher, tool};
/// use toolkit_backends::chain::{Chain, ChainLimits, Step};
///
/// /// Repeats a text.
/// #[tool(namespace = "text")]
/// fn repeat(text: String, times: u16) -> String {
///     text.repeat(times.into())
/// }
///
/// let dispatcher = Dispatcher::new(Catalog::linked()?)?;
/// let chain = Chain::new().then(Step::new("text:repeat").arg("text", "0123456789").arg("times", 1000));
/// let limits = ChainLimits::new().max_kept_bytes(4096);
/// let outcome = chain.prepare(&dispatcher)?.with_limits(limits).run_sync(&Context::new());
/// assert_eq!(
///     outcome.error().unwrap().message(),
///     "with the result of step 0 (`text:repeat`), the chain exceeds its budget of 4096 bytes for arguments and results"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChainLimits {
    /// The maximum memory of arguments and results together, in bytes.
    pub max_kept_bytes: usize,
}

impl ChainLimits {
    /// The default of [`ChainLimits::max_kept_bytes`]: 128 MiB.
    pub const MAX_KEPT_BYTES: usize = 128 << 20;

    /// Creates the default limits.
    #[must_use]
    pub const fn new() -> Self {
        Self { max_kept_bytes: Self::MAX_KEPT_BYTES }
    }

    /// Sets the maximum memory of the arguments and results of all steps together, in bytes. The default is 128 MiB.
    ///
    /// The outcome of a chain contains the arguments and the result of every step, so they stay in memory until it is
    /// dropped. The memory of arguments from earlier steps is estimated from their text. A step that would exceed the
    /// budget fails: if its arguments exceed it, the tool is not called; if its result exceeds it, the result is
    /// dropped.
    #[must_use]
    pub const fn max_kept_bytes(mut self, bytes: usize) -> Self {
        self.max_kept_bytes = bytes;
        self
    }
}

impl Default for ChainLimits {
    fn default() -> Self {
        Self::new()
    }
}

/// The remaining part of the budget.
pub(super) struct Budget {
    pub(super) limit: usize,
    pub(super) left: usize,
}

impl Budget {
    pub(super) fn new(limits: ChainLimits) -> Self {
        Self { limit: limits.max_kept_bytes, left: limits.max_kept_bytes }
    }

    /// Takes bytes out of the budget. Returns false if the budget is too small.
    pub(super) fn reserve(&mut self, bytes: usize) -> bool {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }
}

/// Returns the memory of a result.
pub(super) fn size_of_result(result: &RunResult) -> usize {
    let beside = match result.mcp_json() {
        // Its parts are read from the text when a step takes them.
        Some(json) => 2 * json.len(),
        None if result.own_content().is_empty() => 0,
        None => size_of_tree(&result.own_content()),
    };
    result.json().map_or(0, <[u8]>::len).saturating_add(beside)
}

/// Returns the estimated memory of JSON text when parsed into a tree.
pub(super) fn size_of_text(json: &[u8]) -> usize {
    let mut size = Size::new();
    size.scan(json);
    size.tree
}

/// Returns the memory of a tree.
pub(super) fn size_of_tree(value: &impl Serialize) -> usize {
    let mut size = Size::new();
    match serde_json::to_writer(&mut size, value) {
        Ok(()) => size.tree,
        Err(_) => usize::MAX,
    }
}

/// Estimates the memory of a tree from its JSON text while it is written.
///
/// The estimate is an upper bound: a vector may have twice the capacity that it needs, and an object allocates for
/// eleven keys at a time.
struct Size {
    tree: usize,
    in_string: bool,
    is_escaped: bool,
}

impl Size {
    fn new() -> Self {
        Self { tree: 32, in_string: false, is_escaped: false }
    }

    fn scan(&mut self, bytes: &[u8]) {
        let mut tree = self.tree.saturating_add(bytes.len());
        for byte in bytes {
            if self.in_string {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            let more = match byte {
                b'"' => {
                    self.in_string = true;
                    16
                }
                b',' | b':' | b'[' => 64,
                b'{' => 640,
                _ => 0,
            };
            tree = tree.saturating_add(more);
        }
        self.tree = tree;
    }
}

impl io::Write for Size {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.scan(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{size_of_text, size_of_tree};

    #[test]
    fn text_and_tree_have_one_estimate_and_the_punctuation_of_strings_does_not_count() {
        for value in [json!(null), json!([1, {}, { "a": [], "b": "x\"y\\" }]), json!("{{{{,,,,[[[[::::")] {
            assert_eq!(size_of_tree(&value), size_of_text(value.to_string().as_bytes()), "{value}");
        }
        assert!(size_of_text(br#""{{{{,,,,[[[[::::\"{""#) < 100);
    }

    #[test]
    fn many_small_objects_weigh_what_they_allocate() {
        let objects: Value = (0..1000).map(|n| json!({ "n": n })).collect();
        // The smallest map of the standard library allocates more than 600 bytes.
        assert!(size_of_text(objects.to_string().as_bytes()) > 600_000);
    }
}
