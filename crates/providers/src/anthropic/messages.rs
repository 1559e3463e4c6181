//! Replies and results of Messages, complete and streamed.

use serde_json::{Map, Value};

use crate::reply::{
    Assembled, Assembly, CallArguments, CallResult, Format, IMAGE_TYPES, InvalidReply, Parsed, ReplyEvent, ResultItem,
    ResultPart, StopReason, ToolCall, UsageFields, WrittenCall, fields, is_empty, merge, object, push, remove_end,
    stated,
};
use toolkit::catalog::ExportedNames;

/// The format of Messages.
#[derive(Debug)]
pub(super) struct Messages;

const NAME: &str = "Anthropic Messages";

/// The tools that Anthropic defines and the host runs. A call of them has the form of other calls.
const HOST_TOOLS: [&str; 5] = ["bash", "computer", "memory", "str_replace_based_edit_tool", "str_replace_editor"];

impl Format for Messages {
    fn name(&self) -> &'static str {
        NAME
    }

    fn add(&self, mut event: Value, reply: &mut Assembly) -> Result<(), InvalidReply> {
        let mut take = |pointer: &str| event.pointer_mut(pointer).map(Value::take).unwrap_or_default();
        let (kind, index) = (take("/type"), take("/index").as_u64());
        match kind.as_str().unwrap_or_default() {
            "message_start" => (reply.body, reply.has_started) = (object(take("/message")), true),
            "content_block_start" => {
                let block = take("/content_block");
                if !is_empty(&block) {
                    let name = (block["type"] == "tool_use").then(|| block["name"].clone());
                    reply.start(index, block, name);
                }
            }
            "content_block_delta" => {
                if let Some(index) = reply.known(index) {
                    extend(index, take("/delta"), reply);
                }
            }
            "message_delta" => {
                reply.merge_end(take("/delta"), "stop_reason", stop_of);
                merge(&mut reply.body, fields([("usage", take("/usage"))]));
                reply.has_started = true;
            }
            "message_stop" => reply.is_complete = true,
            "error" if reply.has_started => reply.body["error"] = take("/error"),
            "error" => return Err(InvalidReply::unexpected(NAME, "message", &event)),
            _ => {}
        }
        Ok(())
    }

    fn read(&self, reply: Assembled, names: &ExportedNames) -> Result<Parsed, InvalidReply> {
        let mut body = reply.body;
        let Some(Value::Array(mut content)) = body.get_mut("content").map(Value::take) else {
            return Err(InvalidReply::unexpected(NAME, "`content`", &body));
        };
        let mut parsed = Parsed::new(&body["id"]);
        content.retain(|block| block["type"].is_string());
        content.iter_mut().for_each(|block| read_block(block, names, &mut parsed));
        content.retain(is_accepted);
        remove_end(&mut content, |block| matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking")));
        parsed.stop(stop_reason(&body));
        if !content.is_empty() {
            parsed.messages.push(fields([("role", "assistant".into()), ("content", content.into())]));
        }
        Ok(parsed.with_metadata(body, "content"))
    }

    fn usage(&self) -> &'static UsageFields {
        &UsageFields {
            input: &["/usage/input_tokens", "/usage/cache_read_input_tokens", "/usage/cache_creation_input_tokens"],
            output: &["/usage/output_tokens"],
            cached: &["/usage/cache_read_input_tokens"],
            reasoning: &["/usage/output_tokens_details/thinking_tokens"],
        }
    }

    fn write(&self, items: &[ResultItem<'_>]) -> Vec<Value> {
        vec![fields([("role", "user".into()), ("content", ResultItem::write_each(items, result).into())])]
    }
}

fn read_block(block: &mut Value, names: &ExportedNames, parsed: &mut Parsed) {
    let field = |name: &str| block.get(name).and_then(Value::as_str);
    let (id, name) = (field("id"), field("name").unwrap_or_default());
    match field("type").unwrap_or_default() {
        "text" => parsed.text.push_str(field("text").unwrap_or_default()),
        "thinking" => parsed.reasoning.push_str(field("thinking").unwrap_or_default()),
        "tool_use" if block.get("toolset_name").is_some() || is_of_host(name, names) => {
            parsed.push_host_call(name, id, &CallArguments::from_value(block.get("input")));
            CallArguments::make_object(block, "input");
        }
        "tool_use" => {
            let arguments = CallArguments::from_value(block.get("input"));
            let call = WrittenCall::new(id.filter(|id| is_valid_id(id)), name, arguments).with_caller(block);
            write_call(block, parsed.push(call, names));
        }
        kind @ ("server_tool_use" | "mcp_tool_use") => {
            parsed.push_provider_call(kind, id, false);
            CallArguments::make_object(block, "input");
        }
        // Other parts are only repeated.
        _ => {}
    }
}

