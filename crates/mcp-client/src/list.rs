//! Listing the tools of a server.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use toolkit::backend::OfferedTools;
use toolkit::call::ErrorKind;
use toolkit::catalog::{Diagnostic, DiagnosticKind};
use toolkit::manifest::Listing;
use toolkit::schema::{Schema, root};
use toolkit::tool::{META_KEY, Namespace, ToolBackend};
use toolkit::{Manifest, Tool, ToolError};
use toolkit_backends::bound_mcp_json;
use toolkit_contract::lint::{Level, LintDiagnostic, lint};
use toolkit_mcp::ParamHeader;

use super::connection::Connection;
use super::link::Link;
use super::pages::{Listed, PagedList, UNREADABLE, pages};
use super::remote::{OutputCheck, Remote, in_time};
use super::tool_form;
use super::tool_names::{NAME_KEY, valid_names};

/// Lists the tools of a server, with their names on the server, in the namespace of the server.
pub(super) async fn offers(link: &Link) -> Result<OfferedTools, ToolError> {
    let remote = &link.remote;
    let connection = link.connection().await?;
    let Listed { entries: mut listed, cache } = tools(remote, &connection).await?;
    let dropped: Vec<Diagnostic> = listed.iter_mut().filter_map(|tool| complete(remote, tool)).collect();
    let applied = remote.choices.tools.apply(&mut listed);
    let unmatched = |rule: String| {
        Diagnostic::new(DiagnosticKind::Unexpected, format!("{remote} has no tool for the rule {rule}"), [])
    };
    let mut diagnostics: Vec<Diagnostic> = applied.unmatched.into_iter().map(unmatched).chain(dropped).collect();
    valid_names(&mut listed, &remote.name);
    let mut outputs = HashMap::new();
    listed.retain_mut(|tool| {
        name_as_listed(tool);
        if remote.choices.output != OutputCheck::Strict
            && let Some((name, schema)) = without_output(tool)
        {
            outputs.insert(name, schema);
        }
        if connection.info.has_tasks_extension() {
            offer_tasks(tool);
        }
        let lacks_tasks = lacks_tasks(tool, connection.has_tasks());
        if lacks_tasks {
            let name = tool["name"].as_str().unwrap_or_default();
            diagnostics.push(left_out(remote, DiagnosticKind::MissingFeature, name, LACKS_TASKS, None));
        }
        !lacks_tasks
    });
    *link.outputs.lock() = outputs;
    let mut offers = checked(remote, listed)?.with_diagnostics(diagnostics);
    (offers.list_ttl, offers.is_private) = (cache.ttl, cache.is_private);
    let hints = offers
        .tools
        .iter()
        .filter_map(|(tool, _)| Some((tool.id().clone(), applied.hints.get(&*name_on_server(tool))?.clone())));
    offers.hints = hints.collect();
    offers.instructions = remote.choices.passes_instructions.then(|| connection.info.instructions.clone()).flatten();
    if let Some(text) = &offers.instructions
        && let Ok(tool) = Tool::builder("instructions").description(text.clone()).build()
        && let Some(wrong) = deceptive_texts(&tool).first()
    {
        let message = format!("the instructions of {remote} are left out: {}", wrong.message());
        offers.diagnostics.push(Diagnostic::new(DiagnosticKind::Deceptive, message, []));
        offers.instructions = None;
    }
    Ok(offers)
}

