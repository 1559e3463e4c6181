//! Tools grouped by namespace (`NamespaceToolParam` of Responses).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::function::{described, read, strict_usage};
use super::options::Options;
use crate::export::Export;
use crate::request_limits::{Member, RequestLimits, description_usage, tool_usage};
use toolkit::catalog::{Catalog, Diagnostic, DiagnosticKind, Diagnostics, Naming};
use toolkit::tool::{Namespace, ParseToolError, Tool};
use toolkit_schema::quoted;

/// The longest name of a namespace in characters, the same as for functions.
const MAX_LEN: usize = 64;

/// The number of tools that the description of a namespace lists.
const MAX_NAMED: usize = 32;

pub(super) fn grouped(catalog: &Catalog, options: Options) -> Result<Export, Diagnostics> {
    let mut diagnostics = Vec::new();
    check_namespaces(catalog, &mut diagnostics);
    let mut groups: BTreeMap<Option<&str>, Vec<Tool>> = BTreeMap::new();
    for tool in catalog.latest() {
        groups.entry(tool.id().namespace()).or_default().push(tool.clone());
    }
    // Names are unique within a namespace, as within a catalog.
    let groups = groups.into_iter().map(|(namespace, tools)| Ok((namespace, Catalog::new(tools)?)));
    let groups: Vec<(Option<&str>, Catalog)> = groups.collect::<Result<_, Diagnostics>>()?;
    let mut listed = Vec::new();
    for (namespace, group) in &groups {
        match group.listed(Naming::Name) {
            Ok(names) => listed.push((*namespace, names)),
            Err(wrong) => diagnostics.extend(wrong.iter().cloned()),
        }
    }
    Diagnostics::none_or(diagnostics)?;

    let describe_tool = |tool: &Tool, name: &str| {
        let mut export = described(tool, name, options);
        if tool.id().namespace().is_none_or(|namespace| wire(namespace) == namespace) {
            export.losses.retain(|loss| loss.keyword != "namespace");
        }
        export
    };
    let members: Vec<Member<'_>> = listed.iter().flat_map(|(_, names)| Member::all(names, describe_tool)).collect();
    let mut export = Export { usage: tool_usage(&RequestLimits::OPENAI, &members), ..Export::default() };
    export.usage.extend(description_usage(&members));
    export.usage.extend(strict_usage(&members, options));

    let (mut members, mut all) = (members.into_iter(), Vec::new());
    for (namespace, names) in &listed {
        let names: Vec<&str> = names.iter().map(|(name, _)| name).collect();
        let wire_name = namespace.map(wire);
        let members = members.by_ref().take(names.len());
        let functions: Vec<Value> = members.map(|member| export.take(wire_name.as_deref(), member)).collect();
        match namespace {
            None => all.extend(functions),
            Some(namespace) => all.push(json!({
                "type": "namespace",
                "name": wire(namespace),
                "description": description(&names),
                "tools": functions,
            })),
        }
    }
    Ok(export.with_tools(all).with_search_tool(json!({ "type": "tool_search" })))
}

/// Returns the highest version of the tool that a `function_call` with this `namespace` and `name` refers to.
///
/// ```
/// # use toolkit_providers::openai::find;
/// /// Looks for notes.
/// #[toolkit::tool(namespace = "my.notes")]
/// fn search(text: String) -> String {
///     text
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// let catalog = toolkit::catalog![search]?;
/// let tool = find(&catalog, Some("my_notes"), "search").map(|tool| tool.id().to_string());
/// assert_eq!(tool.as_deref(), Some("my.notes:search"));
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn find<'c>(catalog: &'c Catalog, namespace: Option<&str>, name: &str) -> Option<&'c Tool> {
    let called = |tool: &&Tool| {
        let id = tool.id();
        id.namespace().map(wire).as_deref() == namespace && Naming::Name.wire_name(id) == name
    };
    // Responses repeats the name of a deferred function without a namespace as its namespace.
    let alone = |tool: &&Tool| {
        namespace == Some(name) && tool.id().namespace().is_none() && Naming::Name.wire_name(tool.id()) == name
    };
    catalog.latest().find(called).or_else(|| catalog.latest().find(alone))
}

