//! The Model Context Protocol: `tools/list` and `tools/call`, without a connection.

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
use crate::catalog::{Catalog, Naming, Problems};
pub use crate::tool::META_KEY;

/// A revision of the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Revision {
    /// 2025-11-25: results are objects.
    V2025_11_25,
    /// 2026-07-28: results are any JSON (SEP-2106), and lists say how long they keep (SEP-2549).
    #[default]
    V2026_07_28,
}

impl Revision {
    /// The revision as the protocol writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Revision::V2025_11_25 => "2025-11-25",
            Revision::V2026_07_28 => "2026-07-28",
        }
    }
}

/// How long a client may keep the list, in milliseconds (`ttlMs`, SEP-2549): one hour.
///
/// What is linked into a program changes only with the program. A server whose list depends on more overwrites it.
pub const LIST_TTL_MS: u64 = 3_600_000;

/// The result of `tools/list`: the highest version of every tool, in the order of their ids.
///
/// It is what the revision's official schema calls `ListToolsResult`. 2026-07-28 also requires `resultType`, which is
/// `complete`; `ttlMs`, see [`LIST_TTL_MS`]; and `cacheScope`, which is `public`, since a program's own catalogue is
/// the same for every user.
///
/// - A tool that is on its way out says so in the last paragraph of its description.
/// - `_meta` holds what the author gave and, under [`META_KEY`], the tool's own record: its id, namespace, version,
///   tags, category, requirements, what to use instead of it, former names, examples and time limit (`timeoutMs`), as
///   far as there are such.
/// - Input schemas have `type: object` at the root, which both revisions require. So have output schemas for
///   2025-11-25; a result that is no object is put under the property `result` of one, see [`wrap_result`].
///
/// All keys are sorted: one catalogue gives the same bytes in every build, whatever features of `serde_json` are on.
/// A server that is asked often keeps a [`ToolList`] of them.
///
/// # Errors
///
/// Every reason why some tool cannot be listed: several would get one name, a name is one that clients refuse, the
/// arguments are no object, or `meta` is none or has a key of ours.
///
/// # Examples
///
/// ```
/// # use toolkit::adapter::mcp::{Revision, list_tools};
/// # use toolkit::catalog::Naming;
/// /// Adds two integers.
/// #[toolkit::tool(namespace = "math", version = "1.0.0", read_only)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Problems> {
/// let catalog = toolkit::catalog![add]?;
/// let list = list_tools(&catalog, Revision::V2026_07_28, Naming::NamespaceName)?;
/// let tool = &list["tools"][0];
/// assert_eq!(tool["name"], "math_add");
/// assert_eq!(tool["annotations"]["readOnlyHint"], true);
/// assert_eq!(tool["_meta"]["rs.toolkit/tool"]["id"], "math:add:1.0.0");
/// # Ok(())
/// # }
/// ```
pub fn list_tools(catalog: &Catalog, revision: Revision, naming: Naming) -> Result<Value, Problems> {
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
    // Any crate of the program may switch on `serde_json/preserve_order`; then keys would stay in the order above, and
    // those of the schemas in that of their making.
    list.sort_all_objects();
    Ok(list)
}

fn tools(catalog: &Catalog, revision: Revision, naming: Naming) -> Result<Vec<Value>, Problems> {
    let names = catalog.listed(naming)?;
    Ok(names.iter().map(|(name, tool)| Value::Object(listed(name, tool, revision))).collect())
}
