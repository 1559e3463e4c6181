//! `tools/list` as bytes: made once, served page by page.

use std::fmt::Write;
use std::num::NonZeroUsize;

use super::{LIST_TTL_MS, Revision, tools};
use crate::catalog::{Catalog, Diagnostics, Naming};

/// The tools of a catalogue as [`list_tools`](super::list_tools) shows them, as text.
///
/// A server makes one for each revision that it speaks, when it starts. What it sends is then a copy of a part of it:
/// no schema is built, and nothing is written twice.
///
/// ```
/// # use toolkit::adapter::mcp::{Revision, ToolList, list_tools};
/// # use toolkit::catalog::Naming;
/// /// Adds two integers.
/// #[toolkit::tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// let catalog = toolkit::catalog![add]?;
/// let list = ToolList::of(&catalog, Revision::V2025_11_25, Naming::Name)?;
/// assert_eq!(list.to_json(), list_tools(&catalog, Revision::V2025_11_25, Naming::Name)?.to_string());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ToolList {
    revision: Revision,
    /// The tools, with a comma behind each.
    tools: String,
    /// Where each of them begins, and where the next one would.
    starts: Vec<usize>,
}

impl ToolList {
    /// Writes the list.
    ///
    /// # Errors
    ///
    /// As for [`list_tools`](super::list_tools).
    pub fn of(catalog: &Catalog, revision: Revision, naming: Naming) -> Result<Self, Diagnostics> {
        let mut list = Self { revision, tools: String::new(), starts: vec![0] };
        for mut tool in tools(catalog, revision, naming)? {
            tool.sort_all_objects();
            // Writing to a string cannot fail.
            let _ = write!(list.tools, "{tool},");
            list.starts.push(list.tools.len());
        }
        list.tools.shrink_to_fit();
        Ok(list)
    }

    /// How many tools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The result of `tools/list` with all tools (`ListToolsResult`): the text that
    /// [`list_tools`](super::list_tools) would give.
    #[must_use]
    pub fn to_json(&self) -> String {
        self.part(0, self.len())
    }

    /// The result of `tools/list` with at most `most` tools, from where the client's `cursor` says (`ListToolsResult`);
    /// it has a `nextCursor` where there are more.
    ///
    /// `None` where no page has given out this cursor, which is the JSON-RPC error -32602.
    #[must_use]
    pub fn page(&self, cursor: Option<&str>, most: NonZeroUsize) -> Option<String> {
        let start = match cursor {
            Some(cursor) => cursor.parse().ok().filter(|start| (1..self.len()).contains(start))?,
            None => 0,
        };
        Some(self.part(start, start.saturating_add(most.get()).min(self.len())))
    }

    /// The tools from one place to another. Keys stand in the order of the alphabet, as everywhere.
    fn part(&self, start: usize, end: usize) -> String {
        let tools = &self.tools[self.starts[start]..self.starts[end]];
        let tools = tools.strip_suffix(',').unwrap_or(tools);
        let cursor = if end < self.len() { format!(r#""nextCursor":"{end}","#) } else { String::new() };
        match self.revision {
            Revision::V2025_11_25 => format!(r#"{{{cursor}"tools":[{tools}]}}"#),
            Revision::V2026_07_28 => format!(
                r#"{{"cacheScope":"public",{cursor}"resultType":"complete","tools":[{tools}],"ttlMs":{LIST_TTL_MS}}}"#
            ),
        }
    }
}
