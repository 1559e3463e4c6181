//! The prompts of a server, and completions of arguments.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{ClientRequest, CustomRequest, GetPromptRequest, GetPromptRequestParams, ListPromptsRequest};
use serde_json::{Map, Value, json};
use toolkit::backend::{BackendCall, BackendResponse, OfferedTools};
use toolkit::catalog::{Diagnostic, DiagnosticKind};
use toolkit::prompt::{Completion, CompletionReference, CompletionRequest, Prompt, PromptMessage};
use toolkit::tool::{META_KEY, Text};
use toolkit::{Context, ToolError};

use super::caller::FromCaller;
use super::connection::Connection;
use super::link::Link;
use super::list::{checked, in_time};
use super::resources::{failed, pages, within_limit};

/// The maximum length of a completed value in bytes. Longer ones are left out.
const MAX_VALUE_BYTES: usize = 1_000;

/// Adds the prompts of a server to its tools. If they cannot be listed, that is a diagnostic.
pub(super) async fn add_to(link: &Link, offers: &mut OfferedTools) -> Result<(), ToolError> {
    let (remote, connection) = (link.remote(), link.connection().await?);
    if !connection.has_prompts() {
        return Ok(());
    }
    let request = |params| ClientRequest::ListPromptsRequest(ListPromptsRequest { params, ..Default::default() });
    let listed: Vec<Value> = match pages(remote, &connection, "prompts", request).await {
        Ok(listed) => listed,
        Err(error) => {
            let message = format!("the prompts of {remote} are left out: {}", error.message());
            offers.diagnostics.push(Diagnostic::new(DiagnosticKind::Malformed, message, []));
            return Ok(());
        }
    };
    let orders: Vec<(String, Vec<Text>)> = listed.iter().map(order).collect();
    let records = listed.into_iter().map(record).collect();
    let OfferedTools { tools, diagnostics, .. } = checked(remote, records)?;
    offers.diagnostics.extend(diagnostics);
    offers.prompts.extend(tools.into_iter().map(|(tool, target)| {
        let order = orders.iter().find(|(name, _)| name == tool.name()).map(|(_, order)| order.clone());
        (Prompt::new(tool, order.unwrap_or_default()), target)
    }));
    Ok(())
}

/// Returns the name of a prompt, and those of its arguments.
fn order(prompt: &Value) -> (String, Vec<Text>) {
    let name = |entry: &Value| entry.get("name").and_then(Value::as_str).map(str::to_owned);
    let arguments = prompt.get("arguments").and_then(Value::as_array).into_iter().flatten();
    (name(prompt).unwrap_or_default(), arguments.filter_map(name).map(Cow::Owned).collect())
}

/// Returns the record of a prompt in the form of a tool, so that it is checked like one. The arguments are texts.
fn record(prompt: Value) -> Value {
    let Value::Object(mut prompt) = prompt else { return prompt };
    let arguments = prompt.remove("arguments").unwrap_or_default();
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for argument in arguments.as_array().into_iter().flatten() {
        let Some(name) = argument.get("name").and_then(Value::as_str) else { continue };
        let mut property = json!({ "type": "string" });
        for key in ["title", "description"] {
            if let Some(text) = argument.get(key).filter(|text| text.is_string()) {
                property[key] = text.clone();
            }
        }
        properties.insert(name.to_owned(), property);
        if argument.get("required").and_then(Value::as_bool) == Some(true) {
            required.push(name.to_owned());
        }
    }
    if let Some(meta) = prompt.get_mut("_meta").and_then(Value::as_object_mut) {
        meta.remove(META_KEY);
    }
    prompt.retain(|key, _| !["inputSchema", "outputSchema", "annotations", "execution"].contains(&key.as_str()));
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    prompt.insert("inputSchema".to_owned(), schema);
    // A prompt only creates messages, and passes a filter of read-only tools.
    prompt.insert("annotations".to_owned(), json!({ "readOnlyHint": true }));
    Value::Object(prompt)
}

/// Requests the messages of a prompt by its name on the server.
pub(super) async fn run(link: &Link, call: BackendCall<'_>) -> Result<BackendResponse, ToolError> {
    let remote = link.remote();
    let connection = link.connection_for_call().await?;
    let _permit = link.permit_in_time().await?;
    let mut params = GetPromptRequestParams::new(call.tool().name());
    if let Value::Object(arguments) = call.arguments().to_value()? {
        params = params.with_arguments(arguments);
    }
    let request = ClientRequest::GetPromptRequest(GetPromptRequest::new(params));
    let caller = FromCaller::of(remote, call.context())?;
    let result = match in_time(remote, remote.limits.call, connection.ask(request, caller, None)).await? {
        Ok(Value::Object(result)) => result,
        Ok(_) => return Err(remote.invalid_response("with an invalid result")),
        Err(error) => return Err(failed(remote, &connection, error).await),
    };
    if result.get("resultType").is_some_and(|kind| kind != "complete") {
        let message = "the prompt requires a client capability that this program does not support";
        return Err(ToolError::failed(message));
    }
    within_limit(remote, &result, "messages")?;
    let messages = result.get("messages").cloned().unwrap_or_default();
    serde_json::from_value::<Vec<PromptMessage>>(messages)
        .map_err(|error| remote.invalid_response("with invalid messages of a prompt").caused_by(error))?;
    Ok(Value::Object(result).into())
}

/// Requests values for an argument. There are none if the server has not declared completions.
pub(super) async fn complete(
    link: &Link,
    request: &CompletionRequest,
    context: &Context,
) -> Result<Completion, ToolError> {
    let remote = link.remote();
    let connection = link.connection_for_call().await?;
    if !connection.has_completions() {
        return Ok(Completion::default());
    }
    let _permit = link.permit_in_time().await?;
    let caller = FromCaller::of(remote, context)?;
    let mut completed = match in_time(remote, remote.limits.start, ask(&connection, request, caller)).await? {
        Ok(result) => result,
        Err(error) => return Err(failed(remote, &connection, error).await),
    };
    let completion = completed.get_mut("completion").map(Value::take).unwrap_or_default();
    let mut completion: Completion = serde_json::from_value(completion)
        .map_err(|error| remote.invalid_response("with an invalid completion").caused_by(error))?;
    completion.values.retain(|value| value.len() <= MAX_VALUE_BYTES && !value.contains(char::is_control));
    completion.has_more |= completion.values.len() > Completion::MAX_VALUES;
    completion.values.truncate(Completion::MAX_VALUES);
    Ok(completion)
}

async fn ask(
    connection: &Arc<Connection>,
    request: &CompletionRequest,
    caller: FromCaller,
) -> Result<Value, rmcp::service::ServiceError> {
    let reference = match &request.reference {
        CompletionReference::Prompt(name) => json!({ "type": "ref/prompt", "name": name }),
        CompletionReference::ResourceTemplate(uri) => json!({ "type": "ref/resource", "uri": uri }),
        _ => return Ok(json!({ "completion": { "values": [] } })),
    };
    let argument = json!({ "name": request.argument, "value": request.value });
    let mut params = json!({ "ref": reference, "argument": argument });
    if !request.arguments.is_empty() {
        params["context"] = json!({ "arguments": request.arguments });
    }
    let request = CustomRequest::new("completion/complete", Some(params));
    connection.ask(ClientRequest::CustomRequest(request), caller, None).await
}