/// Writes a call in the form of a request.
fn write_call(block: &mut Value, call: &ToolCall) {
    block["id"] = call.id.as_str().into();
    block["name"] = call.sent_name.as_str().into();
    if let Some(block) = block.as_object_mut() {
        block.retain(|field, value| field != "caller" || value.is_object());
    }
    CallArguments::make_object(block, "input");
}

/// Returns true if a request may contain a block. The API rejects blank texts, and thinking without its signature, at
/// which a stream may have ended.
fn is_accepted(block: &Value) -> bool {
    match block["type"].as_str() {
        Some("text") => block["text"].as_str().is_some_and(|text| !text.trim().is_empty()),
        Some("thinking") => block["thinking"].is_string() && block["signature"].is_string(),
        _ => true,
    }
}

fn is_valid_id(id: &str) -> bool {
    id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn is_of_host(name: &str, names: &ExportedNames) -> bool {
    HOST_TOOLS.contains(&name) && names.get(None, name).is_none()
}

fn stop_reason(body: &Value) -> StopReason {
    match stop_of(&stated(body.get("stop_reason"))) {
        StopReason::Refused(_) => {
            let details = &body["stop_details"];
            let why = details["explanation"].as_str().or_else(|| details["category"].as_str());
            StopReason::Refused(why.unwrap_or_default().to_owned())
        }
        stop => body.get("error").map_or(stop, StopReason::failed),
    }
}

/// Reads a value of `stop_reason`. A complete message has one.
fn stop_of(reason: &str) -> StopReason {
    match reason {
        "tool_use" => StopReason::ToolCalls,
        "end_turn" | "stop_sequence" => StopReason::End,
        "" | "max_tokens" | "model_context_window_exceeded" => StopReason::Truncated,
        "pause_turn" => StopReason::Paused,
        "refusal" => StopReason::Refused(String::new()),
        other => StopReason::Other(other.to_owned()),
    }
}

fn result(answer: &CallResult<'_>) -> Value {
    let mut result = Map::new();
    result.insert("type".to_owned(), "tool_result".into());
    result.insert("tool_use_id".to_owned(), answer.call.id.as_str().into());
    if answer.is_error {
        result.insert("is_error".to_owned(), true.into());
    }
    if let Some(content) = content(answer) {
        result.insert("content".to_owned(), content);
    }
    result.into()
}

/// Returns the content of a result. A text without any letters is rejected, and so is an empty list.
fn content(answer: &CallResult<'_>) -> Option<Value> {
    if let [ResultPart::Text(text) | ResultPart::Json(text)] = &answer.parts[..] {
        return (!text.trim().is_empty()).then(|| text.as_str().into());
    }
    // The API accepts nothing but text in an error, and in the result of a call by a program.
    let only_text = answer.is_error || answer.call.caller.is_some();
    let mut blocks: Vec<Value> = answer.parts.iter().filter_map(|part| block(part, only_text)).collect();
    match &mut blocks[..] {
        [] => None,
        [only] if only["type"] == "text" => Some(only["text"].take()),
        _ => Some(blocks.into()),
    }
}

fn block(part: &ResultPart, only_text: bool) -> Option<Value> {
    let base64 = |kind: &str, mime_type: &str, data: &str| {
        let source = [("type", "base64".into()), ("media_type", mime_type.into()), ("data", data.into())];
        fields([("type", kind.into()), ("source", fields(source))])
    };
    match part {
        ResultPart::Image { data, mime_type } if !only_text && IMAGE_TYPES.contains(&mime_type.as_str()) => {
            Some(base64("image", mime_type, data))
        }
        ResultPart::File { data, mime_type, .. } if !only_text && mime_type == "application/pdf" => {
            Some(base64("document", mime_type, data))
        }
        other => {
            let text = other.to_text();
            (!text.trim().is_empty()).then(|| fields([("type", "text".into()), ("text", text.into())]))
        }
    }
}

/// Adds a piece to a block of a streamed message.
fn extend(index: u64, mut delta: Value, reply: &mut Assembly) {
    let mut take = |field: &str| delta.get_mut(field).map(Value::take).unwrap_or_default();
    match take("type").as_str().unwrap_or_default() {
        "text_delta" => reply.append(index, "text", &take("text"), ReplyEvent::Text),
        "thinking_delta" => reply.append(index, "thinking", &take("thinking"), ReplyEvent::Reasoning),
        "signature_delta" => reply.set(index, "signature", take("signature")),
        "input_json_delta" => reply.add_arguments(index, &["input"], take("partial_json")),
        "citations_delta" => push(reply.json(index), "citations", take("citation")),
        "compaction_delta" => reply.set(index, "content", take("content")),
        _ => {}
    }
}
