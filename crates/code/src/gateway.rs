//! The tools that programs can use.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use serde_json::Value;
use serde_json::value::RawValue;
use toolkit::backend::Routes;
use toolkit::call::{Arguments, ErrorKind};
use toolkit::catalog::{Diagnostics, ExportedName};
use toolkit::tool::{Annotations, ToolId};
use toolkit::{Catalog, Context, Dispatcher, RunResult, Tool, ToolError};
use toolkit_backends::chain::{Chain, ChainLimits, ChainOutcome};
use toolkit_providers::typescript::{self, Detail};
use toolkit_search::Index;

/// A tool that a search of a program has found.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct FoundTool {
    /// The id of the tool.
    pub(crate) id: String,
    /// The function that calls it, such as `tools.math.add`, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) function: Option<String>,
    /// One sentence about it.
    pub(crate) summary: String,
}

/// A namespace and the number of its tools.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Namespace {
    /// The name. Tools without a namespace have the empty one.
    pub(crate) name: String,
    /// The number of tools.
    pub(crate) tools: usize,
}

/// The tools of a gateway in short, for a model that does not know them.
#[derive(Clone, Debug)]
pub(crate) struct Overview {
    /// The namespaces.
    pub(crate) namespaces: Vec<Namespace>,
    /// The declarations of all tools, if they are short enough.
    pub(crate) declarations: Option<String>,
    /// The hints that hold for every tool.
    pub(crate) annotations: Annotations,
}

/// The size in bytes of the shortest declarations.
const SHORTEST: usize = 30;

/// The tools of a dispatcher that programs can use. Their calls pass its layers, validation and limits like other calls.
///
/// A program sees the latest version of each tool of the dispatcher's catalog, and can call other versions by their ids.
pub struct Gateway {
    dispatcher: Dispatcher,
    is_allowed: Box<dyn Fn(&Tool) -> bool + Send + Sync>,
    /// The function of each allowed tool.
    functions: HashMap<ToolId, ExportedName>,
    /// Built by the first search.
    index: OnceLock<Index>,
}

