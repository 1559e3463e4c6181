//! Conversion of a backend's answer into a structured result and content, and of an error that passed through several
//! programs.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::BackendResponse;
use crate::call::{Content, ErrorKind, ToolError};
use crate::catalog::Naming;
use crate::mcp::{ERROR_KEY, read_error};
use crate::tool::ToolId;
use toolkit_schema::is_too_deep;

/// An answer in normal form.
pub(crate) struct Normal {
    /// The structured result; `None` if the answer has only content.
    pub(crate) structured: Option<Value>,
    pub(crate) content: Vec<Content>,
    /// The result of an MCP server, unchanged.
    pub(crate) mcp: Option<Map<String, Value>>,
}

/// Normalizes an answer.
///
/// # Errors
///
/// Returns an error if the answer is malformed or reports that the tool failed.
pub(crate) fn normalize(answer: BackendResponse) -> Result<Normal, ToolError> {
    let plain = |value| Normal { structured: Some(value), content: Vec::new(), mcp: None };
    match answer {
        BackendResponse::Value(value) if is_too_deep(&value) => Err(unreadable("it is nested deeper than 127 levels")),
        BackendResponse::Value(value) => Ok(plain(value)),
        BackendResponse::Json(json) => toolkit_schema::json::parse(&json).map(plain).map_err(unreadable),
        BackendResponse::Mcp(result) => from_mcp(result),
        BackendResponse::Nothing => Ok(Normal { structured: None, content: Vec::new(), mcp: None }),
    }
}

/// Reads an MCP result. The structured result is `structuredContent` if present. Otherwise it is
/// the only text, parsed as JSON if possible, or the list of texts.
fn from_mcp(result: Map<String, Value>) -> Result<Normal, ToolError> {
    if result.values().any(is_too_deep) {
        return Err(unreadable("it is nested deeper than 127 levels"));
    }
    let blocks = match result.get("content") {
        None => &[][..],
        Some(Value::Array(blocks)) => blocks,
        Some(_) => return Err(unreadable("`content` must be an array")),
    };
    let is_error = result.get("isError").and_then(Value::as_bool) == Some(true);
    let has_result = ["content", "structuredContent"].iter().any(|key| result.contains_key(*key));
    // Some servers return an object without fields as an empty result.
    let is_other = result.keys().any(|key| !matches!(key.as_str(), "_meta" | "isError" | "resultType"));
    if is_other && !has_result && !is_error {
        return Err(unreadable("it has neither `content` nor `structuredContent`"));
    }
    let content: Vec<Content> = blocks.iter().map(Content::from_value).collect::<Result<_, _>>().map_err(unreadable)?;
    if is_error {
        let texts: Vec<&str> = content.iter().filter_map(Content::as_text).collect();
        let message = match texts.is_empty() {
            true => "the tool failed without a message".to_owned(),
            false => texts.join("\n"),
        };
        // The texts are in the message already; as content, each program on the way would repeat
        // them.
        let others = content.into_iter().filter(|content| content.as_text().is_none());
        return Err(read_error(message, &result).with_content(others).with_mcp_result(result));
    }
    let structured = match result.get("structuredContent") {
        Some(structured) => Some(structured.clone()),
        None => text_of(&content),
    };
    Ok(Normal { structured, content, mcp: Some(result) })
}

fn text_of(content: &[Content]) -> Option<Value> {
    let mut texts = content.iter().filter_map(Content::as_text).filter(|text| !text.is_empty());
    let first = texts.next()?;
    let rest: Vec<&str> = texts.collect();
    if rest.is_empty() {
        let parsed = (content.len() == 1).then(|| toolkit_schema::json::parse(first.as_bytes()).ok()).flatten();
        return Some(parsed.unwrap_or_else(|| first.into()));
    }
    Some(std::iter::once(first).chain(rest).collect())
}

fn unreadable(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ToolError {
    ToolError::new(ErrorKind::InvalidResponse, "the backend returned a malformed result").caused_by(reason)
}

/// Removes the id of the called tool from the start of an error. Each program prefixes its errors with the id under
/// which it lists the tool, so the prefixes would accumulate. The result of a server of another kind stays as it is.
pub(crate) fn without_tool_id(error: ToolError, called: &str) -> ToolError {
    let meta = error.mcp_result().and_then(|result| result.get("_meta"));
    let error = match meta.is_some_and(|meta| meta.get(ERROR_KEY).is_some()) {
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
    let is_id = !text.contains(char::is_whitespace) && text.len() <= 512;
    let id = is_id.then(|| text.parse::<ToolId>().ok()).flatten();
    let called: Cow<'_, str> = match called.contains('.') {
        true => called.replace('.', "_").into(),
        false => called.into(),
    };
    id.is_some_and(|id| [Naming::Name, Naming::NamespaceName].iter().any(|naming| naming.wire_name(&id) == called))
}
