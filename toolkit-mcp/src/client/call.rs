//! One call of a server's tool.

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, ErrorCode};
use rmcp::service::ServiceError;
use serde_json::{Map, Value};
use toolkit::ToolError;
use toolkit::backend::{Answer, BackendCall};
use toolkit::call::ErrorKind;

use super::list::{in_time, refresh};
use super::listener::Listener;
use super::{McpBackend, trace};

/// Calls a tool by the name under which the server lists it.
///
/// Where this is dropped, the server is told that nobody waits any more.
pub(super) async fn run(backend: &McpBackend, call: BackendCall<'_>) -> Result<Answer, ToolError> {
    let Value::Object(arguments) = call.arguments().to_value()? else {
        let message = "the arguments of a tool of an MCP server are a JSON object";
        return Err(ToolError::new(ErrorKind::InvalidArguments, message));
    };
    let result = in_time(backend, backend.limits.call, called(backend, &call, arguments)).await??;
    let Value::Object(result) = result else {
        return Err(backend.unreadable("with something that is no result"));
    };
    match result.get("resultType").and_then(Value::as_str) {
        None | Some("complete") => Ok(Answer::Mcp(result)),
        // It asks for the user, or for a model; none was offered.
        Some(_) => Err(ToolError::failed("the tool needs something of this host that it does not offer to servers")),
    }
}

async fn called(
    backend: &McpBackend,
    call: &BackendCall<'_>,
    arguments: Map<String, Value>,
) -> Result<Value, ToolError> {
    let connection = backend.link.connection_for_call(backend).await?;
    let listener = call.context().is_listened_to().then(|| Listener::new(call.context()));
    let params = CallToolRequestParams::new(call.tool().name().to_owned()).with_arguments(arguments);
    let ask = || {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()));
        connection.ask(request, trace::meta(call.context()), listener.as_ref())
    };
    let answer = match ask().await {
        // After a new connection, the headers that repeat arguments are not known until the tools are listed.
        Err(ServiceError::McpError(error)) if error.code == ErrorCode::HEADER_MISMATCH => {
            refresh(backend, &connection).await?;
            ask().await
        }
        answer => answer,
    };
    match answer {
        Ok(result) => Ok(result),
        Err(error) => Err(backend.failed(&connection, error).await),
    }
}
