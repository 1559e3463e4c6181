//! The messages `tools/list` and `tools/call` of the Model Context Protocol.
//!
//! This module reads and writes messages, but opens no connection. A server lists the tools once, and answers each call
//! with a result or with an error that the model can read:
//!
//! ```
//! use toolkit::catalog::{Naming, WireNames};
//! use toolkit::mcp::{CallParams, Revision, ToolList, write_error, write_result};
//! use toolkit::{Dispatcher, catalog, tool};
//!
//! /// Adds two integers.
//! #[tool(namespace = "math")]
//! fn add(a: i32, b: i32) -> i32 {
//!     a + b
//! }
//!
//! let revision = Revision::V2025_11_25;
//! let dispatcher = Dispatcher::new(catalog![add]?)?;
//! let names = WireNames::new(dispatcher.catalog(), Naming::default())?;
//! let list = ToolList::new(dispatcher.catalog(), revision, Naming::default())?;
//! assert!(list.to_json().contains(r#""name":"math_add""#));
//!
//! let params = CallParams::parse(br#"{"name": "math_add", "arguments": {"a": 1, "b": 2}}"#)?;
//! let tool = names.get(params.name()).ok_or("unknown tool")?;
//! let answer = match dispatcher.call_sync(&tool.id().to_string(), params.arguments()) {
//!     Ok(result) => write_result(tool, &result, revision),
//!     Err(error) => write_error(&error, revision),
//! };
//! assert!(answer.ends_with(br#""structuredContent":{"result":3},"isError":false}"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod list;
pub(crate) mod list_entry;
mod object_result;
mod shared_schemas;
mod tools_call;

pub use self::list::{LIST_TTL_MS, ToolList, list_tool, list_tools};
pub use self::object_result::wrap_result;
pub use self::tools_call::{CallParams, ERROR_KEY, write_error, write_result};
pub(crate) use self::tools_call::{has_error_key, read_error};
pub use crate::tool::META_KEY;

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
