//! The tools that programs can use.

mod direct;

use serde_json::value::RawValue;
use toolkit::call::BoxFuture;
use toolkit::{Context, RunResult, ToolError};
use toolkit_backends::chain::{Chain, ChainLimits, ChainOutcome};

pub use self::direct::Direct;
use toolkit::tool::Annotations;

/// A tool that a search of a program has found.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Found {
    /// The id of the tool.
    pub id: String,
    /// The function that calls it, such as `tools.math.add`, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// One sentence about it.
    pub summary: String,
}

/// A namespace and the number of its tools.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Namespace {
    /// The name. Tools without a namespace have the empty one.
    pub name: String,
    /// The number of tools.
    pub tools: usize,
}

/// The tools of a gateway in short, for a model that does not know them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Overview {
    /// The namespaces.
    pub namespaces: Vec<Namespace>,
    /// The declarations of all tools, if they are short enough.
    pub declarations: Option<String>,
    /// The hints that hold for every tool.
    pub annotations: Annotations,
}

/// The tools that programs can use.
///
/// The limits of a run are checked before a method is called. [`Direct`] is the gateway to a dispatcher, with all its
/// checks; another implementation may wrap it.
pub trait Gateway: Send + Sync + 'static {
    /// Returns the functions that call tools: a path such as `math.add` and the id of its tool.
    fn functions(&self) -> Vec<(String, String)>;

    /// Returns an overview, with the declarations of the tools if they have at most `max_bytes` together.
    fn overview(&self, max_bytes: usize) -> Overview;

    /// Runs a tool.
    ///
    /// # Errors
    ///
    /// Returns the error of the call.
    fn run_tool<'a>(
        &'a self,
        context: &'a Context,
        id: &'a str,
        args: &'a RawValue,
    ) -> BoxFuture<'a, Result<RunResult, ToolError>>;

    /// Runs a chain within the limits that the run has left.
    ///
    /// # Errors
    ///
    /// Returns an error if the chain is invalid. The failure of a step is part of the outcome.
    fn run_chain<'a>(
        &'a self,
        context: &'a Context,
        chain: &'a Chain,
        limits: ChainLimits,
    ) -> BoxFuture<'a, Result<ChainOutcome, ToolError>>;

    /// Returns the tools that match words, the best first.
    fn search_tools(&self, query: &str, limit: usize) -> Vec<Found>;

    /// Returns the namespaces in order.
    fn list_namespaces(&self) -> Vec<Namespace>;

    /// Returns the declarations of tools as text.
    ///
    /// # Errors
    ///
    /// Returns an error if a tool is unknown.
    fn describe_tools(&self, ids: &[String]) -> Result<String, ToolError>;

    /// Returns examples of the arguments of a tool, as JSON objects.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool is unknown.
    fn list_tool_examples(&self, id: &str, max: usize) -> Result<Vec<serde_json::Value>, ToolError>;
}