/// Returns the tools in a list in the form of MCP that can be called, with their texts cut, in the namespace of the server,
/// and the diagnostics of the others. Schemas that cannot be compiled here are those of the server, which checks them.
pub(super) fn checked(remote: &Remote, mut listed: Vec<Value>) -> Result<OfferedTools, ToolError> {
    let namespace = Namespace::new(remote.name.to_string()).map_err(|error| {
        ToolError::new(
            ErrorKind::Internal,
            format!("the name of {remote} cannot be the namespace of its tools: {error}"),
        )
    })?;
    let target = ToolBackend::mcp(&*remote.name).map_err(ToolError::internal)?;
    let (mut tools, mut diagnostics) = (Vec::new(), Vec::new());
    listed.retain_mut(|tool| {
        let why = match tool.get(UNREADABLE) {
            Some(reason) => Some((DiagnosticKind::Malformed, reason.as_str().unwrap_or_default().to_owned())),
            None => bound_mcp_json(tool).err().map(|why| (DiagnosticKind::TooLong, why)),
        };
        if let Some((kind, why)) = &why {
            diagnostics.push(left_out(remote, *kind, tool["name"].as_str().unwrap_or_default(), why, None));
        } else if let Some(input) = tool.get_mut("inputSchema")
            && remote.choices.has_plain_input
        {
            root::list(input);
        }
        why.is_none()
    });
    let manifest = Manifest::from_mcp_json(Value::Array(listed))
        .map_err(|error| remote.invalid_response("with a list of tools that cannot be read").caused_by(error))?;
    for listing in manifest.in_namespace(&namespace).listings() {
        let deceptive_texts = listing.tool().map(deceptive_texts).unwrap_or_default();
        let is_left_to_server =
            |kind: DiagnosticKind| matches!(kind, DiagnosticKind::InvalidSchema | DiagnosticKind::InvalidExample);
        let wrong = listing.diagnostics().iter().filter(|diagnostic| !is_left_to_server(diagnostic.kind()));
        let wrong: Vec<&Diagnostic> = wrong.chain(&deceptive_texts).collect();
        match listing.tool() {
            Some(tool) if wrong.is_empty() => tools.push((tool.clone(), target.clone())),
            _ => diagnostics.extend(describe(remote, listing, &wrong)),
        }
    }
    Ok(OfferedTools::new(tools).with_diagnostics(diagnostics))
}

/// Completes the form of a tool, and returns a diagnostic of the fields that were dropped.
pub(super) fn complete(remote: &Remote, tool: &mut Value) -> Option<Diagnostic> {
    let dropped = tool_form::complete(tool);
    let reasons = first_reasons(dropped.iter().map(String::as_str));
    let name = shown(tool["name"].as_str().unwrap_or_default());
    let message = format!("{remote} lists `{name}` with invalid fields, which are dropped: {reasons}");
    (!dropped.is_empty()).then(|| Diagnostic::new(DiagnosticKind::Malformed, message, []))
}

/// Returns the name that a tool has on its server.
pub(super) fn name_on_server(tool: &Tool) -> Cow<'_, str> {
    let renamed = tool.meta().and_then(|meta| Some(meta.get(NAME_KEY)?.as_str()?.to_owned()));
    renamed.map_or_else(|| tool.name().into(), Cow::Owned)
}

/// Removes the output schema of a tool, and returns it with the name of the tool on the server.
fn without_output(tool: &mut Value) -> Option<(String, Schema)> {
    let schema = Schema::from_value(tool.as_object_mut()?.shift_remove("outputSchema")?).ok()?;
    let name = tool.pointer("/_meta").and_then(|meta| meta.get(NAME_KEY)).unwrap_or(&tool["name"]);
    Some((name.as_str()?.to_owned(), schema))
}

/// Returns the lint errors of a tool, such as invisible text or instructions to the model.
fn deceptive_texts(tool: &Tool) -> Vec<Diagnostic> {
    let lints = lint([tool], &[]).into_iter().filter(|lint| lint.level == Level::Error);
    let diagnostic = |lint: LintDiagnostic| {
        Diagnostic::new(DiagnosticKind::Deceptive, format!("{} {}", lint.location, lint.message), [tool])
    };
    lints.map(diagnostic).collect()
}

/// Checks that the server answers.
pub(super) async fn probe(link: &Link) -> Result<(), ToolError> {
    let connection = link.connection().await?;
    let remote = &link.remote;
    match in_time(remote, remote.limits.start, connection.ask(connection.harmless_request())).await? {
        Ok(_) => Ok(()),
        Err(failure) => Err(remote.failed(&connection, failure).await),
    }
}

