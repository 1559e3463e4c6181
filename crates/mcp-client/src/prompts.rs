//! The prompts of a server, and completions of arguments.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolkit::backend::{BackendCall, BackendResponse, OfferedTools};
use toolkit::catalog::{Diagnostic, DiagnosticKind};
use toolkit::prompt::{Completion, CompletionReference, CompletionRequest, Prompt, PromptMessage};
use toolkit::tool::{META_KEY, Text};
use toolkit::{Context, ToolError};

use super::caller::FromCaller;
use super::connection::Connection;
use super::link::Link;
use super::list::{checked, complete as complete_form};
use super::outgoing::Request;
use super::peer::PeerAnswer;
use super::raw::Raw;
use super::remote::in_time;
use super::resources::{entries, failed, within_limit};

/// The maximum length of a completed value in bytes. Longer ones are left out.
const MAX_VALUE_BYTES: usize = 1_000;

/// Adds the prompts of a server to its tools. If they cannot be listed, that is a diagnostic.
pub(super) async fn add_to(link: &Link, offers: &mut OfferedTools) -> Result<(), ToolError> {
    let (remote, connection) = (&link.remote, link.connection().await?);
    if !connection.info.has("prompts") {
        return Ok(());
    }
    let listed: Vec<Value> = match entries(remote, &connection, "prompts/list", "prompts").await {
        Ok(listed) => listed,
        Err(error) => {
            let message = format!("the prompts of {remote} are left out: {}", error.message());
            offers.diagnostics.push(Diagnostic::new(DiagnosticKind::Malformed, message, []));
            return Ok(());
        }
    };
    let orders: Vec<(String, Vec<Text>)> = listed.iter().map(order).collect();
    let mut records: Vec<Value> = listed.into_iter().map(record).collect();
    offers.diagnostics.extend(records.iter_mut().filter_map(|record| complete_form(remote, record)));
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
    let arguments = prompt.shift_remove("arguments").unwrap_or_default();
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
        meta.shift_remove(META_KEY);
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
    let remote = &link.remote;
    let connection = link.connection_for_call().await?;
    let _permit = link.permit_in_time().await?;
    let mut request = Request::about("prompts/get", "name", call.tool().name());
    if let Value::Object(arguments) = call.arguments().to_value()? {
        request = request.with("arguments", &arguments);
    }
    let request = request.from(FromCaller::of(remote, call.context())?);
    let result = match in_time(remote, remote.limits.call, connection.ask(request)).await? {
        Ok(result) if result.is_object() => result,
        Ok(_) => return Err(remote.invalid_response("with an invalid result")),
        Err(failure) => return Err(failed(remote, &connection, failure).await),
    };
    if result.text_field("resultType").is_some_and(|kind| kind != "complete") {
        let message = "the prompt requires a client capability that this program does not support";
        return Err(ToolError::failed(message));
    }
    within_limit(remote, &result, "messages")?;
    let invalid = |error| remote.invalid_response("with invalid messages of a prompt").caused_by(error);
    let result: Map<String, Value> = result.parse().map_err(invalid)?;
    let messages = result.get("messages").cloned().unwrap_or_default();
    serde_json::from_value::<Vec<PromptMessage>>(messages).map_err(invalid)?;
    Ok(Value::Object(result).into())
}

/// Requests values for an argument. There are none if the server has not declared completions.
pub(super) async fn complete(
    link: &Link,
    request: &CompletionRequest,
    context: &Context,
) -> Result<Completion, ToolError> {
    let remote = &link.remote;
    let connection = link.connection_for_call().await?;
    if !connection.info.has("completions") {
        return Ok(Completion::default());
    }
    let _permit = link.permit_in_time().await?;
    let caller = FromCaller::of(remote, context)?;
    let completed = match in_time(remote, remote.limits.start, ask(&connection, request, caller)).await? {
        Ok(result) => result,
        Err(failure) => return Err(failed(remote, &connection, failure).await),
    };
    let completion = completed.field("completion").unwrap_or_else(|| Raw::from("null".to_owned()));
    let mut completion: Completion =
        completion.parse().map_err(|error| remote.invalid_response("with an invalid completion").caused_by(error))?;
    completion.values.retain(|value| value.len() <= MAX_VALUE_BYTES && !value.contains(char::is_control));
    completion.has_more |= completion.values.len() > Completion::MAX_VALUES;
    completion.values.truncate(Completion::MAX_VALUES);
    Ok(completion)
}

async fn ask(connection: &Arc<Connection>, request: &CompletionRequest, caller: FromCaller) -> PeerAnswer {
    let reference = match &request.reference {
        CompletionReference::Prompt(name) => json!({ "type": "ref/prompt", "name": name }),
        CompletionReference::ResourceTemplate(uri) => json!({ "type": "ref/resource", "uri": uri }),
        _ => return Ok(Raw::from(json!({ "completion": { "values": [] } }).to_string())),
    };
    let argument = json!({ "name": request.argument, "value": request.value });
    let request_of = Request::new("completion/complete").with("ref", &reference).with("argument", &argument);
    let context = json!({ "arguments": request.arguments });
    let request = if request.arguments.is_empty() { request_of } else { request_of.with("context", &context) };
    connection.ask(request.from(caller)).await
}
