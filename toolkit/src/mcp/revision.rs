//! Revisions of the protocol.

/// A revision of the protocol.
///
/// # Examples
///
/// The older revision has no results other than objects, so a list is wrapped:
///
/// ```
/// use serde_json::json;
/// use toolkit::mcp::{Revision, list_tools};
/// use toolkit::catalog::Naming;
/// use toolkit::{catalog, tool};
///
/// /// Lists the planets.
/// #[tool]
/// fn planets() -> Vec<String> {
///     vec!["Mercury".to_owned()]
/// }
///
/// let catalog = catalog![planets]?;
/// let output = |revision| {
///     let list = list_tools(&catalog, revision, Naming::Name)?;
///     Ok::<_, toolkit::catalog::Diagnostics>(list["tools"][0]["outputSchema"]["type"].clone())
/// };
/// assert_eq!(output(Revision::V2025_11_25)?, "object");
/// assert_eq!(output(Revision::V2026_07_28)?, "array");
/// assert_eq!(Revision::default().as_str(), "2026-07-28");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Revision {
    /// Revision 2025-11-25: results are objects.
    V2025_11_25,
    /// Revision 2026-07-28: results are any JSON (SEP-2106), and lists have a time to live (SEP-2549).
    #[default]
    V2026_07_28,
}

impl Revision {
    /// Returns the name of the revision in the protocol.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Revision::V2025_11_25 => "2025-11-25",
            Revision::V2026_07_28 => "2026-07-28",
        }
    }
}