/// Reads the `tools` of a request: functions of either API, and namespaces, which become the namespace of their tools.
/// A tool that cannot be read does not affect the others.
///
/// ```
/// # use serde_json::json;
/// # use toolkit_providers::openai::read_all;
/// let function = json!({ "type": "function", "name": "search", "parameters": { "type": "object" } });
/// let tools = json!([
///     { "type": "namespace", "name": "notes", "description": "Notes.", "tools": [function] },
///     { "type": "web_search" },
/// ]);
/// let read = read_all(&tools);
/// assert_eq!(read[0].as_ref().map(|tool| tool.id().to_string()), Ok("notes:search".to_owned()));
/// assert!(read[1].is_err());
/// ```
#[must_use]
pub fn read_all(tools: &Value) -> Vec<Result<Tool, ParseToolError>> {
    let Value::Array(tools) = tools else {
        return vec![Err(ParseToolError::Json("the tools of a request must be an array".to_owned()))];
    };
    let mut all = Vec::new();
    for tool in tools {
        match tool["type"].as_str() {
            Some("namespace") => all.extend(read_namespace(tool)),
            None | Some("function") => all.push(read(tool)),
            // An export adds it by itself.
            Some("tool_search") => {}
            Some(other) => {
                let is = format!("it has the type {}, but only functions can be read", quoted(other));
                all.push(Err(ParseToolError::Json(is)));
            }
        }
    }
    all
}

fn read_namespace(json: &Value) -> Vec<Result<Tool, ParseToolError>> {
    let invalid = |reason: String| vec![Err(ParseToolError::Json(reason))];
    let namespace = match json["name"].as_str().map(str::parse::<Namespace>) {
        Some(Ok(namespace)) => namespace,
        Some(Err(error)) => return invalid(error.to_string()),
        None => return invalid("a namespace has a `name`".to_owned()),
    };
    let Value::Array(tools) = &json["tools"] else {
        return invalid(format!("the namespace {} has no array of `tools`", quoted(&namespace)));
    };
    tools.iter().map(|tool| Ok(read(tool)?.in_namespace(namespace.clone()))).collect()
}

/// Returns the namespace with the characters that OpenAI allows in names.
fn wire(namespace: &str) -> String {
    namespace.replace('.', "_")
}

fn check_namespaces(catalog: &Catalog, diagnostics: &mut Vec<Diagnostic>) {
    let mut first: BTreeMap<String, &Tool> = BTreeMap::new();
    for tool in catalog.latest() {
        let Some(namespace) = tool.id().namespace() else { continue };
        let name = wire(namespace);
        match first.get(&name) {
            None => {
                if name.len() > MAX_LEN {
                    let message = format!(
                        "the namespace {} has more than the {MAX_LEN} characters that OpenAI takes",
                        quoted(namespace)
                    );
                    diagnostics.push(Diagnostic::new(DiagnosticKind::WireName, message, [tool]));
                }
                first.insert(name, tool);
            }
            Some(other) if other.id().namespace() == Some(namespace) => {}
            Some(other) => {
                let message = format!("two namespaces would both be called {}; rename one", quoted(&name));
                diagnostics.push(Diagnostic::new(DiagnosticKind::WireName, message, [*other, tool]));
            }
        }
    }
}

/// Returns the description of a namespace: a list of its tools.
fn description(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(MAX_NAMED).map(|name| format!("`{name}`")).collect();
    let shown = shown.join(", ");
    match names.len().saturating_sub(MAX_NAMED) {
        0 => format!("Has {shown}."),
        more => format!("Has {shown} and {more} more."),
    }
}
