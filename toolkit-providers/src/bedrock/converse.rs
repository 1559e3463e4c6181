//! Replies of Converse.

use std::borrow::Cow;

use serde_json::Value;
use toolkit::catalog::ExportedNames;

use super::accumulate::Message;
use super::results::write_results;
use crate::reply::{
    Accumulate, Assembled, CallArguments, Format, Framing, InvalidReply, Item, Parsed, StopReason, WrittenCall, fields,
    stated, wire_name,
};

/// The format of Converse.
#[derive(Debug)]
pub(super) struct Converse;

pub(super) const NAME: &str = "Bedrock Converse";

impl Format for Converse {
    fn name(&self) -> &'static str {
        NAME
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn accumulate(&self) -> Box<dyn Accumulate> {
        Box::new(Message::default())
    }

    fn read(&self, reply: Assembled, names: &ExportedNames) -> Result<Parsed, InvalidReply> {
        let Assembled { mut body, arguments, .. } = reply;
        let message = body.get_mut("output").and_then(|output| output.as_object_mut()?.remove("message"));
        let Some(Value::Object(mut message)) = message else {
            return Err(InvalidReply::unexpected(NAME, "`output.message`", &body));
        };
        // Converse does not return the id of the response in its JSON.
        let mut parsed = Parsed::new(&Value::Null);
        let mut content = match message.remove("content") {
            Some(Value::Array(content)) => content,
            _ => Vec::new(),
        };
        for (position, block) in content.iter_mut().enumerate() {
            read_block(block, arguments.get(&position), names, &mut parsed);
        }
        parsed.stop(stop_reason(&body));
        // Models write blank texts before calls, but the API rejects them in a request.
        content.retain(|block| block["text"].as_str().is_none_or(|text| !text.trim().is_empty()));
        if !content.is_empty() {
            message.insert("content".to_owned(), content.into());
            message.entry("role").or_insert_with(|| "assistant".into());
            parsed.messages.push(message.into());
        }
        parsed.metadata = body;
        Ok(parsed)
    }

    fn write(&self, items: &[Item<'_>]) -> Vec<Value> {
        vec![fields([("role", "user".into()), ("content", write_results(items).into())])]
    }
}

fn read_block(block: &mut Value, text: Option<&String>, names: &ExportedNames, parsed: &mut Parsed) {
    if let Some(call) = block.get_mut("toolUse").filter(|call| call.is_object()) {
        let id = call["toolUseId"].as_str();
        if let Some(kind) = provider_kind(call) {
            parsed.push_provider_call(kind, id, false);
            return;
        }
        let arguments = match text {
            Some(text) => CallArguments::from_text(text),
            None => CallArguments::from_value(call.get("input")),
        };
        let written = WrittenCall::new(id, call["name"].as_str().unwrap_or_default(), arguments);
        let read = parsed.push(written, names);
        if id != Some(&read.id) {
            call["toolUseId"] = read.id.as_str().into();
        }
        if let Cow::Owned(name) = wire_name(&read.name) {
            call["name"] = name.into();
        }
        return;
    }
    parsed.text.push_str(block["text"].as_str().unwrap_or_default());
    for cited in block["citationsContent"]["content"].as_array().into_iter().flatten() {
        parsed.text.push_str(cited["text"].as_str().unwrap_or_default());
    }
    let reasoning = &block["reasoningContent"]["reasoningText"]["text"];
    parsed.reasoning.push_str(reasoning.as_str().unwrap_or_default());
}

/// Returns the type of a call of a tool of the provider.
pub(super) fn provider_kind(tool_use: &Value) -> Option<&str> {
    tool_use["type"].as_str().filter(|kind| *kind != "tool_use")
}

fn stop_reason(body: &Value) -> StopReason {
    match (stop_of(&stated(body.get("stopReason"))), body.get("error")) {
        (refused @ StopReason::Refused(_), _) => refused,
        (_, Some(error)) => StopReason::Failed(error["message"].as_str().unwrap_or_default().to_owned()),
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
