//! The list of served tools, with their names on the wire.

mod pages;

use std::collections::HashMap;
use std::sync::Arc;
#[cfg(feature = "search")]
use std::sync::OnceLock;
use std::{fmt, io};

use serde_json::Value;
use toolkit::call::ErrorKind;
use toolkit::catalog::{Diagnostic, DiagnosticKind, Diagnostics, Naming};
use toolkit::dispatch::Prepared;
use toolkit::internals::check_object;
use toolkit::internals::{ListEntry, list_proxied_tool, tool_lister};
use toolkit::mcp::Revision;
use toolkit::schema::suggest;
use toolkit::tool::TaskSupport;
use toolkit::{Coercion, Dispatcher, Tool, ToolError};
use toolkit_mcp::ParamHeader;
#[cfg(feature = "search")]
use toolkit_search::Index;

pub(super) use self::pages::{CacheHints, cursor_of, cursor_text, page, whole, write};
use super::filter::Filter;
use super::listed_names::{Claims, ListedNames};
use super::metrics::{CallMetrics, Metrics};
use super::prompt_list::ServedPrompts;
use super::proxy_uri::has_ui;

/// A dispatcher and its list of served tools. It is immutable; a server replaces it as a whole.
pub(super) struct ServedTools {
    pub(super) dispatcher: Dispatcher,
    /// The served tools, in the order of the catalog.
    pub(super) entries: Vec<ServedTool>,
    by_name: HashMap<String, usize>,
    names: ListedNames,
    /// True if a tool has a user interface.
    pub(super) has_apps: bool,
    /// The entries of `tools/list`, by revision.
    listed: [Vec<Arc<[u8]>>; 2],
    /// The index behind `search_tools`, built on the first search.
    #[cfg(feature = "search")]
    index: OnceLock<Index>,
    pub(super) prompts: ServedPrompts,
}

/// The key in `_meta` of a tool for the number of characters that its result has at most, by which Claude Code decides whether
/// it gives the result to the model or saves it to a file.
const MAX_RESULT: &str = "anthropic/maxResultSizeChars";

/// A served tool.
pub(super) struct ServedTool {
    pub(super) name: String,
    /// The position in the catalog, so that a call resolves its name once.
    position: usize,
    /// The id including the version.
    pub(super) id: Arc<str>,
    pub(super) param_headers: Vec<ParamHeader>,
    pub(super) has_requirements: bool,
    /// True if the tool calls other tools.
    pub(super) calls_tools: bool,
    pub(super) task_support: TaskSupport,
    /// True if the tool has a user interface.
    has_ui: bool,
    /// The number of characters after which the text of a result is cut, unless another server answers.
    pub(super) max_result: Option<usize>,
    pub(super) metrics: Arc<CallMetrics>,
}

impl ServedTools {
    pub(super) fn new(
        dispatcher: Dispatcher,
        naming: Naming,
        filters: [&Filter; 2],
        metrics: &Metrics,
        claims: &Claims,
    ) -> Result<Self, ServeError> {
        // The clients of models send numbers, lists and objects as text.
        let dispatcher = dispatcher.with_default_coercion(Coercion::Lossless);
        let catalog = dispatcher.catalog();
        // A tool that is not served takes the name of no other one.
        let admitted = catalog.latest().filter(|tool| filters.iter().all(|filter| filter.admits_among(tool, catalog)));
        let listed_names = ListedNames::new(naming, admitted.map(Tool::id), |id| claims.is_own(id), &claims.tools);
        let names = catalog.named(naming, |tool| listed_names.get(tool.id()).cloned()).map_err(ServeError::Catalog)?;
        let (mut entries, mut listed) = (Vec::new(), [Vec::new(), Vec::new()]);
        let (mut not_objects, mut wrong) = (Vec::new(), Vec::new());
        let tools: Vec<&Tool> = names.iter().map(|(_, tool)| tool).collect();
        let mut list_tool = tool_lister(&tools);
        for (name, tool) in names.iter() {
            // The trees of the schemas are not kept: those of all tools take more memory than their text.
            let is_proxied = dispatcher.is_proxied(tool);
            let shown = match is_proxied {
                true => list_proxied_tool(name, tool),
                false => list_tool(name, tool),
            };
            check_object(tool, &shown.input.value, &mut not_objects);
            let id: Arc<str> = tool.id().to_string().into();
            let param_headers = ParamHeader::collect_from(&shown.input.value).unwrap_or_else(|reason| {
                wrong.push(Diagnostic::new(DiagnosticKind::InvalidSchema, format!("`{id}`: {reason}"), [tool]));
                Vec::new()
            });
            let meta = &shown.fields["_meta"];
            entries.push(ServedTool {
                name: name.to_owned(),
                position: catalog.iter().as_slice().partition_point(|other| other.id() < tool.id()),
                param_headers,
                has_requirements: !tool.requirements().is_empty(),
                calls_tools: dispatcher.calls_tools(tool),
                task_support: tool.task_support(),
                has_ui: meta.as_object().is_some_and(has_ui),
                max_result: meta[MAX_RESULT].as_u64().map(|max| max as usize).filter(|_| !is_proxied),
                metrics: metrics.tool(&id),
                id,
            });
            let [before, now] = texts_of(shown);
            listed[0].push(before);
            listed[1].push(now);
        }
        Diagnostics::none_or(not_objects)?;
        if !wrong.is_empty() {
            return Err(ServeError::Headers(wrong));
        }
        let prompts =
            ServedPrompts::new(&dispatcher, naming, filters[0], &claims.prompts).map_err(ServeError::Catalog)?;
        let has_apps = entries.iter().any(|entry| entry.has_ui);
        let by_name = entries.iter().enumerate().map(|(idx, entry)| (entry.name.clone(), idx)).collect();
        Ok(Self {
            dispatcher,
            entries,
            by_name,
            names: listed_names,
            has_apps,
            listed,
            #[cfg(feature = "search")]
            index: OnceLock::new(),
            prompts,
        })
    }