/// Lists the tools, to learn which arguments to repeat in headers.
pub(super) async fn refresh(remote: &Remote, connection: &Arc<Connection>) -> Result<(), ToolError> {
    tools(remote, connection).await.map(|_| ())
}

/// Lists the tools of all pages.
async fn tools(remote: &Remote, connection: &Arc<Connection>) -> Result<Listed, ToolError> {
    let mut listed =
        pages(remote, connection, &PagedList { method: "tools/list", field: "tools", ..PagedList::of(remote) }).await?;
    let mut repeated = HashMap::new();
    if connection.has_param_headers() {
        // Clients must not use a tool whose headers are not valid.
        listed.entries.retain(|tool| match ParamHeader::collect_from(&tool["inputSchema"]) {
            Ok(headers) => {
                if let (false, Some(name)) = (headers.is_empty(), tool["name"].as_str()) {
                    repeated.insert(name.to_owned(), headers);
                }
                true
            }
            Err(reason) => {
                tracing::warn!(server = &*remote.name, tool = %tool["name"], "a tool is left out: {reason}");
                false
            }
        });
    }
    *connection.param_headers.lock() = repeated;
    Ok(listed)
}

/// Removes the id and namespace from the metadata of a tool, since tools are called by their listed names. In the
/// namespace of the server, `files:read` and `mail:read` would collide.
fn name_as_listed(tool: &mut Value) {
    let record = tool.get_mut("_meta").and_then(|meta| meta.get_mut(META_KEY)).and_then(Value::as_object_mut);
    if let Some(record) = record {
        record.shift_remove("id");
        record.shift_remove("namespace");
    }
}

/// Changes `execution.taskSupport` into the support that the tool has for the clients of this program. They may call it
/// with or without a task, since this client waits for the end of a task. Returns true if the tool requires tasks and
/// the server has none.
fn lacks_tasks(tool: &mut Value, has_tasks: bool) -> bool {
    let Some(execution) = tool.get_mut("execution").and_then(Value::as_object_mut) else {
        return false;
    };
    match execution.get("taskSupport").and_then(Value::as_str) {
        Some("required") if !has_tasks => return true,
        Some("required" | "optional") if has_tasks => {
            execution.insert("taskSupport".to_owned(), "optional".into());
        }
        Some("forbidden") => {}
        _ => {
            execution.shift_remove("taskSupport");
        }
    }
    if execution.is_empty()
        && let Some(tool) = tool.as_object_mut()
    {
        tool.shift_remove("execution");
    }
    false
}

/// Marks a tool of a server of revision 2026-07-28 as one whose calls may become tasks. There, the server decides, and the
/// tool has no such field.
fn offer_tasks(tool: &mut Value) {
    if let Some(tool) = tool.as_object_mut()
        && let Value::Object(execution) = tool.entry("execution").or_insert_with(|| json!({}))
    {
        execution.entry("taskSupport").or_insert_with(|| "optional".into());
    }
}

const LACKS_TASKS: &str =
    "it can only be called as a task (`execution.taskSupport` is `required`), and the server has not declared tasks";

/// The number of reasons in the diagnostic of a tool.
const MAX_REASONS: usize = 5;

/// Returns one diagnostic for a tool, with the first of its reasons, so that the diagnostics count tools.
fn describe(remote: &Remote, listing: &Listing, wrong: &[&Diagnostic]) -> Option<Diagnostic> {
    let reasons = first_reasons(wrong.iter().map(|diagnostic| diagnostic.message()));
    let (kind, name) = (wrong.first()?.kind(), listing.name().unwrap_or_default());
    Some(left_out(remote, kind, name, &reasons, listing.tool()))
}

fn first_reasons<'r>(reasons: impl ExactSizeIterator<Item = &'r str>) -> String {
    let more = (reasons.len() > MAX_REASONS).then_some("and more");
    reasons.take(MAX_REASONS).chain(more).collect::<Vec<_>>().join("; ")
}

