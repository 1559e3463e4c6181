//! `tools/list`: the list of tools, as a value and as text that a server creates once and serves in pages; and the
//! comparison of a list with a file.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use serde_json::{Value, json};

use super::Revision;
use super::list_entry::{ListEntry, ListedSchema};
use super::object_result::of_objects;
use super::shared_schemas::SharedSchemas;
use crate::catalog::{Catalog, Diagnostic, DiagnosticKind, Diagnostics, Naming};
use crate::tool::shared_types::{input_once, output_once, shared_types};
use crate::tool::{Tool, drop_nulls};
use toolkit_schema::{inline, order, root, width};

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
/// - `_meta` contains the author's `meta` and, under [`META_KEY`](crate::tool::META_KEY), the tool's record: its id, namespace, version, tags,
///   category, requirements, replacement, aliases, examples and timeout (`timeoutMs`), as far as they are set.
/// - The root of an input schema is a plain object with `type` and `properties`, without `oneOf` and the like: hosts pass
///   the schema on to models, whose APIs refuse the whole request otherwise. The properties of an enum are merged, with its
///   variants in the description. Aliases of arguments are not listed, nor are bounds that only repeat the width of a type
///   of 32 bits or more. The schema of the tool, which validates the arguments, stays as it is.
/// - Output schemas have `type: object` at the root for 2025-11-25; there a result that is not an object is wrapped in an
///   object with the property `result`, see [`wrap_result`](super::wrap_result).
///
/// Properties are in the order of their declaration, and so are the names in `required`; models write arguments in this
/// order. All other keys are sorted: a catalog has the same bytes in every build. A server can cache the list as a
/// [`ToolList`].
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
    let names = catalog.listed(naming)?;
    let tools: Vec<Value> = names.iter().map(|(name, tool)| list_tool(name, tool, revision)).collect();
    let mut list = match revision {
        Revision::V2025_11_25 => json!({ "tools": tools }),
        Revision::V2026_07_28 => json!({
            "resultType": "complete",
            "tools": tools,
            "ttlMs": LIST_TTL_MS,
            "cacheScope": "public",
        }),
    };
    order::sort(&mut list);
    Ok(list)
}

/// Returns the entry of one tool in the list of [`list_tools`], under a name on the wire. A list of many tools that is
/// written tool by tool needs the memory of one tree instead of one for each tool.
///
/// ```
/// use toolkit::Tool;
/// use toolkit::mcp::{Revision, list_tool};
///
/// let read = Tool::builder("read").namespace("files").build()?;
/// assert_eq!(list_tool("files_read", &read, Revision::default())["name"], "files_read");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[must_use]
pub fn list_tool(name: &str, tool: &Tool, revision: Revision) -> Value {
    tool_lister(&[])(name, tool).into_value(revision)
}

/// Returns a function that does the same as [`list_tool`] for each of these tools, and builds and writes the schemas of a type
/// once.
pub fn tool_lister(tools: &[&Tool]) -> impl FnMut(&str, &Tool) -> ListEntry + use<> {
    let mut schemas = SharedSchemas::new(tools);
    let sorted = |mut value| {
        order::sort(&mut value);
        value
    };
    move |name, tool| {
        let list_input = || {
            let mut input = input_once(tool);
            root::list(&mut input);
            Some(ListedSchema::new(sorted(input)))
        };
        let input = schemas.get(|| shared_types(tool)[0], list_input).unwrap_or_default();
        let list_output = || {
            let mut output = listed_output(tool)?;
            width::remove(&mut output);
            Some(ListedSchema::new(sorted(output)))
        };
        let output = schemas.get(|| shared_types(tool)[1], list_output);
        ListEntry { fields: sorted(fields(name, tool, output.is_some())), input, output }
    }
}

/// Does the same as [`tool_lister`] for a tool of another server, whose input schema is listed as that server lists it, with
/// all keys in their order.
#[must_use]
pub fn list_proxied_tool(name: &str, tool: &Tool) -> ListEntry {
    let (mut input, output) = (input_once(tool), listed_output(tool));
    inline::inline(&mut input);
    let fields = fields(name, tool, output.is_some());
    ListEntry { fields, input: ListedSchema::new(of_objects(input)), output: output.map(ListedSchema::new) }
}