    /// Returns the position of the tool with this name on the wire.
    pub(super) fn get(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Returns the position of the tool that a page of a server calls by its name on that server, which does not know the names
    /// here. Returns `None` if another tool has the same name, or the server has no page, or the name is claimed by another one,
    /// whose calls the server would get otherwise while that one is away.
    pub(super) fn called_by_page(&self, name: &str, claims: &Claims) -> Option<usize> {
        if !self.has_apps {
            return None;
        }
        let mut named = self.entries.iter().enumerate().filter(|(_, entry)| self.tool(entry).name() == name);
        let (nth, entry) = named.next().filter(|_| named.next().is_none())?;
        let namespace = self.tool(entry).id().namespace();
        if claims.tools.may_be_of_another(namespace.unwrap_or_default(), name) {
            return None;
        }
        let mut with_page = self.entries.iter().filter(|entry| entry.has_ui);
        with_page.any(|entry| self.tool(entry).id().namespace() == namespace).then_some(nth)
    }

    /// Returns the error of a name that several tools would have, which is that of none.
    pub(super) fn shared_name(&self, name: &str) -> Option<ToolError> {
        let others = self.names.sharing(name)?;
        let message = format!("several tools could have the name `{name}`; call {others}");
        Some(ToolError::new(ErrorKind::AmbiguousTool, message))
    }

    pub(super) fn tool(&self, entry: &ServedTool) -> &Tool {
        self.prepared(entry).tool()
    }

    pub(super) fn prepared(&self, entry: &ServedTool) -> Prepared<'_> {
        self.dispatcher.prepared_at(entry.position)
    }

    #[cfg(feature = "search")]
    pub(super) fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::from_tools(self.entries.iter().map(|entry| self.tool(entry))))
    }

    /// Checks that each user interface of a tool is a resource of the server.
    pub(super) fn check_apps(&self, is_served: impl Fn(&str) -> bool) -> Result<(), ServeError> {
        let mut diagnostics = Vec::new();
        for entry in &self.entries {
            let tool = self.tool(entry);
            let meta = tool.meta().unwrap_or_default();
            let Some(uri) = meta.pointer("/ui/resourceUri").and_then(Value::as_str) else { continue };
            if !is_served(uri) {
                let message = format!(
                    "`{}`: the user interface `{}` is not a resource of the server",
                    entry.id,
                    uri.escape_debug()
                );
                diagnostics.push(Diagnostic::new(DiagnosticKind::InvalidMeta, message, [tool]));
            }
        }
        if diagnostics.is_empty() { Ok(()) } else { Err(ServeError::Apps(diagnostics)) }
    }

    /// Returns true if both lists are equal for clients.
    pub(super) fn looks_like(&self, other: &Self) -> bool {
        self.listed(Revision::V2026_07_28) == other.listed(Revision::V2026_07_28)
    }

    /// Returns true if calls of a tool may become tasks.
    pub(super) fn has_tasks(&self) -> bool {
        self.entries.iter().any(|entry| entry.task_support != TaskSupport::Forbidden)
    }

    /// Returns the entries of `tools/list` for a revision, as JSON, in the order of `entries`.
    pub(super) fn listed(&self, revision: Revision) -> &[Arc<[u8]>] {
        &self.listed[usize::from(revision != Revision::V2025_11_25)]
    }

    /// Returns the message for a name that no served tool has, with the most similar name.
    pub(super) fn not_found(&self, name: &str) -> String {
        let shown: String = name.chars().take(120).collect();
        let hint = match self.nearest(name) {
            Some(near) => format!("; did you mean `{near}`?"),
            None if 2 * self.entries.len() > suggest::MAX_NAMES => format!("; {}", suggest::TOO_MANY_NAMES),
            None => String::new(),
        };
        format!("no tool is named `{}`{hint}", shown.escape_debug())
    }

    /// Returns the name most similar to `typed`, if it is similar enough. Compares the names with and without the
    /// namespace.
    fn nearest(&self, typed: &str) -> Option<&str> {
        let bare = || self.entries.iter().map(|entry| self.tool(entry).name());
        let found = suggest::nearest(typed, self.entries.iter().map(|entry| &*entry.name).chain(bare()))?;
        if self.by_name.contains_key(found) {
            return Some(found);
        }
        let nth = bare().position(|name| name == found)?;
        Some(&self.entries[nth].name)
    }
}