fn left_out(remote: &Remote, kind: DiagnosticKind, name: &str, why: &str, tool: Option<&Tool>) -> Diagnostic {
    Diagnostic::new(kind, format!("{remote} lists `{}`, which is left out: {why}", shown(name)), tool)
}

/// Shortens and escapes a name for a message.
fn shown(name: &str) -> String {
    name.chars().take(128).collect::<String>().escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_listed_with_the_tasks_that_its_server_can_run() {
        let without = || json!({ "name": "a" });
        let with = |execution: Value| json!({ "name": "a", "execution": execution });
        let support = |support: &str| with(json!({ "taskSupport": support }));
        for (tool, has_tasks, is_left_out, expected) in [
            (without(), true, false, without()),
            (support("required"), false, true, support("required")),
            (support("required"), true, false, support("optional")),
            (support("optional"), true, false, support("optional")),
            (support("optional"), false, false, without()),
            (support("forbidden"), true, false, support("forbidden")),
            (support("forbidden"), false, false, support("forbidden")),
            (support("whenever"), true, false, without()),
            (with(json!({})), true, false, without()),
            (with(json!({ "taskSupport": "optional", "x": 1 })), false, false, with(json!({ "x": 1 }))),
            (with(json!({ "taskSupport": 1, "x": 1 })), true, false, with(json!({ "x": 1 }))),
            (with(json!("always")), true, false, with(json!("always"))),
        ] {
            let mut listed = tool.clone();
            assert_eq!(lacks_tasks(&mut listed, has_tasks), is_left_out, "{tool} {has_tasks}");
            assert_eq!(listed, expected, "{tool} {has_tasks}");
        }
        for (tool, expected) in [
            (without(), support("optional")),
            (with(json!({})), support("optional")),
            (support("forbidden"), support("forbidden")),
            (with(json!(1)), with(json!(1))),
        ] {
            let mut offered = tool.clone();
            offer_tasks(&mut offered);
            assert_eq!(offered, expected, "{tool}");
        }
    }

    #[test]
    fn the_record_of_a_tool_does_not_choose_its_name() {
        let mut tool =
            json!({ "name": "a", "_meta": { META_KEY: { "id": "x:y", "namespace": "x", "tags": ["z"] }, "k": 1 } });
        name_as_listed(&mut tool);
        assert_eq!(tool, json!({ "name": "a", "_meta": { META_KEY: { "tags": ["z"] }, "k": 1 } }));
        for other in [json!({ "name": "a" }), json!({ "name": "a", "_meta": 1 })] {
            let mut same = other.clone();
            name_as_listed(&mut same);
            assert_eq!(same, other);
        }
    }

    #[test]
    fn an_output_schema_is_taken_from_a_tool_with_the_name_that_the_server_knows() {
        let schema = json!({ "type": "integer" });
        for (meta, name) in [(json!({}), "a"), (json!({ NAME_KEY: "A!" }), "A!")] {
            let mut tool = json!({ "name": "a", "outputSchema": schema, "_meta": meta });
            let (found, output) = without_output(&mut tool).expect("it has one");
            assert_eq!((found.as_str(), output.as_value()), (name, &schema));
            assert!(tool.get("outputSchema").is_none() && without_output(&mut tool).is_none());
        }
    }

    #[test]
    fn the_first_reasons_and_the_start_of_a_name_are_shown() {
        let reasons = |n: usize| first_reasons(["a", "b", "c", "d", "e", "f", "g"][..n].iter().copied());
        assert_eq!([reasons(0), reasons(2), reasons(5)], ["", "a; b", "a; b; c; d; e"]);
        assert_eq!([reasons(6), reasons(7)], ["a; b; c; d; e; and more"; 2]);
        assert_eq!(shown(&"é".repeat(129)), "é".repeat(128));
        assert_eq!(shown("a\n\u{1b}"), "a\\n\\u{1b}");
    }
}
