//! The gateway to a dispatcher.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;
use std::sync::OnceLock;

use serde_json::Value;
use serde_json::value::RawValue;
use toolkit::call::{Arguments, BoxFuture, ErrorKind};
use toolkit::chain::{Chain, ChainOutcome};
use toolkit::{Context, Dispatcher, RunResult, Tool, ToolError};
use toolkit_search::Index;

use super::{Found, Gateway, Namespace};

/// The gateway to a dispatcher: calls of a program pass its layers, validation and limits like other calls.
///
/// A program sees the latest version of each tool of the dispatcher's catalog, and can call other versions by their ids.
pub struct Direct {
    dispatcher: Dispatcher,
    /// The function of each id.
    functions: BTreeMap<String, String>,
    /// Built by the first search.
    index: OnceLock<Index>,
}

impl Direct {
    /// Creates a gateway to a dispatcher.
    #[must_use]
    pub fn new(dispatcher: Dispatcher) -> Self {
        let functions = functions(&dispatcher);
        Self { dispatcher, functions, index: OnceLock::new() }
    }

    /// Returns the dispatcher.
    #[must_use]
    pub fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    fn tool(&self, name: &str) -> Result<&Tool, ToolError> {
        self.dispatcher.catalog().resolve(name)
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::from_tools(self.dispatcher.catalog().latest()))
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

    fn run_tool<'a>(
        &'a self,
        context: &'a Context,
        id: &'a str,
        args: &'a RawValue,
    ) -> BoxFuture<'a, Result<RunResult, ToolError>> {
        Box::pin(self.dispatcher.call_with(context, id, Arguments::from(args)))
    }

    fn run_chain<'a>(
        &'a self,
        context: &'a Context,
        chain: &'a Chain,
    ) -> BoxFuture<'a, Result<ChainOutcome, ToolError>> {
        Box::pin(async move {
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
        for tool in self.dispatcher.catalog().latest() {
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

/// Returns the function of each tool that has one.
fn functions(dispatcher: &Dispatcher) -> BTreeMap<String, String> {
    let tools = dispatcher.catalog().latest();
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
