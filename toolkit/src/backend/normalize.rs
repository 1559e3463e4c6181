//! Conversion of a backend's answer into a structured result and content, and of an error that passed through several
//! programs.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::BackendResponse;
use crate::call::{Content, ErrorKind, McpResult, ToolError};
use crate::catalog::Naming;
use crate::mcp::{ERROR_KEY, read_error};
use crate::tool::{Tool, ToolId};
use toolkit_schema::digits::Digits;
use toolkit_schema::is_too_deep;
use toolkit_schema::repair::repaired;
use toolkit_schema::values;

/// An answer in normal form.
pub(crate) struct Normal {
    /// The structured result; `None` if the answer has only content.
    pub(crate) structured: Option<Structured>,
    pub(crate) content: Vec<Content>,
    /// The result of an MCP server, unchanged.
    pub(crate) mcp: Option<McpResult>,
}

/// A structured result.
pub(crate) struct Structured {
    /// The value, which is compared with a schema.
    pub(crate) value: Value,
    /// The text, whose numbers have the digits that the backend has sent. Those beyond the range of a float are strings.
    pub(crate) json: Vec<u8>,
}

impl Structured {
    /// Creates a result from a part of an answer.
    fn new(value: Value, pointer: &str, digits: &Digits) -> Self {
        let mut json = Vec::new();
        digits.readable().write(&value, pointer, &mut json);
        Self { value: digits.in_range(value, pointer), json }
    }
}

/// Normalizes an answer to a call of a tool.
///
/// # Errors
///
/// Returns an error if the answer is malformed or reports that the tool failed.
pub(crate) fn normalize(tool: &Tool, answer: BackendResponse) -> Result<Normal, ToolError> {
    let plain = |value, digits: &Digits| {
        let structured = Some(Structured::new(value, "", digits));
        Normal { structured, content: Vec::new(), mcp: None }
    };
    let none = Digits::default();
    match answer {
        BackendResponse::Value(value) if is_too_deep(&value) => Err(unreadable("it is nested deeper than 127 levels")),
        BackendResponse::Value(value) => Ok(plain(value, &none)),
        BackendResponse::Json(json) => {
            let value = toolkit_schema::json::parse(&json).map_err(unreadable)?;
            Ok(plain(value, &digits_of(&json)))
        }
        BackendResponse::Mcp(result) => from_mcp(tool, result, none),
        BackendResponse::McpJson(json) => {
            let result = serde_json::from_slice(&json).or_else(|_| serde_json::from_str(&repaired(&json)));
            from_mcp(tool, result.map_err(|error| unreadable(error.to_string()))?, digits_of(&json))
        }
        BackendResponse::Nothing => Ok(Normal { structured: None, content: Vec::new(), mcp: None }),
    }
}

/// Reads an MCP result. The structured result is `structuredContent` if present. Otherwise it is
/// the only text, parsed as JSON if possible, or the list of texts.
fn from_mcp(tool: &Tool, mut result: Map<String, Value>, digits: Digits) -> Result<Normal, ToolError> {
    replace_empty_lists(tool, &mut result);
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
        return Err(read_error(message, &result)
            .with_content(others)
            .with_mcp_result(McpResult { fields: result, digits }));
    }
    let structured = match result.get("structuredContent") {
        Some(structured) => Some(Structured::new(structured.clone(), "/structuredContent", &digits)),
        None => text_of(&content),
    };
    Ok(Normal { structured, content, mcp: Some(McpResult { fields: result, digits }) })
}

/// Replaces empty lists by empty objects where the protocol or the output schema has objects. PHP writes `[]` for both.
fn replace_empty_lists(tool: &Tool, result: &mut Map<String, Value>) {
    let replace = |fields: &mut Map<String, Value>, key: &str| {
        if let Some(value) = fields.get_mut(key).filter(|value| value.as_array().is_some_and(Vec::is_empty)) {
            *value = Value::Object(Map::new());
        }
    };
    replace(result, "_meta");
    if tool.output().is_some_and(|schema| values::is_object(schema.as_value())) {
        replace(result, "structuredContent");
    }
    let blocks = result.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten();
    for block in blocks.filter_map(Value::as_object_mut) {
        replace(block, "_meta");
        replace(block, "annotations");
    }
}

fn digits_of(json: &[u8]) -> Digits {
    std::str::from_utf8(json).map(Digits::read).unwrap_or_default()
}

fn text_of(content: &[Content]) -> Option<Structured> {
    let mut texts = content.iter().filter_map(Content::as_text).filter(|text| !text.is_empty());
    let first = texts.next()?;
    let rest: Vec<&str> = texts.collect();
    if rest.is_empty() {
        let parsed = (content.len() == 1).then(|| toolkit_schema::json::parse(first.as_bytes()).ok()).flatten();
        return Some(match parsed {
            Some(parsed) => Structured::new(parsed, "", &Digits::read(first)),
            None => Structured::new(first.into(), "", &Digits::default()),
        });
    }
    Some(Structured::new(std::iter::once(first).chain(rest).collect(), "", &Digits::default()))
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
