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

mod call;
mod expect;
mod list;
mod listed;
mod params;
mod result;
mod span;

use serde_json::{Value, json};

pub use self::call::{write_error, write_result};
pub use self::list::ToolList;
use self::listed::listed;
pub use self::params::CallParams;
pub use self::result::wrap_result;
use crate::catalog::{Catalog, Diagnostics, Naming};
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

/// The time for which a client may cache the list, in milliseconds (`ttlMs`, SEP-2549): one hour.
///
/// The tools that are linked into a program change only with the program. A server whose list changes at runtime
/// overwrites the value.
pub const LIST_TTL_MS: u64 = 3_600_000;

/// Returns the result of `tools/list`: the highest version of every tool, in the order of the ids.
///
/// The official schema of each revision calls it `ListToolsResult`. 2026-07-28 also requires `resultType`, which is
/// `complete`; `ttlMs`, see [`LIST_TTL_MS`]; and `cacheScope`, which is `public`, since a program's own catalog is the
/// same for every user.
///
/// - The deprecation notice of a tool is the last paragraph of its description.
/// - `_meta` contains the author's `meta` and, under [`META_KEY`], the tool's record: its id, namespace, version, tags,
///   category, requirements, replacement, aliases, examples and timeout (`timeoutMs`), as far as they are set.
/// - Input schemas have `type: object` at the root, which both revisions require. Output schemas have it for
///   2025-11-25; there a result that is not an object is wrapped in an object with the property `result`, see
///   [`wrap_result`].
///
/// All keys are sorted: a catalog has the same bytes in every build, whatever features of `serde_json` are enabled. A
/// server can cache the list as a [`ToolList`].
///
/// # Errors
///
/// Returns every reason why a tool cannot be listed: several tools have one wire name, clients reject a name, the
/// arguments are not an object, or `meta` is not an object or has a key of this crate.
///
/// # Examples
///
/// ```
/// # use toolkit::mcp::{Revision, list_tools};
/// # use toolkit::catalog::Naming;
/// /// Adds two integers.
/// #[toolkit::tool(namespace = "math", version = "1.0.0", read_only)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// let catalog = toolkit::catalog![add]?;
/// let list = list_tools(&catalog, Revision::V2026_07_28, Naming::NamespaceName)?;
/// let tool = &list["tools"][0];
/// assert_eq!(tool["name"], "math_add");
/// assert_eq!(tool["annotations"]["readOnlyHint"], true);
/// assert_eq!(tool["_meta"]["rs.toolkit/tool"]["id"], "math:add:1.0.0");
/// # Ok(())
/// # }
/// ```
pub fn list_tools(catalog: &Catalog, revision: Revision, naming: Naming) -> Result<Value, Diagnostics> {
    let tools = tools(catalog, revision, naming)?;
    let mut list = match revision {
        Revision::V2025_11_25 => json!({ "tools": tools }),
        Revision::V2026_07_28 => json!({
            "resultType": "complete",
            "tools": tools,
            "ttlMs": LIST_TTL_MS,
            "cacheScope": "public",
        }),
    };
    // Any crate of the program may enable `serde_json/preserve_order`; the keys would then stay in the order above, and
    // those of the schemas in the order of their creation.
    list.sort_all_objects();
    Ok(list)
}

fn tools(catalog: &Catalog, revision: Revision, naming: Naming) -> Result<Vec<Value>, Diagnostics> {
    let names = catalog.listed(naming)?;
    Ok(names.iter().map(|(name, tool)| Value::Object(listed(name, tool, revision))).collect())
}
