//! From what a backend answered to a structured result and content.

use serde_json::{Map, Value};

use super::Answer;
use crate::call::{Content, ErrorKind, ToolError};
use toolkit_schema::is_too_deep;

/// An answer in the one form that results have.
pub(crate) struct Normal {
    /// The structured result; `None` where there is nothing but content.
    pub(crate) structured: Option<Value>,
    pub(crate) content: Vec<Content>,
    /// The result of an MCP server, as it came.
    pub(crate) mcp: Option<Map<String, Value>>,
}

/// Normalises an answer.
///
/// # Errors
///
/// The answer is not what it must be, or says that the tool failed.
pub(crate) fn normalize(answer: Answer) -> Result<Normal, ToolError> {
    let plain = |value| Normal { structured: Some(value), content: Vec::new(), mcp: None };
    match answer {
        Answer::Value(value) if is_too_deep(&value) => Err(unreadable("it is nested deeper than 127 levels")),
        Answer::Value(value) => Ok(plain(value)),
        Answer::Json(json) => toolkit_schema::json::parse(&json).map(plain).map_err(unreadable),
        Answer::Mcp(result) => from_mcp(result),
        Answer::Nothing => Ok(Normal { structured: None, content: Vec::new(), mcp: None }),
    }
}

/// What MCP calls a result: `structuredContent` where there is some; else the only text, as JSON if it is; else the
/// texts, one or a list of them.
fn from_mcp(result: Map<String, Value>) -> Result<Normal, ToolError> {
    if result.values().any(is_too_deep) {
        return Err(unreadable("it is nested deeper than 127 levels"));
    }
    let blocks = match result.get("content") {
        None => &[][..],
        Some(Value::Array(blocks)) => blocks,
        Some(_) => return Err(unreadable("its `content` is no list")),
    };
    let is_error = result.get("isError").and_then(Value::as_bool) == Some(true);
    let has_result = ["content", "structuredContent"].iter().any(|key| result.contains_key(*key));
    // An object without fields is a result of some servers that have nothing to say.
    let is_other = result.keys().any(|key| !matches!(key.as_str(), "_meta" | "isError" | "resultType"));
    if is_other && !has_result && !is_error {
        return Err(unreadable("it has neither `content` nor `structuredContent`"));
    }
    let content: Vec<Content> = blocks.iter().map(Content::from_value).collect::<Result<_, _>>().map_err(unreadable)?;
    if is_error {
        let texts: Vec<&str> = content.iter().filter_map(Content::as_text).collect();
        let message = match texts.is_empty() {
            true => "the tool failed and did not say why".to_owned(),
            false => texts.join("\n"),
        };
        // The texts are the message already, and would be told again by every program that passes them on.
        let others = content.into_iter().filter(|content| content.as_text().is_none());
        return Err(ToolError::failed(message).with_content(others));
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
    ToolError::new(ErrorKind::InvalidAnswer, "what runs the tool answered with something that is no result")
        .caused_by(reason)
}
