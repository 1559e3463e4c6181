//! The serialized list of tools, which a server creates once and serves in pages.

use std::fmt::Write;
use std::num::NonZeroUsize;

use super::{LIST_TTL_MS, Revision, tools};
use crate::catalog::{Catalog, Diagnostics, Naming};

/// The tools of a catalog in the format of [`list_tools`](super::list_tools), as JSON text.
///
/// A server creates one list for each supported revision at startup. Each response is then a copy of a part of the
/// text, without generating schemas or serializing tools again.
///
/// ```
/// # use toolkit::mcp::{Revision, ToolList, list_tools};
/// # use toolkit::catalog::Naming;
/// /// Adds two integers.
/// #[toolkit::tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// let catalog = toolkit::catalog![add]?;
/// let list = ToolList::new(&catalog, Revision::V2025_11_25, Naming::Name)?;
/// assert_eq!(list.to_json(), list_tools(&catalog, Revision::V2025_11_25, Naming::Name)?.to_string());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ToolList {
    revision: Revision,
    /// The tools, each followed by a comma.
    tools: String,
    /// The start of each tool, followed by the end of the last one.
    starts: Vec<usize>,
}

impl ToolList {
    /// Creates the list.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`list_tools`](super::list_tools).
    pub fn new(catalog: &Catalog, revision: Revision, naming: Naming) -> Result<Self, Diagnostics> {
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

    /// Returns the number of tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns true if there are no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the result of `tools/list` with all tools (`ListToolsResult`), equal to that of
    /// [`list_tools`](super::list_tools).
    #[must_use]
    pub fn to_json(&self) -> String {
        self.part(0, self.len())
    }

    /// Returns the result of `tools/list` with at most `most` tools, starting at `cursor` (`ListToolsResult`). It has a
    /// `nextCursor` if there are more tools.
    ///
    /// Returns `None` for a cursor that no page has returned; the JSON-RPC error is -32602.
    ///
    /// ```
    /// use std::num::NonZeroUsize;
    /// use toolkit::Tool;
    /// use toolkit::mcp::{Revision, ToolList};
    /// use toolkit::catalog::Naming;
    ///
    /// let catalog = toolkit::Catalog::new([Tool::builder("a").build()?, Tool::builder("b").build()?])?;
    /// let list = ToolList::new(&catalog, Revision::default(), Naming::Name)?;
    /// assert!(list.page(None, NonZeroUsize::MIN).is_some_and(|page| page.contains(r#""nextCursor":"1""#)));
    /// assert!(list.page(Some("7"), NonZeroUsize::MIN).is_none());
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn page(&self, cursor: Option<&str>, most: NonZeroUsize) -> Option<String> {
        let start = match cursor {
            Some(cursor) => cursor.parse().ok().filter(|start| (1..self.len()).contains(start))?,
            None => 0,
        };
        Some(self.part(start, start.saturating_add(most.get()).min(self.len())))
    }

    /// Returns the result with a range of the tools. The keys are sorted, as everywhere.
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