impl Gateway {
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
        let names = typescript::names(dispatcher.catalog());
        let is_function = |name: &&ExportedName| dispatcher.catalog().with_id(name.id()).is_some_and(&is_allowed);
        let functions = names.iter().filter(is_function).map(|name| (name.id().clone(), name.clone())).collect();
        Self { dispatcher, is_allowed, functions, index: OnceLock::new() }
    }

    /// Returns the dispatcher.
    #[must_use]
    pub fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    /// Returns a gateway to those of the tools that `catalog` contains. They run on `routes`.
    pub(crate) fn restricted_to(&self, catalog: &Catalog, routes: &Routes) -> Result<Self, Diagnostics> {
        let is_left = |tool: &&Tool| (self.is_allowed)(tool) && catalog.with_id(tool.id()).is_some();
        let tools = Catalog::new(self.dispatcher.catalog().iter().filter(is_left).cloned())?;
        Ok(Self::new(self.dispatcher.with_catalog(tools, routes.clone())?))
    }

    fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.dispatcher.catalog().latest().filter(|tool| (self.is_allowed)(tool))
    }

    /// Returns the tool with this name. A tool that is not allowed is unknown.
    fn tool(&self, name: &str) -> Result<&Tool, ToolError> {
        match self.dispatcher.catalog().resolve(name) {
            Ok(tool) if (self.is_allowed)(tool) => return Ok(tool),
            // The error may suggest tools that are not allowed.
            Err(error) if self.tools().count() == self.dispatcher.catalog().latest().count() => return Err(error),
            _ => {}
        }
        let message = format!("no tool is named `{}`", name.escape_debug());
        Err(ToolError::new(ErrorKind::UnknownTool, message))
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::from_tools(self.tools()))
    }

    /// Returns a tool with its function. Versions other than the latest have none, and are declared under their names.
    fn declared<'t>(&self, tool: &'t Tool) -> (ExportedName, &'t Tool) {
        let unnamed = || ExportedName::new(tool.name(), tool.id().clone());
        (self.functions.get(tool.id()).cloned().unwrap_or_else(unnamed), tool)
    }

    fn declarations<'t>(&self, tools: impl Iterator<Item = &'t Tool>, detail: Detail) -> String {
        let declared: Vec<(ExportedName, &Tool)> = tools.map(|tool| self.declared(tool)).collect();
        typescript::describe(declared.iter().map(|(name, tool)| (name, *tool)), detail).text
    }

    /// Returns the declarations of all tools in the most detailed form that is short enough.
    fn all_declarations(&self, max_bytes: usize) -> Option<String> {
        // A declaration has more bytes than the shortest one, so that most catalogs need no attempt.
        if self.functions.len() > max_bytes / SHORTEST {
            return None;
        }
        let texts = [Detail::Full, Detail::Compact].map(|detail| self.declarations(self.tools(), detail));
        texts.into_iter().find(|text| text.len() <= max_bytes)
    }

    /// Returns the functions that call tools: a path such as `math.add` and the id of its tool.
    pub(crate) fn functions(&self) -> Vec<(String, String)> {
        self.functions.values().map(|name| (name.to_string(), name.id().to_string())).collect()
    }

    /// Returns an overview, with the declarations of the tools if they have at most `max_bytes` together.
    pub(crate) fn overview(&self, max_bytes: usize) -> Overview {
        let mut annotations = Annotations::default();
        let hints = |hint: fn(&Annotations) -> Option<bool>| self.tools().map(move |tool| hint(tool.annotations()));
        annotations.read_only = Some(hints(|hints| hints.read_only).all(|hint| hint == Some(true)));
        // A tool that is not read-only may be destructive unless it says otherwise.
        annotations.destructive = Some(self.tools().map(Tool::annotations).any(Annotations::may_be_destructive));
        annotations.open_world = Some(hints(|hints| hints.open_world).any(|hint| hint != Some(false)));
        Overview { namespaces: self.list_namespaces(), declarations: self.all_declarations(max_bytes), annotations }
    }

    /// Runs a tool.
    pub(crate) async fn run_tool(&self, context: &Context, id: &str, args: &RawValue) -> Result<RunResult, ToolError> {
        let tool = self.tool(id)?;
        let context = context.nested(tool)?;
        self.dispatcher.call_with(&context, &tool.id().to_string(), Arguments::from(args)).await
    }

    /// Runs a chain within the limits that the run has left. The failure of a step is part of the outcome.
    pub(crate) async fn run_chain(
        &self,
        context: &Context,
        chain: &Chain,
        limits: ChainLimits,
    ) -> Result<ChainOutcome, ToolError> {
        chain.steps().iter().try_for_each(|step| self.tool(step.tool()).map(drop))?;
        let prepared = chain.prepare(&self.dispatcher);
        let prepared = prepared.map_err(|wrong| ToolError::new(ErrorKind::InvalidArguments, wrong.to_string()))?;
        Ok(prepared.with_limits(limits).run(context).await)
    }

    /// Returns the tools that match words, the best first.
    pub(crate) fn search_tools(&self, query: &str, limit: usize) -> Vec<FoundTool> {
        let hits = self.index().search(query, limit);
        let found = hits.iter().map(|hit| {
            let (id, summary) = (hit.summary.id.clone(), hit.summary.short_description.clone());
            let tool = self.dispatcher.catalog().get(&id);
            let function = tool.and_then(|tool| self.functions.get(tool.id())).map(|name| format!("tools.{name}"));
            FoundTool { id, function, summary }
        });
        found.collect()
    }

    /// Returns the namespaces in order.
    pub(crate) fn list_namespaces(&self) -> Vec<Namespace> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for tool in self.tools() {
            *counts.entry(tool.id().namespace().unwrap_or_default()).or_default() += 1;
        }
        counts.into_iter().map(|(name, tools)| Namespace { name: name.to_owned(), tools }).collect()
    }

    /// Returns the declarations of tools as text.
    pub(crate) fn describe_tools(&self, ids: &[String]) -> Result<String, ToolError> {
        let tools: Vec<&Tool> = ids.iter().map(|id| self.tool(id)).collect::<Result<_, _>>()?;
        Ok(self.declarations(tools.into_iter(), Detail::Full))
    }

    /// Returns examples of the arguments of a tool, as JSON objects.
    pub(crate) fn list_tool_examples(&self, id: &str, max: usize) -> Result<Vec<Value>, ToolError> {
        let mut examples = self.tool(id)?.examples();
        examples.truncate(max);
        Ok(examples)
    }
}

toolkit::debug_fields!(Gateway { dispatcher });
