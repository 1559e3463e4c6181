//! The catalog as data of the page.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolkit::{Catalog, Tool};
use toolkit_mcp_server::{ListedTool, RouteRequest};
use toolkit_providers::cost::{Cost, estimate};
use toolkit_providers::html::document;

/// A tool in the list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolEntry {
    name: String,
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    summary: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hints: Vec<&'static str>,
    tokens: usize,
}

/// Returns the tools that a caller may call, as a JSON array.
pub(crate) fn entries(request: &RouteRequest<'_>) -> String {
    let listed = request.server.listed();
    let shown = listed.iter().filter(|listed| request.grants(&listed.tool));
    serde_json::to_string(&shown.map(entry).collect::<Vec<_>>()).expect("an entry is serializable")
}

fn entry(listed: &ListedTool) -> ToolEntry {
    let tool = &listed.tool;
    ToolEntry {
        name: listed.name.clone(),
        id: tool.id().to_string(),
        namespace: tool.id().namespace().map(str::to_owned),
        title: tool.title().map(str::to_owned),
        summary: tool.summary().to_owned(),
        tags: tool.tags().iter().map(ToString::to_string).collect(),
        hints: hints(tool),
        tokens: cost(listed).total,
    }
}

/// Returns the hints of a tool in the words of the page.
fn hints(tool: &Tool) -> Vec<&'static str> {
    let annotations = tool.annotations();
    let hint = |hint: Option<bool>, yes, no| hint.map(|hint| if hint { yes } else { no });
    let hints = [
        hint(annotations.read_only, "read-only", "writes"),
        hint(annotations.destructive, "destructive", "not-destructive")
            .or(annotations.may_be_destructive().then_some("may-be-destructive")),
        hint(annotations.idempotent, "idempotent", "not-idempotent"),
        hint(annotations.open_world, "open-world", "closed-world"),
        tool.deprecated().map(|_| "deprecated"),
    ];
    hints.into_iter().flatten().collect()
}

/// Estimates the tokens that the definition of a tool costs a model.
fn cost(listed: &ListedTool) -> Cost {
    let mut definition: Value = serde_json::from_slice(&listed.json).unwrap_or_default();
    if let Some(fields) = definition.as_object_mut() {
        // Clients do not pass it to the model.
        fields.shift_remove("_meta");
    }
    Cost::new(&definition, &estimate)
}

/// A tool with everything that the page shows of it.
#[derive(Debug, Serialize)]
struct ToolDetails<'d> {
    /// The entry of `tools/list`.
    tool: &'d RawValue,
    cost: Cost,
    examples: Vec<Value>,
    /// The id without the version.
    id: String,
    /// The time after which the tool is stopped, in milliseconds.
    timeout: Option<u128>,
    /// The replacement of a deprecated tool.
    deprecated: Option<&'d str>,
    /// True for a function of this program, which the command line and Rust can call as well.
    #[serde(rename = "isLinked")]
    is_linked: bool,
}

/// Returns a tool as JSON.
pub(crate) fn details(listed: &ListedTool) -> Option<String> {
    let tool = &listed.tool;
    let mut examples = tool.examples();
    if examples.is_empty() {
        examples.extend(tool.input().example());
    }
    let details = ToolDetails {
        tool: serde_json::from_slice(&listed.json).ok()?,
        cost: cost(listed),
        examples,
        id: tool.id().unversioned().to_string(),
        timeout: tool.timeout().map(|timeout| timeout.as_millis()),
        deprecated: tool.deprecated(),
        is_linked: tool.location().is_some(),
    };
    serde_json::to_string(&details).ok()
}

/// Returns the tools that a caller may call as a page that needs no server.
pub(crate) fn export(title: &str, program: Option<&str>, request: &RouteRequest<'_>) -> Option<String> {
    let tools = request.server.listed().into_iter().map(|listed| listed.tool).filter(|tool| request.grants(tool));
    let catalog = Catalog::new(tools).ok()?;
    Some(document(title, program, &catalog))
}
