//! The methods `prompts/…` and `completion/complete`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolkit::call::ErrorKind;
use toolkit::mcp::Revision;
use toolkit::prompt::{Completion, CompletionReference, CompletionRequest, Prompt};
use toolkit::{Arguments, Context, Tool, ToolError};
use toolkit_mcp::{Code, RpcError, json_bytes};

use super::proxy_uri::{backend_name, decode};
use super::request::Request;
use super::served::{self, ServedTools};
use super::state::ServerState;

/// Writes a page of `prompts/list`, sorted by name.
pub(super) fn list(shared: &ServerState, params: Option<&RawValue>, revision: Revision) -> Result<Vec<u8>, RpcError> {
    let served = shared.served();
    let after = served::cursor_text(params)?;
    let (entries, next) = served.prompts.page(after.as_deref(), shared.page_size.max(1));
    let next = next.map(|name| data_encoding::BASE64URL_NOPAD.encode(name.as_bytes()));
    Ok(served::write("prompts", &entries, next.as_deref(), revision, shared.list_cache()))
}

/// A request for the messages of a prompt, or for values of an argument.
#[derive(Clone)]
pub(super) struct PromptRequest {
    served: Arc<ServedTools>,
    action: Action,
}

#[derive(Clone)]
enum Action {
    Get { prompt: Prompt, arguments: Map<String, Value> },
    Complete { prompt: Option<Prompt>, request: CompletionRequest },
}

impl PromptRequest {
    /// Reads the parameters of `prompts/get`.
    pub(super) fn get(shared: &ServerState, params: Option<&RawValue>) -> Result<Self, RpcError> {
        #[derive(Deserialize)]
        struct PromptParams {
            name: String,
            arguments: Option<Map<String, Value>>,
        }
        let invalid = || {
            let message = "`params` must be an object with the `name` of a prompt, and `arguments` an object of texts";
            RpcError::new(Code::InvalidParams, message)
        };
        let params: PromptParams = serde_json::from_str(params.ok_or_else(invalid)?.get()).map_err(|_| invalid())?;
        let served = shared.served();
        let prompt = find(&served, &params.name)?;
        Ok(Self { served, action: Action::Get { prompt, arguments: params.arguments.unwrap_or_default() } })
    }

    /// Reads the parameters of `completion/complete`.
    pub(super) fn complete(shared: &ServerState, params: Option<&RawValue>) -> Result<Self, RpcError> {
        #[derive(Deserialize)]
        struct CompleteParams {
            #[serde(rename = "ref")]
            reference: ReferenceParams,
            argument: Argument,
            #[serde(default)]
            context: Others,
        }
        #[derive(Deserialize)]
        #[serde(tag = "type")]
        enum ReferenceParams {
            #[serde(rename = "ref/prompt")]
            Prompt { name: String },
            #[serde(rename = "ref/resource")]
            Resource { uri: String },
        }
        #[derive(Deserialize)]
        struct Argument {
            name: String,
            value: String,
        }
        #[derive(Default, Deserialize)]
        struct Others {
            #[serde(default)]
            arguments: BTreeMap<String, String>,
        }
        let invalid = || {
            let message = "`params` must be an object with `ref`, which is a `ref/prompt` with a `name` or a \
                           `ref/resource` with a `uri`, and an `argument` with `name` and `value`";
            RpcError::new(Code::InvalidParams, message)
        };
        let params: CompleteParams = serde_json::from_str(params.ok_or_else(invalid)?.get()).map_err(|_| invalid())?;
        let served = shared.served();
        let (prompt, reference) = match params.reference {
            ReferenceParams::Prompt { name } => {
                let prompt = find(&served, &name)?;
                let id = prompt.id().to_string();
                (Some(prompt), CompletionReference::Prompt(id))
            }
            ReferenceParams::Resource { uri } => (None, CompletionReference::ResourceTemplate(uri)),
        };
        let mut request = CompletionRequest::new(reference, params.argument.name, params.argument.value);
        request.arguments = params.context.arguments;
        Ok(Self { served, action: Action::Complete { prompt, request } })
    }

    /// Returns the record of the prompt, whose requirements are those of the request.
    pub(super) fn tool(&self) -> Option<&Tool> {
        match &self.action {
            Action::Get { prompt, .. } => Some(prompt.tool()),
            Action::Complete { prompt, .. } => prompt.as_ref().map(Prompt::tool),
        }
    }

    /// Returns the name of the prompt whose messages are requested.
    pub(super) fn name(&self) -> Option<&str> {
        match &self.action {
            Action::Get { prompt, .. } => Some(prompt.tool().name()),
            Action::Complete { .. } => None,
        }
    }

    pub(super) fn is_completion(&self) -> bool {
        matches!(self.action, Action::Complete { .. })
    }

