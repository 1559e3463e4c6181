//! Replies and results of Ollama's chat.

use serde_json::{Map, Value, json};
use toolkit::catalog::ExportedNames;

use super::accumulate::Chunks;
use crate::reply::{
    Accumulate, Answer, Assembled, CallArguments, Format, Framing, InvalidReply, Item, Parsed, StopReason, ToolCall,
    WrittenCall, object, stated,
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
        message.insert("role".to_owned(), "assistant".into());
        parsed.messages.push(Value::Object(message));
    }
}

fn read_call(json: &mut Value, names: &ExportedNames, parsed: &mut Parsed) {
    let function = &json["function"];
    let arguments = CallArguments::from_value(function.get("arguments"));
    let name = function["name"].as_str().unwrap_or_default();
    let read = parsed.push(WrittenCall::new(json["id"].as_str(), name, arguments), names);
    write_call(json, read);
}

/// Writes a call in the form of a request. Ollama distinguishes calls by their order, so a new id is not sent.
fn write_call(json: &mut Value, call: &ToolCall) {
    if let Some(json) = json.as_object_mut().filter(|_| !call.has_id) {
        json.remove("id");
    }
    let function = &mut json["function"];
    *function = object(function.take());
    function["name"] = call.sent_name.as_str().into();
    CallArguments::make_object(function, "arguments");
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
    let mut message = json!({ "role": "tool", "tool_name": answer.call.sent_name, "content": answer.to_text() });
    if answer.call.has_id {
        message["tool_call_id"] = answer.call.id.as_str().into();
    }
    message
}
