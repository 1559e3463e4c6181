//! Lossless transfer of results through types that do not have all of their fields.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use rmcp::model::{ClientRequest, ErrorCode, ErrorData, ServerResult, Tool};
use serde::de::Error as _;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolkit_schema::digits::Digits;
use toolkit_schema::repair::{self, repaired};

/// The key of the complete result in the `_meta` of the result that `rmcp` parses.
const KEY: &str = "rs.toolkit/verbatim";

/// The key of the capability `tasks.requests.tools.call` of revision 2025-11-25 among the experimental ones, since
/// `rmcp` does not have it.
pub(super) const TASKS: &str = "rs.toolkit/tasks";

/// The key of the text of a result whose numbers have digits that a value loses.
pub(super) const TEXT: &str = "rs.toolkit/text";

/// The fields of results whose numbers keep their digits: those of calls and of tasks.
const EXACT: [&str; 5] = ["content", "structuredContent", "isError", "result", "taskId"];

/// The fields of results with resources or prompts.
const RESOURCES: [&str; 5] = ["resources", "resourceTemplates", "contents", "prompts", "messages"];

/// The fields of results with a list, whose entries are read one by one if the result cannot be read as a whole.
const LISTS: [&str; 4] = ["tools", "resources", "resourceTemplates", "prompts"];

/// The key of an entry of a list that cannot be read, whose value is the reason.
pub(super) const UNREADABLE: &str = "rs.toolkit/unreadable";

/// The length in characters to which the name of such an entry is truncated.
const MAX_NAME_CHARS: usize = 128;

/// The code of the error that stands for a result that cannot be read. It is not a code of the protocol.
pub(super) const UNREADABLE_RESULT: ErrorCode = ErrorCode(i32::MIN);

/// Parses a message of a server, with a [wrapped] result. A result that cannot be read becomes an error of its request.
pub(super) fn message(json: &[u8]) -> serde_json::Result<Value> {
    if let Ok(mut message) = serde_json::from_slice::<Value>(json) {
        let digits = std::str::from_utf8(json).map(Digits::read).unwrap_or_default();
        if let Some(result) = message.get_mut("result") {
            let fields: Option<BTreeMap<Cow<'_, str>, &RawValue>> =
                if digits.is_empty() { None } else { serde_json::from_slice(json).ok() };
            keep_text(result, fields.and_then(|fields| Some(fields.get("result")?.get())));
        }
        return Ok(wrapped(message));
    }
    let text = repaired_message(json).ok_or_else(|| serde_json::Error::custom("not a message"))?;
    let fields: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(&text)?;
    let mut message = Map::new();
    for (name, json) in fields {
        let read = if name == "result" { result(json.get()) } else { parsed(json.get()) };
        let (name, value) = match read {
            Err(error) if name == "result" || name == "error" => ("error".into(), json!(unreadable(&error))),
            value => (name, value?),
        };
        message.insert(name.into_owned(), value);
    }
    Ok(wrapped(Value::Object(message)))
}

/// Parses a result, and keeps its text if its numbers have digits that a value loses. An entry of its list that cannot
/// be read is replaced by the reason.
pub(super) fn result(json: &str) -> serde_json::Result<Value> {
    let mut result = parsed(json)?;
    keep_text(&mut result, (!Digits::read(json).is_empty()).then_some(json));
    Ok(result)
}

/// Stores the text of a result that has digits which a value loses.
fn keep_text(result: &mut Value, json: Option<&str>) {
    let Value::Object(fields) = result else { return };
    fields.remove(TEXT);
    if let Some(json) = json.filter(|_| EXACT.iter().any(|field| fields.contains_key(*field))) {
        fields.insert(TEXT.to_owned(), repair::with_numbers(json.as_bytes()).into());
    }
}

/// Removes a part of a result, with its text.
pub(super) fn part(fields: &mut Map<String, Value>, name: &str) -> Option<Value> {
    let text = fields.remove(TEXT);
    let mut part = fields.remove(name)?;
    let of_result: Option<BTreeMap<Cow<'_, str>, &RawValue>> =
        text.as_ref().and_then(Value::as_str).and_then(|text| serde_json::from_str(text).ok());
    keep_text(&mut part, of_result.and_then(|of_result| Some(of_result.get(name)?.get())));
    Some(part)
}

fn parsed(json: &str) -> serde_json::Result<Value> {
    let error = match parse_repaired(json) {
        Ok(result) => return Ok(result),
        Err(error) => error,
    };
    let text = repaired(json.as_bytes());
    let Ok(fields) = serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(&text) else {
        return Err(error);
    };
    let mut result = Map::new();
    for (name, json) in fields {
        let value = match LISTS.contains(&&*name) {
            true => {
                let entries: Vec<&RawValue> = serde_json::from_str(json.get())?;
                entries.into_iter().map(|entry| self::entry(entry.get())).collect()
            }
            false => serde_json::from_str(json.get())?,
        };
        result.insert(name.into_owned(), value);
    }
    Ok(Value::Object(result))
}

