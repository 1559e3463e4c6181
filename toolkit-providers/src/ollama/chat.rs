//! Replies and results of Ollama's chat.

use serde_json::{Map, Value, json};
use toolkit::catalog::ExportedNames;

use super::accumulate::Chunks;
use crate::reply::{
    Accumulate, Answer, Assembled, CallArguments, Format, Framing, InvalidReply, Item, Parsed, StopReason, WrittenCall,
    object, stated,
};

/// The format of Ollama's chat.
#[derive(Debug)]
pub(super) struct Chat;

pub(super) const NAME: &str = "Ollama";

impl Format for Chat {
    fn name(&self) -> &'static str {
        NAME
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn accumulate(&self) -> Box<dyn Accumulate> {
        Box::new(Chunks::default())
    }

    fn read(&self, reply: Assembled, names: &ExportedNames) -> Result<Parsed, InvalidReply> {
        let mut body = reply.body;
        let Some(Value::Object(message)) = body.get_mut("message").map(Value::take) else {
            return Err(InvalidReply::unexpected(NAME, "`message`", &body));
        };
        // A reply has no id, but a time.
        let mut parsed = Parsed::new(&body["created_at"]);
        read_message(message, names, &mut parsed);
        parsed.stop(stop_reason(&body));
        if let Value::Object(fields) = &mut body {
            fields.remove("message");
        }
        parsed.metadata = body;
        Ok(parsed)
    }

    fn write(&self, items: &[Item<'_>]) -> Vec<Value> {
        let messages = items.iter().map(|item| match item {
            Item::Answer(answer) => result(answer),
            Item::Written(message) => (*message).clone(),
        });
        messages.collect()
    }
}

fn read_message(mut message: Map<String, Value>, names: &ExportedNames, parsed: &mut Parsed) {
    let text_of = |field: &str| message.get(field).and_then(Value::as_str).unwrap_or_default();
    parsed.text.push_str(text_of("content"));
    parsed.reasoning.push_str(text_of("thinking"));
    match message.get_mut("tool_calls") {
        Some(Value::Array(calls)) if !calls.is_empty() => {
            calls.retain(Value::is_object);
            calls.iter_mut().for_each(|call| read_call(call, names, parsed));
        }
        _ => drop(message.remove("tool_calls")),
    }
    if !parsed.slots.is_empty() || !parsed.text.is_empty() || !parsed.reasoning.is_empty() {
        message.entry("role").or_insert_with(|| json!("assistant"));
        parsed.messages.push(Value::Object(message));
    }
}

fn read_call(call: &mut Value, names: &ExportedNames, parsed: &mut Parsed) {
    let function = &call["function"];
    let name = function["name"].as_str().unwrap_or_default();
    let arguments = CallArguments::from_value(function.get("arguments"));
    let written = WrittenCall::new(call["id"].as_str(), name, arguments);
    // Ollama accepts nothing but an object.
    let sent = match &written.arguments {
        CallArguments::Json(text) => serde_json::from_str(text).unwrap_or_else(|_| json!({ "INVALID_JSON": text })),
        CallArguments::Text(text) => json!(text),
    };
    let sent = if sent.is_object() { sent } else { json!({ "INVALID_JSON": sent.to_string() }) };
    // It distinguishes calls by their order, so a new id is not sent.
    parsed.push(written, names);
    call["function"] = object(call["function"].take());
    call["function"]["arguments"] = sent;
}

fn stop_reason(body: &Value) -> StopReason {
    if let Some(error) = body["error"].as_str() {
        return StopReason::Failed(error.to_owned());
    }
    stop_of(&stated(body.get("done_reason")))
}

/// Reads a value of `done_reason`, which older servers leave out.
pub(super) fn stop_of(reason: &str) -> StopReason {
    match reason {
        "" | "stop" => StopReason::End,
        "length" => StopReason::Truncated,
        reason => StopReason::Other(reason.to_owned()),
    }
}

fn result(answer: &Answer<'_>) -> Value {
    let mut message = json!({ "role": "tool", "tool_name": answer.call.name, "content": answer.to_text() });
    if answer.call.has_id {
        message["tool_call_id"] = answer.call.id.as_str().into();
    }
    message
}