/// Returns the texts of an entry in 2025-11-25 and in 2026-07-28. They are the same if the tool has no user interface and its
/// result is an object, which is never wrapped.
fn texts_of(mut entry: ListEntry) -> [Arc<[u8]>; 2] {
    let text = |entry: &ListEntry, revision| Arc::from(entry.to_json(revision).into_bytes());
    let now = text(&entry, Revision::V2026_07_28);
    let has_object = entry.output.as_ref().is_none_or(|schema| schema.value["type"] == "object");
    if !entry.fields.get_mut("_meta").is_some_and(add_flat_ui) && has_object {
        return [Arc::clone(&now), now];
    }
    [text(&entry, Revision::V2025_11_25), now]
}

/// Adds the user interface of a tool to its `_meta` in the form that hosts of earlier revisions read too. Returns false if
/// there is none.
fn add_flat_ui(meta: &mut Value) -> bool {
    let Some(ui) = meta.get("ui") else { return false };
    let uri = ui.get("resourceUri").filter(|uri| uri.is_string()).cloned();
    if let (Some(uri), Some(meta)) = (uri, meta.as_object_mut()) {
        meta.entry("ui/resourceUri").or_insert(uri);
    }
    true
}

/// The error of a dispatcher that cannot be served.
///
/// # Examples
///
/// ```
/// use toolkit::catalog::Naming;
/// use toolkit::{Catalog, Dispatcher, Tool};
/// use toolkit_mcp_server::{ServeError, Server};
///
/// let list = |namespace| Tool::builder("list").namespace(namespace).build();
/// let dispatcher = Dispatcher::new(Catalog::new([list("files")?, list("mail")?])?)?;
/// let error = Server::builder(dispatcher).naming(Naming::Name).build().unwrap_err();
/// assert!(matches!(error, ServeError::Catalog(_)));
/// assert_eq!(error.diagnostics().count(), 1);
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// The catalog cannot be listed; see [`list_tools`](toolkit::mcp::list_tools).
    Catalog(Diagnostics),
    /// Tools have an invalid `x-mcp-header`. Clients must reject such tools.
    Headers(Vec<Diagnostic>),
    /// Tools have a user interface (`_meta.ui.resourceUri`) that no provider of resources serves.
    Apps(Vec<Diagnostic>),
    /// The stored tasks cannot be loaded.
    Tasks(io::Error),
    /// The [name of the replica](crate::ServerBuilder::replica) is invalid.
    Replica,
}

impl ServeError {
    /// Returns the diagnostics, each with the tools that it concerns.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        match self {
            ServeError::Catalog(diagnostics) => diagnostics.iter(),
            ServeError::Headers(diagnostics) | ServeError::Apps(diagnostics) => diagnostics.iter(),
            ServeError::Tasks(_) | ServeError::Replica => [].iter(),
        }
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::Catalog(diagnostics) => diagnostics.fmt(f),
            ServeError::Headers(diagnostics) | ServeError::Apps(diagnostics) => {
                let messages: Vec<&str> = diagnostics.iter().map(Diagnostic::message).collect();
                f.write_str(&messages.join("\n"))
            }
            ServeError::Tasks(error) => write!(f, "the stored tasks cannot be loaded: {error}"),
            ServeError::Replica => {
                f.write_str("not the name of a replica: expected 1 to 32 lowercase letters, digits and hyphens")
            }
        }
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ServeError::Tasks(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Diagnostics> for ServeError {
    fn from(diagnostics: Diagnostics) -> Self {
        ServeError::Catalog(diagnostics)
    }
}

/// A tool that a server serves, also if clients find it only with `search_tools`.
///
/// # Examples
///
/// ```
/// use toolkit::{Dispatcher, catalog, tool};
/// use toolkit_mcp_server::Server;
///
/// /// Adds two integers.
/// #[tool(namespace = "math")]
/// fn add(a: i32, b: i32) -> i32 {
///     a + b
/// }
///
/// let server = Server::new(Dispatcher::new(catalog![add]?)?)?;
/// let listed = server.listed();
/// assert_eq!(listed[0].name, "math_add");
/// assert_eq!(listed[0].tool.id().to_string(), "math:add");
/// assert!(listed[0].json.starts_with(b"{"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListedTool {
    /// The name that clients use.
    pub name: String,
    /// The tool.
    pub tool: Tool,
    /// The entry of `tools/list` in revision 2026-07-28, as JSON.
    pub json: Arc<[u8]>,
}

impl ServedTools {
    /// Returns the tools in the order of the catalog.
    pub(super) fn listed_tools(&self) -> Vec<ListedTool> {
        let listed = std::iter::zip(&self.entries, self.listed(Revision::V2026_07_28));
        let listed = listed.map(|(entry, json)| {
            let (name, tool, json) = (entry.name.clone(), self.tool(entry).clone(), Arc::clone(json));
            ListedTool { name, tool, json }
        });
        listed.collect()
    }
}
