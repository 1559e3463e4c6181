//! Calls of a server's tools.

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, ErrorCode};
use rmcp::service::ServiceError;
use serde_json::{Map, Value};
use tokio::time::timeout;
use toolkit::ToolError;
use toolkit::backend::{BackendCall, BackendResponse};
use toolkit::call::ErrorKind;

use super::link::Link;
use super::list::{in_time, refresh, size};
use super::listener::Listener;
use super::trace;

/// Calls a tool by its name on the server.
///
/// Dropping the future notifies the server that the request is canceled.
pub(super) async fn run(link: &Link, call: BackendCall<'_>) -> Result<BackendResponse, ToolError> {
    let Value::Object(arguments) = call.arguments().to_value()? else {
        let message = "the arguments of an MCP tool must be a JSON object";
        return Err(ToolError::new(ErrorKind::InvalidArguments, message));
    };
    let remote = link.remote();
    let limits = &remote.limits;
    let _permit = timeout(limits.call, link.call_permit()).await.map_err(|_| {
        let message = format!("{remote} is at its limit of {} concurrent calls; try again later", limits.calls);
        ToolError::new(ErrorKind::Overloaded, message)
    })?;
    let result = in_time(remote, limits.call, called(link, &call, arguments)).await??;
    let Value::Object(result) = result else {
        return Err(remote.invalid_response("with an invalid result"));
    };
    let n_bytes = if limits.result_bytes == usize::MAX { 0 } else { size(&result) };
    if n_bytes > limits.result_bytes {
        let message =
            format!("{remote} returned a result of {n_bytes} bytes, more than the limit of {}", limits.result_bytes);
        return Err(ToolError::new(ErrorKind::ResultTooLarge, message));
    }
    match result.get("resultType").and_then(Value::as_str) {
        None | Some("complete") => Ok(BackendResponse::Mcp(result)),
        // The server requests user input or sampling, which this client does not support.
        Some(_) => Err(ToolError::failed("the tool requires a client capability that this program does not support")),
    }
}

async fn called(link: &Link, call: &BackendCall<'_>, arguments: Map<String, Value>) -> Result<Value, ToolError> {
    let connection = link.connection_for_call().await?;
    let listener = call.context().has_progress_listener().then(|| Listener::new(call.context()));
    let params = CallToolRequestParams::new(call.tool().name().to_owned()).with_arguments(arguments);
    let ask = || {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()));
        connection.ask(request, trace::meta(call.context()), listener.as_ref())
    };
    let answer = match ask().await {
        // A new connection does not have the tools yet, whose schemas define the headers to send.
        Err(ServiceError::McpError(error)) if error.code == ErrorCode::HEADER_MISMATCH => {
            refresh(link.remote(), &connection).await?;
            ask().await
        }
        answer => answer,
    };
    match answer {
        Ok(result) => Ok(result),
        Err(error) => Err(link.remote().failed(&connection, error).await),
    }
}
