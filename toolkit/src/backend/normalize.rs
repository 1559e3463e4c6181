//! Conversion of a backend's answer into a result or an error, and of an error that passed through several programs.

use std::borrow::Cow;

use serde_json::Value;

use super::BackendResponse;
use crate::call::{BoxError, ErrorKind, McpResult, ToolError};
use crate::catalog::Naming;
use crate::mcp::{has_error_key, read_error};
use crate::tool::{Tool, ToolId};
use toolkit_schema::{is_too_deep, values};

/// An answer in normal form.
pub(crate) enum Normal {
    /// A structured result.
    Value(Value),
    /// A structured result as JSON text.
    Json(Vec<u8>),
    /// The result of an MCP server, unchanged.
    Mcp(McpResult),
    Nothing,
}

/// Normalizes an answer to a call of a tool.
///
/// # Errors
///
/// Returns an error if the answer is malformed or reports that the tool failed.
pub(crate) fn normalize(tool: &Tool, answer: BackendResponse) -> Result<Normal, ToolError> {
    let result = match answer {
        BackendResponse::Value(value) if is_too_deep(&value) => {
            return Err(unreadable("it is nested deeper than 127 levels"));
        }
        BackendResponse::Value(value) => return Ok(Normal::Value(value)),
        BackendResponse::Json(json) => return Ok(Normal::Json(json)),
        BackendResponse::Nothing => return Ok(Normal::Nothing),
        BackendResponse::Mcp(json) => {
            let is_object = tool.output().is_some_and(|schema| values::is_object(schema.as_value()));
            McpResult::parse(json).map_err(unreadable)?.with_objects(is_object)
        }
    };
    if !result.is_error() {
        return Ok(Normal::Mcp(result));
    }
    let message = result.message().unwrap_or_else(|| "the tool failed without a message".to_owned());
    Err(read_error(message, result.get("_meta")).with_mcp_result(result))
}

/// Returns the error of a malformed answer.
pub(crate) fn unreadable(reason: impl Into<BoxError>) -> ToolError {
    ToolError::new(ErrorKind::InvalidResponse, "the backend returned a malformed result").caused_by(reason)
}

/// Removes the id of the called tool from the start of an error. Each program prefixes its errors with the id under
/// which it lists the tool, so the prefixes would accumulate. The result of a server of another kind stays as it is.
pub(crate) fn without_tool_id(error: ToolError, called: &str) -> ToolError {
    let error = match error.mcp().and_then(|result| result.get("_meta")).is_some_and(has_error_key) {
        true => error.with_first_text(|text| without_prefix(text, called)),
        false => error,
    };
    error.with_message(|message| without_prefix(message, called))
}

fn without_prefix<'m>(message: &'m str, called: &str) -> &'m str {
    let mut rest = message;
    while let Some((first, after)) = rest.split_once(": ")
        && names(first, called)
    {
        rest = after;
    }
    rest
}

/// Returns true if a text is the id of the tool whose wire name is `called`.
fn names(text: &str, called: &str) -> bool {
    let called: Cow<'_, str> = match called.contains('.') {
        true => called.replace('.', "_").into(),
        false => called.into(),
    };
    let is_called =
        |id: ToolId| [Naming::Name, Naming::NamespaceName].iter().any(|naming| naming.wire_name(&id) == called);
    text.parse().is_ok_and(is_called)
}
