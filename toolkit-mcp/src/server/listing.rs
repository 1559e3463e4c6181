//! The tools that a server serves at one moment.

use std::fmt;
use std::sync::Arc;

use toolkit::Tool;
use toolkit::mcp::Revision;

use super::served::ServedTools;
use super::state::Server;

/// The tools that a server serves at one moment, including those that clients find only with `search_tools`.
///
/// # Examples
///
/// ```
/// use toolkit::{Dispatcher, catalog, tool};
/// use toolkit_mcp::server::Server;
///
/// /// Adds two integers.
/// #[tool(namespace = "math")]
/// fn add(a: i32, b: i32) -> i32 {
///     a + b
/// }
///
/// let server = Server::new(Dispatcher::new(catalog![add]?)?)?;
/// let listing = server.listing();
/// let add = listing.get("math_add").ok_or("not served")?;
/// assert_eq!(add.tool().id().to_string(), "math:add");
/// assert!(add.json().starts_with(b"{"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Listing(Arc<ServedTools>);

/// A tool of a [`Listing`].
#[derive(Clone, Copy)]
pub struct ListedTool<'l> {
    served: &'l ServedTools,
    nth: usize,
}

impl Server {
    /// Returns the tools that are served now.
    #[must_use]
    pub fn listing(&self) -> Listing {
        Listing(self.served())
    }
}

impl Listing {
    /// Iterates over the tools, in the order of the catalog.
    pub fn iter(&self) -> impl Iterator<Item = ListedTool<'_>> {
        (0..self.0.entries.len()).map(|nth| ListedTool { served: &self.0, nth })
    }

    /// Returns the tool with a name that clients use.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<ListedTool<'_>> {
        self.0.get(name).map(|nth| ListedTool { served: &self.0, nth })
    }

    /// Returns true if the tools were not replaced between the two listings.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<'l> ListedTool<'l> {
    /// Returns the name that clients use.
    #[must_use]
    pub fn name(&self) -> &'l str {
        &self.served.entries[self.nth].name
    }

    /// Returns the tool.
    #[must_use]
    pub fn tool(&self) -> &'l Tool {
        self.served.tool(&self.served.entries[self.nth])
    }

    /// Returns the entry of `tools/list` in revision 2026-07-28, as JSON.
    #[must_use]
    pub fn json(&self) -> &'l [u8] {
        &self.served.listed(Revision::V2026_07_28)[self.nth]
    }
}

impl fmt::Debug for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl fmt::Debug for ListedTool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ListedTool").field(&self.name()).finish()
    }
}
