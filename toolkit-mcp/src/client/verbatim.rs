//! Lossless transfer of results through types that do not have all of their fields.

use std::collections::HashSet;

use rmcp::model::{ClientRequest, ServerResult, Tool};
use serde_json::{Value, json};

/// The key of the complete result in the `_meta` of the result that `rmcp` parses.
const KEY: &str = "rs.toolkit/verbatim";

/// The key of the capability `tasks.requests.tools.call` of revision 2025-11-25 among the experimental ones, since
/// `rmcp` does not have it.
pub(super) const TASKS: &str = "rs.toolkit/tasks";

/// The fields of results with resources.
const RESOURCES: [&str; 3] = ["resources", "resourceTemplates", "contents"];

/// Returns true for a request whose result is passed on unchanged.
pub(super) fn is_verbatim(request: &ClientRequest) -> bool {
    matches!(
        request,
        ClientRequest::ListToolsRequest(_)
            | ClientRequest::CallToolRequest(_)
            | ClientRequest::ListResourcesRequest(_)
            | ClientRequest::ListResourceTemplatesRequest(_)
            | ClientRequest::ReadResourceRequest(_)
            // Calls as tasks, and requests about tasks.
            | ClientRequest::CustomRequest(_)
    )
}

/// Wraps the result of a tool in a small one that `rmcp` accepts, with the complete result in `_meta`. Copies the
/// capability to run calls as tasks in the result of `initialize`.
///
/// A tool that `rmcp` cannot parse must not invalidate the list, so it is only in the complete result.
pub(super) fn wrapped(mut message: Value) -> Value {
    let Some(result) = message.get_mut("result") else {
        return message;
    };
    let mut slim = match &*result {
        Value::Object(fields) if fields.get("tools").is_some_and(Value::is_array) => {
            let tools = fields["tools"].as_array().into_iter().flatten();
            let known: Vec<&Value> = tools.filter(|tool| is_known(tool)).collect();
            json!({ "tools": known })
        }
        Value::Object(fields)
            if ["content", "structuredContent", "isError"].iter().any(|key| fields.contains_key(*key)) =>
        {
            json!({ "content": [] })
        }
        Value::Object(fields) if fields.contains_key("protocolVersion") => {
            copy_tasks(result);
            return message;
        }
        // A task, or the state of one.
        Value::Object(fields) if fields.contains_key("taskId") || fields.contains_key("task") => {
            *result = json!({ "content": [], "_meta": { KEY: result.take() } });
            return message;
        }
        Value::Object(fields) => match RESOURCES.into_iter().find(|field| fields.contains_key(*field)) {
            Some(field) => json!({ field: [] }),
            None => return message,
        },
        _ => return message,
    };
    if let Some(kind) = result.get("resultType") {
        slim["resultType"] = kind.clone();
    }
    slim["_meta"] = json!({ KEY: result.take() });
    *result = slim;
    message
}

fn copy_tasks(result: &mut Value) {
    if result.pointer("/capabilities/tasks/requests/tools/call").is_some_and(Value::is_object)
        && let Some(Value::Object(capabilities)) = result.get_mut("capabilities")
        && let Value::Object(experimental) = capabilities.entry("experimental").or_insert_with(|| json!({}))
    {
        experimental.insert(TASKS.to_owned(), json!({}));
    }
}

/// Returns the complete result of a wrapped one, or any other result as JSON.
pub(super) fn whole(result: ServerResult) -> serde_json::Result<Value> {
    match result {
        ServerResult::ListToolsResult(mut list) => {
            let whole = list.meta.as_mut().and_then(|meta| meta.0.remove(KEY));
            match whole {
                Some(whole) => {
                    let accepted = list.tools.iter().map(|tool| &*tool.name).collect();
                    Ok(without_refused(whole, &accepted))
                }
                None => serde_json::to_value(list),
            }
        }
        ServerResult::CallToolResult(mut answer) => match answer.meta.as_mut().and_then(|meta| meta.0.remove(KEY)) {
            Some(whole) => Ok(whole),
            None => serde_json::to_value(answer),
        },
        ServerResult::ListResourcesResult(mut list) => {
            let whole = list.meta.as_mut().and_then(|meta| meta.0.remove(KEY));
            whole.map_or_else(|| serde_json::to_value(list), Ok)
        }
        ServerResult::ListResourceTemplatesResult(mut list) => {
            let whole = list.meta.as_mut().and_then(|meta| meta.0.remove(KEY));
            whole.map_or_else(|| serde_json::to_value(list), Ok)
        }
        ServerResult::ReadResourceResult(mut read) => {
            let whole = read.meta.as_mut().and_then(|meta| meta.0.remove(KEY));
            whole.map_or_else(|| serde_json::to_value(read), Ok)
        }
        ServerResult::CustomResult(mut custom) => match custom.0.pointer_mut("/_meta").and_then(Value::as_object_mut) {
            Some(meta) => Ok(meta.remove(KEY).unwrap_or(custom.0)),
            None => Ok(custom.0),
        },
        known => serde_json::to_value(known),
    }
}

/// Removes the tools that `rmcp` has parsed and rejected for an invalid `x-mcp-header`.
fn without_refused(mut list: Value, accepted: &HashSet<&str>) -> Value {
    if let Some(Value::Array(tools)) = list.get_mut("tools") {
        tools.retain(|tool| accepted.contains(tool["name"].as_str().unwrap_or_default()) || !is_known(tool));
    }
    list
}

fn is_known(tool: &Value) -> bool {
    serde_json::from_value::<Tool>(tool.clone()).is_ok()
}
