//! The size of the arguments of an example.

use serde_json::Value;

/// The size of the arguments of an example.
///
/// ```
/// use serde_json::json;
/// use toolkit_search::ArgsSize;
///
/// let size = ArgsSize::measure(&json!({ "names": ["a", "b"] }));
/// assert_eq!((size.depth, size.n_entries), (2, 3));
/// assert!(size.is_small());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArgsSize {
    /// The number of nested lists and objects, including the outermost.
    pub depth: usize,
    /// The number of object keys and list items at all levels.
    pub n_entries: usize,
}

impl ArgsSize {
    /// The maximum depth of an example's arguments.
    pub const MAX_DEPTH: usize = 5;
    /// The maximum number of entries of an example's arguments.
    pub const MAX_ENTRIES: usize = 50;

    /// Measures arguments.
    #[must_use]
    pub fn measure(args: &Value) -> Self {
        let mut size = Self { depth: 0, n_entries: 0 };
        let mut pending = vec![(args, 1)];
        while let Some((value, depth)) = pending.pop() {
            let n_entries = match value {
                Value::Array(items) => {
                    pending.extend(items.iter().map(|item| (item, depth + 1)));
                    items.len()
                }
                Value::Object(fields) => {
                    pending.extend(fields.values().map(|field| (field, depth + 1)));
                    fields.len()
                }
                _ => continue,
            };
            size.depth = size.depth.max(depth);
            size.n_entries += n_entries;
        }
        size
    }

    /// Returns true if the arguments are small enough for an example.
    #[must_use]
    pub fn is_small(self) -> bool {
        self.depth <= Self::MAX_DEPTH && self.n_entries <= Self::MAX_ENTRIES
    }
}