/// The tools of a catalog in the format of [`list_tools`], as JSON text.
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
    /// Returns the errors of [`list_tools`].
    pub fn new(catalog: &Catalog, revision: Revision, naming: Naming) -> Result<Self, Diagnostics> {
        let mut list = Self { revision, tools: String::new(), starts: vec![0] };
        let names = catalog.listed(naming)?;
        let tools: Vec<&Tool> = names.iter().map(|(_, tool)| tool).collect();
        let mut list_tool = tool_lister(&tools);
        for (name, tool) in names.iter() {
            list.tools.push_str(&list_tool(name, tool).to_json(revision));
            list.tools.push(',');
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
    /// [`list_tools`].
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::catalog::Naming;
    /// use toolkit::mcp::{Revision, ToolList};
    /// use toolkit::{Catalog, Manifest, Tool};
    ///
    /// let catalog = Catalog::new([Tool::builder("read").build()?])?;
    /// let list = ToolList::new(&catalog, Revision::default(), Naming::default())?;
    /// assert_eq!(Manifest::from_mcp_json(list.to_json())?.tools().count(), list.len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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

    /// Returns the result with a range of the tools. The keys are sorted, like those of [`list_tools`].
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

/// Returns the fields of the MCP `Tool` (`$defs/Tool` of both revisions), with `true` in place of its schemas.
fn fields(name: &str, tool: &Tool, has_output: bool) -> Value {
    let mut fields = tool.mcp_fields_without_schemas(has_output);
    // Other servers write `null` for fields without a value, which no revision allows.
    drop_nulls(&mut fields);
    fields.insert("name".to_owned(), name.into());
    let description = tool.full_description();
    if !description.is_empty() {
        fields.insert("description".to_owned(), description.into());
    }
    fields.into()
}

fn listed_output(tool: &Tool) -> Option<Value> {
    let mut output = output_once(tool)?;
    inline::inline(&mut output);
    Some(output)
}

impl Catalog {
    /// Compares the MCP manifest of the catalog with the file at `path`, and returns the catalog.
    ///
    /// With `TOOLKIT_BLESS=1` in the environment, it writes the file instead.
    ///
    /// ```
    /// use toolkit::catalog::Naming;
    /// use toolkit::mcp::{Revision, list_tools};
    /// use toolkit::{catalog, tool};
    ///
    /// /// Adds two integers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let manifest = list_tools(&catalog![add]?, Revision::default(), Naming::Name)?;
    /// let path = std::env::temp_dir().join(format!("tools-{}.json", std::process::id()));
    /// std::fs::write(&path, format!("{manifest:#}\n").replace("integers", "numbers"))?;
    ///
    /// let diagnostics = catalog![add]?.expect_manifest(&path, Revision::default(), Naming::Name).unwrap_err();
    /// assert!(diagnostics.to_string().contains(r#"`"description": "Adds two numbers.","#), "{diagnostics}");
    /// std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the first line that differs, or the reason why the file cannot be read or written or the manifest cannot
    /// be created.
    pub fn expect_manifest(
        self,
        path: impl AsRef<Path>,
        revision: Revision,
        naming: Naming,
    ) -> Result<Self, Diagnostics> {
        let path = path.as_ref();
        let failed = |message: String| Diagnostics::from(Diagnostic::new(DiagnosticKind::Unexpected, message, []));
        let manifest = format!("{:#}\n", list_tools(&self, revision, naming)?);
        if std::env::var_os("TOOLKIT_BLESS").is_some_and(|value| value == "1") {
            fs::write(path, manifest).map_err(|error| failed(format!("{}: {error}", path.display())))?;
            return Ok(self);
        }
        let expected = fs::read_to_string(path).map_err(|error| {
            failed(format!("{}: {error}; run with TOOLKIT_BLESS=1 to write the file", path.display()))
        })?;
        let lines = || expected.lines().map(Some).chain([None]).zip(manifest.lines().map(Some).chain([None]));
        match lines().enumerate().find(|(_, (expected, found))| expected != found) {
            None => Ok(self),
            Some((idx, (expected, found))) => Err(failed(format!(
                "{}:{} is `{}`, but the catalog has `{}`; run with TOOLKIT_BLESS=1 to update the file",
                path.display(),
                idx + 1,
                expected.map_or("nothing", str::trim),
                found.map_or("nothing", str::trim),
            ))),
        }
    }
}