/// Parses an entry of a list, or describes why it cannot be read.
fn entry(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| {
        let fields: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(json).unwrap_or_default();
        let text = |name| fields.get(name).and_then(|json| serde_json::from_str::<String>(json.get()).ok());
        let name =
            text("name").or_else(|| text("uri")).map(|name| name.chars().take(MAX_NAME_CHARS).collect::<String>());
        json!({ UNREADABLE: reason(&error), "name": name })
    })
}

/// Returns the error that stands for a result that cannot be read.
pub(super) fn unreadable(error: &serde_json::Error) -> ErrorData {
    ErrorData::new(UNREADABLE_RESULT, reason(error), None)
}

fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.starts_with("recursion limit exceeded") {
        true => "it is nested deeper than 127 levels".to_owned(),
        false => format!("it is not JSON: {text}"),
    }
}

/// Returns an error of a server in the form that `rmcp` accepts. Servers send codes of any size, and errors that are
/// only a text.
pub(super) fn error(error: Value) -> Value {
    if error.is_null() {
        return error;
    }
    let (code, message) = (&error["code"], &error["message"]);
    let number = code.as_i64().and_then(|code| i32::try_from(code).ok()).unwrap_or(ErrorCode::INTERNAL_ERROR.0);
    let text = match (message, &error) {
        (Value::String(text), _) | (Value::Null, Value::String(text)) => text.clone(),
        (Value::Null, Value::Object(_) | Value::Null) => String::new(),
        (Value::Null, other) | (other, _) => other.to_string(),
    };
    json!({ "code": number, "message": text, "data": error["data"] })
}

/// Returns true for a request whose result is passed on unchanged.
pub(super) fn is_verbatim(request: &ClientRequest) -> bool {
    matches!(
        request,
        ClientRequest::ListToolsRequest(_)
            | ClientRequest::CallToolRequest(_)
            | ClientRequest::ListResourcesRequest(_)
            | ClientRequest::ListResourceTemplatesRequest(_)
            | ClientRequest::ReadResourceRequest(_)
            | ClientRequest::ListPromptsRequest(_)
            | ClientRequest::GetPromptRequest(_)
            // Calls as tasks, and requests about tasks.
            | ClientRequest::CustomRequest(_)
    )
}

/// Wraps the result of a tool in a small one that `rmcp` accepts, with the complete result in `_meta`. Copies the
/// capability to run calls as tasks in the result of `initialize`.
///
/// A tool that `rmcp` cannot parse must not invalidate the list, so it is only in the complete result.
pub(super) fn wrapped(mut message: Value) -> Value {
    if let Value::Object(fields) = &mut message {
        // Some servers send both fields, and one of them is `null`.
        if let Some(error) = fields.remove("error").filter(|error| !error.is_null()) {
            fields.remove("result");
            fields.insert("error".to_owned(), self::error(error));
        }
    }
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
        ServerResult::ListPromptsResult(mut list) => {
            let whole = list.meta.as_mut().and_then(|meta| meta.0.remove(KEY));
            whole.map_or_else(|| serde_json::to_value(list), Ok)
        }
        ServerResult::GetPromptResult(mut got) => {
            let whole = got.meta.as_mut().and_then(|meta| meta.0.remove(KEY));
            whole.map_or_else(|| serde_json::to_value(got), Ok)
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

// Reading messages that need repair.

/// Repairs a message, and keeps the last of fields with the same name. Returns `None` if it is not a message.
pub(super) fn repaired_message(json: &[u8]) -> Option<String> {
    let text = repair::with_numbers(json);
    let fields: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(&text).ok()?;
    serde_json::to_string(&fields).ok()
}

/// Parses JSON, which is repaired if necessary.
pub(super) fn parse_repaired(json: &str) -> serde_json::Result<Value> {
    serde_json::from_str(json).or_else(|_| serde_json::from_str(&repaired(json.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_equal_fields_of_a_message_is_kept() {
        let text = repaired_message(br#"{"id": 1, "jsonrpc": "2.0", "id": 2, "result": {"a": NaN}}"#);
        assert_eq!(text.as_deref(), Some(r#"{"id":2,"jsonrpc":"2.0","result":{"a": "NaN"}}"#));
        assert_eq!(repaired_message(b"Welcome to this server"), None);
        let marked = repaired_message(b"\xef\xbb\xbf{\"id\": 1, \"result\": \"\xff\"}");
        assert_eq!(marked.as_deref(), Some("{\"id\":1,\"result\":\"\u{fffd}\"}"));
    }
}
