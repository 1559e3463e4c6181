//! The gateway to a dispatcher.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;
use std::sync::OnceLock;

use serde_json::Value;
use serde_json::value::RawValue;
use toolkit::call::{Arguments, BoxFuture, ErrorKind};
use toolkit::chain::{Chain, ChainOutcome};
use toolkit::tool::Annotations;
use toolkit::{Context, Dispatcher, RunResult, Tool, ToolError};
use toolkit_search::Index;

use super::{Found, Gateway, Namespace, Overview};

/// The gateway to a dispatcher: calls of a program pass its layers, validation and limits like other calls.
///
/// A program sees the latest version of each tool of the dispatcher's catalog, and can call other versions by their ids.
pub struct Direct {
    dispatcher: Dispatcher,
    is_allowed: Box<dyn Fn(&Tool) -> bool + Send + Sync>,
    /// The function of each id.
    functions: BTreeMap<String, String>,
    /// Built by the first search.
    index: OnceLock<Index>,
}

impl Direct {
    /// Creates a gateway to a dispatcher.
    #[must_use]
    pub fn new(dispatcher: Dispatcher) -> Self {
        Self::with_allowed(dispatcher, Box::new(|_| true))
    }

    /// Restricts programs to some of the tools. They neither see nor call others.
    #[must_use]
    pub fn only(self, is_allowed: impl Fn(&Tool) -> bool + Send + Sync + 'static) -> Self {
        let Self { dispatcher, is_allowed: before, .. } = self;
        let both = move |tool: &Tool| before(tool) && is_allowed(tool);
        Self::with_allowed(dispatcher, Box::new(both))
    }

    fn with_allowed(dispatcher: Dispatcher, is_allowed: Box<dyn Fn(&Tool) -> bool + Send + Sync>) -> Self {
        let tools = dispatcher.catalog().latest().filter(|tool| is_allowed(tool));
        let functions = functions(tools);
        Self { dispatcher, is_allowed, functions, index: OnceLock::new() }
    }

    /// Returns the dispatcher.
    #[must_use]
    pub fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.dispatcher.catalog().latest().filter(|tool| (self.is_allowed)(tool))
    }

    /// Returns the tool with this name. A tool that is not allowed is unknown.
    fn tool(&self, name: &str) -> Result<&Tool, ToolError> {
        let tool = self.dispatcher.catalog().resolve(name)?;
        if (self.is_allowed)(tool) {
            return Ok(tool);
        }
        let message = format!("no tool is named `{}`", name.escape_debug());
        Err(ToolError::new(ErrorKind::UnknownTool, message))
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::from_tools(self.tools()))
    }

    fn found(&self, id: &str, summary: &str) -> Found {
        let function = self.functions.get(id).map(|path| format!("tools.{path}"));
        Found { id: id.to_owned(), function, summary: summary.to_owned() }
    }
}

impl Gateway for Direct {
    fn functions(&self) -> Vec<(String, String)> {
        self.functions.iter().map(|(id, path)| (path.clone(), id.clone())).collect()
    }

    fn overview(&self, max_bytes: usize) -> Overview {
        let mut declarations = Some(String::new());
        for tool in self.tools() {
            let Some(text) = &mut declarations else { break };
            text.push_str(&declaration(tool, self.functions.get(&tool.id().to_string())));
            if text.len() > max_bytes {
                declarations = None;
            }
        }
        let mut annotations = Annotations::default();
        let hints = |hint: fn(&Annotations) -> Option<bool>| self.tools().map(move |tool| hint(tool.annotations()));
        annotations.read_only = Some(hints(|hints| hints.read_only).all(|hint| hint == Some(true)));
        // A tool that is not read-only may be destructive unless it says otherwise.
        annotations.destructive = Some(self.tools().map(Tool::annotations).any(is_destructive));
        annotations.open_world = Some(hints(|hints| hints.open_world).any(|hint| hint != Some(false)));
        Overview { namespaces: self.list_namespaces(), declarations, annotations }
    }

    fn run_tool<'a>(
        &'a self,
        context: &'a Context,
        id: &'a str,
        args: &'a RawValue,
    ) -> BoxFuture<'a, Result<RunResult, ToolError>> {
        Box::pin(async move {
            let tool = self.tool(id)?;
            let context = context.nested(tool)?;
            self.dispatcher.call_with(&context, &tool.id().to_string(), Arguments::from(args)).await
        })
    }

    fn run_chain<'a>(
        &'a self,
        context: &'a Context,
        chain: &'a Chain,
    ) -> BoxFuture<'a, Result<ChainOutcome, ToolError>> {
        Box::pin(async move {
            chain.steps().iter().try_for_each(|step| self.tool(step.tool()).map(drop))?;
            let outcome = chain.run(&self.dispatcher, context).await;
            outcome.map_err(|diagnostics| ToolError::new(ErrorKind::InvalidArguments, diagnostics.to_string()))
        })
    }

    fn search_tools(&self, query: &str, limit: usize) -> Vec<Found> {
        let hits = self.index().search(query, limit);
        hits.iter().map(|hit| self.found(&hit.summary.id, &hit.summary.short_description)).collect()
    }

    fn list_namespaces(&self) -> Vec<Namespace> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for tool in self.tools() {
            *counts.entry(tool.id().namespace().unwrap_or_default()).or_default() += 1;
        }
        counts.into_iter().map(|(name, tools)| Namespace { name: name.to_owned(), tools }).collect()
    }

    fn describe_tools(&self, ids: &[String]) -> Result<String, ToolError> {
        let mut text = String::new();
        for id in ids {
            let tool = self.tool(id)?;
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", declaration(tool, self.functions.get(&tool.id().to_string())));
        }
        Ok(text)
    }

    fn list_tool_examples(&self, id: &str, max: usize) -> Result<Vec<Value>, ToolError> {
        let mut examples = self.tool(id)?.examples();
        examples.truncate(max);
        Ok(examples)
    }
}

impl fmt::Debug for Direct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Direct").field("dispatcher", &self.dispatcher).finish_non_exhaustive()
    }
}

fn is_destructive(hints: &Annotations) -> bool {
    hints.read_only != Some(true) && hints.destructive != Some(false)
}

/// Returns the function of each tool that has one.
fn functions<'t>(tools: impl Iterator<Item = &'t Tool>) -> BTreeMap<String, String> {
    tools
        .map(|tool| {
            let id = tool.id();
            let path = match id.namespace() {
                Some(namespace) => format!("{namespace}.{}", id.name()),
                None => id.name().to_owned(),
            };
            (id.to_string(), path)
        })
        .collect()
}

fn declaration(tool: &Tool, function: Option<&String>) -> String {
    format!("{function:?}: {}", tool.description())
}
