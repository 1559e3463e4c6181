//! The native API of Ollama, chat: replies and results, and the assembly of a streamed reply.
//!
//! The tools of a request are those of [`openai::tools`](crate::openai::tools) with the options for
//! [Chat Completions](crate::openai::Options::chat_completions). The other endpoint of Ollama, `/v1/chat/completions`,
//! is one of [`openai::CHAT_COMPLETIONS`](crate::openai::CHAT_COMPLETIONS).

use serde_json::{Map, Value, json};

use crate::reply::{
    Api, Assembled, Assembly, CallArguments, CallResult, Format, Framing, InvalidReply, Parsed, ReplyEvent, ResultItem,
    StopReason, ToolCall, UsageFields, WrittenCall, append, field_mut, is_empty_part, keep_stop, object, stated,
};
use toolkit::catalog::ExportedNames;

/// `POST /api/chat` of Ollama, whose streams have one JSON object in each line.
///
/// Results are text, so images, sounds and files become notes.
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::Naming;
/// use toolkit::{Context, Dispatcher};
/// use toolkit_providers::{ollama, openai};
///
/// /// Adds two integers.
/// #[toolkit::tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let dispatcher = Dispatcher::new(toolkit::catalog![add]?)?;
/// let export = openai::tools(dispatcher.catalog(), Naming::Name, openai::Options::chat_completions())?;
/// let call = json!({ "function": { "name": "add", "arguments": { "a": 1, "b": 2 } } });
/// let message = json!({ "role": "assistant", "content": "", "tool_calls": [call] });
/// let mut stream = ollama::CHAT.stream(&export.names);
/// stream.push(format!("{}\n", json!({ "message": message, "done": false })).as_bytes())?;
/// stream.push(b"{\"message\": {\"role\": \"assistant\", \"content\": \"\"}, \"done\": true}\n")?;
/// let results = stream.finish()?.run_sync(&dispatcher, &Context::new());
/// assert_eq!(results.messages()?, [json!({ "role": "tool", "tool_name": "add", "content": "3" })]);
/// # Ok(())
/// # }
/// ```
pub const CHAT: Api = Api(&Chat);

/// The format of Ollama's chat.
#[derive(Debug)]
struct Chat;

const NAME: &str = "Ollama";

impl Format for Chat {
    fn name(&self) -> &'static str {
        NAME
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn add(&self, event: Value, reply: &mut Assembly) -> Result<(), InvalidReply> {
        if !reply.has_started && event.get("message").is_none() {
            return Err(InvalidReply::unexpected(NAME, "`message`", &event));
        }
        // Data after the last line does not belong to this reply.
        let Value::Object(mut fields) = event else { return Ok(()) };
        if reply.is_complete {
            return Ok(());
        }
        keep_stop(reply.body.get("done_reason"), &mut fields, "done_reason", stop_of);
        if let Some(Value::Object(message)) = fields.shift_remove("message") {
            add_message(message, reply);
        }
        for (field, value) in fields {
            // The first time stays, since the ids of calls are derived from it.
            if field != "created_at" || reply.body.get("created_at").is_none() {
                reply.body[&field] = value;
            }
        }
        reply.is_complete = reply.body["done"] == true;
        Ok(())
    }

    fn assemble(&self, mut reply: Assembly) -> Value {
        if !reply.blocks.is_empty() {
            reply.body["message"]["tool_calls"] = reply.take_blocks().collect();
        }
        reply.body
    }

    fn read(&self, reply: Assembled, names: &ExportedNames) -> Result<Parsed, InvalidReply> {
        let mut body = reply.body;
        let Some(Value::Object(message)) = body.get_mut("message").map(Value::take) else {
            return Err(InvalidReply::unexpected(NAME, "`message`", &body));
        };
        // Replies of other APIs have a `message`, too.
        if reply.is_complete && !body["done"].is_boolean() {
            return Err(InvalidReply::unexpected(NAME, "`done`", &body));
        }
        // A reply has no id, but a time.
        let mut parsed = Parsed::new(&body["created_at"]);
        read_message(message, names, &mut parsed);
        parsed.stop(stop_reason(&body));
        // The first line of a stream has the form of a whole reply.
        if body["done"] == false {
            parsed.truncate();
        }
        Ok(parsed.with_metadata(body, "message"))
    }

    fn usage(&self) -> &'static UsageFields {
        &UsageFields { input: &["/prompt_eval_count"], output: &["/eval_count"], cached: &[], reasoning: &[] }
    }

    fn write(&self, items: &[ResultItem<'_>]) -> Vec<Value> {
        ResultItem::write_each(items, result)
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
        _ => drop(message.shift_remove("tool_calls")),
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
        json.shift_remove("id");
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
fn stop_of(reason: &str) -> StopReason {
    match reason {
        "" | "stop" => StopReason::End,
        "length" => StopReason::Truncated,
        reason => StopReason::Other(reason.to_owned()),
    }
}

fn result(answer: &CallResult<'_>) -> Value {
    let mut message = json!({ "role": "tool", "tool_name": answer.call.sent_name, "content": answer.to_text() });
    if answer.call.has_id {
        message["tool_call_id"] = answer.call.id.as_str().into();
    }
    message
}

/// Adds the fields of a line of a stream to the message.
fn add_message(fields: Map<String, Value>, reply: &mut Assembly) {
    reply.has_started = true;
    let message = field_mut(&mut reply.body, &["message"]);
    *message = object(message.take());
    for (field, value) in fields {
        let message = &mut reply.body["message"];
        match (field.as_str(), value) {
            ("content" | "thinking", Value::String(text)) => {
                append(message, &field, &text);
                let shown = if field == "content" { ReplyEvent::Text } else { ReplyEvent::Reasoning };
                reply.show(shown, &text);
            }
            // A call arrives as a whole.
            ("tool_calls", Value::Array(calls)) => {
                for call in calls.into_iter().filter(|call| !is_empty_part(call)) {
                    let function = call["function"].clone();
                    let index = reply.start(None, call, Some(function["name"].clone()));
                    reply.show_arguments(index, &function["arguments"].to_string());
                }
            }
            (_, Value::Null) => {}
            (_, value) => message[&field] = value,
        }
    }
}
