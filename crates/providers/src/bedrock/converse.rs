//! Replies of Converse.

use serde_json::Value;

use super::results::tool_result;
use super::stream::add_event;
use crate::reply::{
    Assembled, Assembly, CallArguments, Format, Framing, InvalidReply, Parsed, ResultItem, StopReason, ToolCall,
    UsageFields, WrittenCall, fields, object, remove_end, stated,
};
use toolkit::catalog::ExportedNames;

/// The format of Converse.
#[derive(Debug)]
pub(super) struct Converse;

pub(super) const NAME: &str = "Bedrock Converse";

impl Format for Converse {
    fn name(&self) -> &'static str {
        NAME
    }

    fn framing(&self) -> Framing {
        Framing::Frames
    }

    fn add(&self, event: Value, reply: &mut Assembly) -> Result<(), InvalidReply> {
        add_event(event, reply)
    }

    fn blocks(&self) -> &'static [&'static str] {
        &["output", "message", "content"]
    }

    fn read(&self, reply: Assembled, names: &ExportedNames) -> Result<Parsed, InvalidReply> {
        let mut body = reply.body;
        let message = body.get_mut("output").and_then(|output| output.as_object_mut()?.shift_remove("message"));
        let Some(Value::Object(mut message)) = message else {
            return Err(InvalidReply::unexpected(NAME, "`output.message`", &body));
        };
        // Converse does not return the id of the response in its JSON, but the tokens of a conversation grow.
        let mut parsed = Parsed::new(&body["usage"]);
        let mut content = match message.shift_remove("content") {
            Some(Value::Array(content)) => content,
            _ => Vec::new(),
        };
        // A block of an unknown type is empty in a stream.
        content.retain(|block| block.as_object().is_some_and(|block| !block.is_empty()));
        content.iter_mut().for_each(|block| read_block(block, names, &mut parsed));
        parsed.stop(stop_reason(&body));
        // Models write blank texts before calls, but the API rejects them in a request.
        let is_blank = |text: &Value| text.as_str().is_none_or(|text| text.trim().is_empty());
        content.retain(|block| !block.get("text").is_some_and(is_blank));
        remove_end(&mut content, |block| block.get("reasoningContent").is_some());
        if !content.is_empty() {
            message.insert("content".to_owned(), content.into());
            message.insert("role".to_owned(), "assistant".into());
            parsed.messages.push(message.into());
        }
        parsed.metadata = body;
        Ok(parsed)
    }

    fn usage(&self) -> &'static UsageFields {
        &UsageFields {
            input: &["/usage/inputTokens", "/usage/cacheReadInputTokens", "/usage/cacheWriteInputTokens"],
            output: &["/usage/outputTokens"],
            cached: &["/usage/cacheReadInputTokens"],
            reasoning: &[],
        }
    }

    fn write(&self, items: &[ResultItem<'_>]) -> Vec<Value> {
        let blocks = ResultItem::write_each(items, |answer| fields([("toolResult", tool_result(answer))]));
        vec![fields([("role", "user".into()), ("content", blocks.into())])]
    }
}

fn read_block(block: &mut Value, names: &ExportedNames, parsed: &mut Parsed) {
    if let Some(call) = block.get_mut("toolUse") {
        *call = object(call.take());
        let id = call["toolUseId"].as_str();
        if let Some(kind) = provider_kind(call) {
            parsed.push_provider_call(kind, id, false);
            return CallArguments::make_object(call, "input");
        }
        let arguments = CallArguments::from_value(call.get("input"));
        let name = call["name"].as_str().unwrap_or_default();
        let written = WrittenCall::new(id.filter(|id| is_valid_id(id)), name, arguments);
        return write_call(call, parsed.push(written, names));
    }
    parsed.text.push_str(block["text"].as_str().unwrap_or_default());
    for cited in block["citationsContent"]["content"].as_array().into_iter().flatten() {
        parsed.text.push_str(cited["text"].as_str().unwrap_or_default());
    }
    if let Some(reasoning) = block.pointer_mut("/reasoningContent/reasoningText").filter(|text| text.is_object()) {
        let text = reasoning["text"].as_str().unwrap_or_default().to_owned();
        parsed.reasoning.push_str(&text);
        // A request requires it, also if the model shows nothing but a signature.
        reasoning["text"] = text.into();
    }
}

/// Writes a call in the form of a request.
fn write_call(json: &mut Value, call: &ToolCall) {
    json["toolUseId"] = call.id.as_str().into();
    json["name"] = call.sent_name.as_str().into();
    CallArguments::make_object(json, "input");
}

/// Returns true if an id has the form of the service model.
fn is_valid_id(id: &str) -> bool {
    id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte))
}

/// Returns the type of a call of a tool of the provider.
pub(super) fn provider_kind(tool_use: &Value) -> Option<&str> {
    tool_use["type"].as_str().filter(|kind| *kind != "tool_use")
}

fn stop_reason(body: &Value) -> StopReason {
    match (stop_of(&stated(body.get("stopReason"))), body.get("error")) {
        (StopReason::Refused(reason), _) => {
            let why = body["trace"]["guardrail"]["actionReason"].as_str();
            StopReason::Refused(why.unwrap_or(&reason).to_owned())
        }
        (_, Some(error)) => StopReason::failed(error),
        (stop, None) => stop,
    }
}

/// Reads a value of `stopReason`. A complete reply has one.
pub(super) fn stop_of(reason: &str) -> StopReason {
    match reason {
        "tool_use" => StopReason::ToolCalls,
        "end_turn" | "stop_sequence" => StopReason::End,
        "" | "max_tokens" | "model_context_window_exceeded" => StopReason::Truncated,
        why @ ("content_filtered" | "guardrail_intervened") => StopReason::Refused(why.to_owned()),
        why @ ("malformed_tool_use" | "malformed_model_output") => StopReason::Malformed(why.to_owned()),
        other => StopReason::Other(other.to_owned()),
    }
}
