//! The tools of other servers as typed functions, which [`import!`](macro@crate::import) makes.
//!
//! A call with a field that is not there, without one that is required or with a value of another type does not
//! compile. The functions call through the [`Dispatcher`], so that a tool runs on whatever backend has its server's
//! name. Whether the server still has the tools that were imported is one test:
//!
//! ```ignore
//! github::IMPORT.check(dispatcher.catalog())?;
//! ```

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use crate::call::{Arguments, Context, RunResult, ToolError};
use crate::catalog::{Catalog, Diagnostic, DiagnosticKind, Diagnostics};
use crate::dispatch::Dispatcher;
use crate::lock::{Lock, Part, Verdict};
use crate::tool::{Namespace, Tool};

/// A tool of another server as a typed function.
///
/// [`import!`](macro@crate::import) makes one for each tool, `TOOL` in the tool's module. `I` is what goes in, and `O`
/// what comes out: a type where the tool has an output schema, and otherwise the [`RunResult`].
pub struct ImportedTool<I, O> {
    id: &'static str,
    encode: fn(I) -> Result<Arguments<'static>, ToolError>,
    decode: fn(RunResult) -> Result<O, ToolError>,
}

impl<I, O> ImportedTool<I, O> {
    pub(crate) const fn new(
        id: &'static str,
        encode: fn(I) -> Result<Arguments<'static>, ToolError>,
        decode: fn(RunResult) -> Result<O, ToolError>,
    ) -> Self {
        Self { id, encode, decode }
    }

    /// The name by which the catalogue knows it: the server and the tool.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        self.id
    }

    /// Calls the tool.
    ///
    /// # Errors
    ///
    /// As for [`Dispatcher::call`]; or the result is not of the type that the imported manifest promises.
    pub async fn call(&self, dispatcher: &Dispatcher, arguments: I) -> Result<O, ToolError> {
        self.call_with(Context::EMPTY, dispatcher, arguments).await
    }

    /// Calls the tool with a context of the host's.
    ///
    /// # Errors
    ///
    /// As for [`ImportedTool::call`].
    pub async fn call_with(&self, context: &Context, dispatcher: &Dispatcher, arguments: I) -> Result<O, ToolError> {
        let arguments = (self.encode)(arguments)?;
        let result = dispatcher.call_with(context, self.id, arguments).await?;
        (self.decode)(result)
    }
}

impl<I, O> Clone for ImportedTool<I, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I, O> Copy for ImportedTool<I, O> {}

impl<I, O> fmt::Debug for ImportedTool<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ImportedTool").field(&self.id).finish()
    }
}

/// What was imported: `IMPORT` in the module that [`import!`](macro@crate::import) makes.
#[derive(Clone, Copy)]
pub struct Import {
    server: &'static str,
    manifest: &'static str,
    tools: &'static [&'static str],
    plainer: &'static [&'static str],
}

impl Import {
    pub(crate) const fn new(
        server: &'static str,
        manifest: &'static str,
        tools: &'static [&'static str],
        plainer: &'static [&'static str],
    ) -> Self {
        Self { server, manifest, tools, plainer }
    }

    /// The namespace in which the tools are called.
    #[must_use]
    pub const fn server(&self) -> &'static str {
        self.server
    }

    /// The names of the tools, as the server lists them.
    #[must_use]
    pub const fn tools(&self) -> &'static [&'static str] {
        self.tools
    }

    /// Where the types say less than the schemas: `create_chart` for a tool whose arguments or result are any JSON,
    /// `search.sort` for one property of what a tool takes or gives.
    #[must_use]
    pub const fn plainer(&self) -> &'static [&'static str] {
        self.plainer
    }

    /// Fails unless the tools of a catalogue still take all that the imported manifest says, and give what it promises.
    ///
    /// A tool that takes more or promises more passes, and so does one that was not imported.
    ///
    /// # Errors
    ///
    /// Every tool that is gone, and every change of a schema that breaks callers, or may, whatever its version says.
    pub fn check(&self, catalog: &Catalog) -> Result<(), Diagnostics> {
        let unreadable = |reason: String| {
            Diagnostics::from(Diagnostic::new(
                DiagnosticKind::Unexpected,
                format!("the imported manifest: {reason}"),
                [],
            ))
        };
        let imported = self.lock().map_err(unreadable)?;
        let changed = imported.compare(&Lock::of(catalog));
        let breaks = changed.changes().filter(|change| {
            // The generated functions call by the name in the namespace, so a bare name may be given away.
            let is_called_so = change.tool.strip_prefix(self.server).is_some_and(|name| name.starts_with(':'));
            // What a tool says of itself besides is nothing that a type holds on to.
            let is_gone = change.part == Part::Record && change.pointer.is_empty();
            is_called_so && change.verdict >= Verdict::Unknown && (change.part != Part::Record || is_gone)
        });
        let diagnostic = |message: String, id: &str| Diagnostic::new(DiagnosticKind::Broken, message, catalog.get(id));
        let diagnostics: Vec<Diagnostic> = breaks
            .map(|change| {
                let mut change = change.clone();
                // No version makes code fit that is compiled already.
                change.needs = None;
                diagnostic(change.to_string(), &change.tool)
            })
            .collect();
        Diagnostics::none_or(diagnostics)
    }

    /// The imported tools, in the namespace of their server.
    fn lock(&self) -> Result<Lock, String> {
        let namespace = Namespace::new(self.server.to_owned()).map_err(|error| error.to_string())?;
        let document: Value = serde_json::from_str(self.manifest).map_err(|error| error.to_string())?;
        let listed = document.get("tools").unwrap_or(&document).as_array().map_or(&[][..], Vec::as_slice);
        let is_canonical =
            document.get("lockVersion").is_some() || listed.iter().any(|tool| tool["namespace"].is_string());
        let is_of_server = |tool: &&Value| !is_canonical || tool["namespace"] == self.server;
        let named = listed.iter().filter(is_of_server).filter_map(|tool| Some((tool["name"].as_str()?, tool)));
        // As for the functions: of the versions of one tool, the last.
        let latest: BTreeMap<&str, &Value> = named.filter(|(name, _)| self.tools.contains(name)).collect();
        let read = |tool: &Value| {
            let schemas = ["name", "inputSchema", "outputSchema"].map(|field| (field.to_owned(), tool[field].clone()));
            let tool = Tool::from_json(Value::Object(Map::from_iter(schemas))).map_err(|error| error.to_string())?;
            Ok(tool.in_namespace(namespace.clone()))
        };
        let tools = latest.into_values().map(read);
        Ok(Lock::of_tools(tools.collect::<Result<_, String>>()?))
    }
}

impl fmt::Debug for Import {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Import").field("server", &self.server).field("tools", &self.tools.len()).finish_non_exhaustive()
    }
}