    /// Runs the prompt or the completion, and writes the result.
    pub(super) async fn run(
        self,
        shared: &ServerState,
        context: &Context,
        revision: Revision,
    ) -> Result<Vec<u8>, ToolError> {
        let name = self.tool().map_or_else(|| "completion/".to_owned(), |prompt| format!("prompts/{}", prompt.id()));
        let permit = shared.calls.acquire(name, Request::share_of(context)).await;
        let _permit = permit.map_err(|error| ToolError::new(ErrorKind::Overloaded, error.to_string()))?;
        let Self { served, action } = self;
        let result = match action {
            Action::Get { prompt, arguments } => get(shared, &served, context, &prompt, arguments).await?,
            Action::Complete { prompt: Some(_), request } => {
                completed(&served.dispatcher.complete(context, &request).await?)
            }
            Action::Complete { prompt: None, request } => {
                completed(&complete_template(shared, context, &request).await?)
            }
        };
        if result.len() > shared.max_result_bytes {
            let (n_bytes, max) = (result.len(), shared.max_result_bytes);
            let message =
                format!("the messages have {n_bytes} bytes as JSON, more than the limit of {max} (`max_result_bytes`)");
            return Err(ToolError::new(ErrorKind::ResultTooLarge, message));
        }
        Ok(match revision {
            Revision::V2025_11_25 => result,
            _ => [&result[..result.len() - 1], br#","resultType":"complete"}"#].concat(),
        })
    }
}

fn find(served: &ServedTools, name: &str) -> Result<Prompt, RpcError> {
    served.prompts.get(name).cloned().ok_or_else(|| match served.prompts.shared_name(name) {
        Some(message) => RpcError::new(Code::InvalidParams, message),
        None => unknown(name),
    })
}

/// Returns the error for a prompt that the server does not have for this caller.
pub(super) fn unknown(name: &str) -> RpcError {
    let shown: String = name.chars().take(120).collect();
    RpcError::new(Code::InvalidParams, format!("no prompt is named `{}`", shown.escape_debug()))
}

/// Returns the messages of a prompt. Those of a backend link to the resources that the proxy serves.
async fn get(
    shared: &ServerState,
    served: &ServedTools,
    context: &Context,
    prompt: &Prompt,
    arguments: Map<String, Value>,
) -> Result<Vec<u8>, ToolError> {
    let result = served.dispatcher.run_prompt(context, prompt, Arguments::from(Value::Object(arguments))).await?;
    if prompt.tool().location().is_some() {
        return Ok(result.into_json());
    }
    let (backend, result) = (result.backend(), result.value());
    let Value::Object(mut result) = result else {
        return Err(ToolError::internal("the result of a prompt is not an object"));
    };
    if let (Some(proxied), Some(name)) = (shared.proxied(), backend_name(&backend)) {
        let origin = proxied.origin(name);
        for message in result.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten() {
            message.get_mut("content").into_iter().for_each(|content| origin.encode_content(content));
        }
    }
    // These are about the response of the backend.
    result.shift_remove("resultType");
    let meta = result.shift_remove("_meta");
    let fields = json_bytes(&result);
    match meta {
        Some(Value::Object(mut meta)) => {
            meta.shift_remove("io.modelcontextprotocol/serverInfo");
            // In front, where the response joins it with its own.
            Ok([br#"{"_meta":"#, &*json_bytes(&meta), b",", &fields[1..]].concat())
        }
        _ => Ok(fields),
    }
}

/// Returns values for an argument of a resource template, which only the backends of a proxy know.
async fn complete_template(
    shared: &ServerState,
    context: &Context,
    request: &CompletionRequest,
) -> Result<Completion, ToolError> {
    let CompletionReference::ResourceTemplate(uri) = &request.reference else { return Ok(Completion::default()) };
    let Some((backend, own)) = decode(uri) else { return Ok(Completion::default()) };
    let tools = shared.tools_of(backend).unwrap_or_default();
    match shared.proxied().filter(|_| shared.filter().admits_resources_of(backend, tools.iter())) {
        Some(proxied) => {
            let request = request.with_reference(CompletionReference::ResourceTemplate(own));
            proxied.complete(backend, &request, context).await
        }
        None => Ok(Completion::default()),
    }
}

fn completed(completion: &Completion) -> Vec<u8> {
    json_bytes(&json!({ "completion": completion }))
}

/// Returns the JSON-RPC error for a prompt that has failed.
pub(super) fn describe(error: &ToolError) -> RpcError {
    let code = match error.kind() {
        ErrorKind::InvalidArguments | ErrorKind::MalformedJson | ErrorKind::TooLarge | ErrorKind::UnknownTool => {
            Code::InvalidParams
        }
        _ => Code::Internal,
    };
    RpcError::new(code, error.message())
}
