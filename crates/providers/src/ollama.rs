//! The native API of Ollama, chat: replies and results, and the assembly of a streamed reply.
//!
//! The tools of a request are those of [`openai::tools`](crate::openai::tools) with the options for
//! [Chat Completions](crate::openai::Options::chat_completions). The other endpoint of Ollama, `/v1/chat/completions`,
//! is one of [`openai::CHAT_COMPLETIONS`](crate::openai::CHAT_COMPLETIONS).

use serde_json::{Map, Value, json};

use crate::reply::{
    Accumulate, Answer, Api, Assembled, CallArguments, Format, Framing, InvalidReply, Item, Parsed, ReplyEvent,
    StopReason, ToolCall, WrittenCall, append, keep_stop, object, show, stated,
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

// Replies and results of Ollama's chat.

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

    fn accumulate(&self) -> Box<dyn Accumulate> {
        Box::new(Chunks::default())
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

    fn write(&self, items: &[Item<'_>]) -> Vec<Value> {
        Item::write_each(items, result)
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
fn stop_of(reason: &str) -> StopReason {
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

// A reply from the lines of its stream.

/// A reply of which some lines have arrived.
#[derive(Debug)]
struct Chunks {
    body: Value,
    message: Value,
    calls: Vec<Value>,
    has_message: bool,
}

impl Default for Chunks {
    fn default() -> Self {
        Self { body: json!({}), message: json!({}), calls: Vec::new(), has_message: false }
    }
}

impl Chunks {
    fn add_message(&mut self, message: Value, events: &mut Vec<ReplyEvent>) {
        let Value::Object(fields) = message else { return };
        self.has_message = true;
        for (field, value) in fields {
            match (field.as_str(), value) {
                ("content", Value::String(text)) => {
                    append(&mut self.message, "content", &text);
                    show(text, events, ReplyEvent::Text);
                }
                ("thinking", Value::String(text)) => {
                    append(&mut self.message, "thinking", &text);
                    show(text, events, ReplyEvent::Reasoning);
                }
                // A call arrives as a whole.
                ("tool_calls", Value::Array(calls)) => calls.into_iter().for_each(|call| self.add_call(call, events)),
                (_, Value::Null) => {}
                (_, value) => self.message[&field] = value,
            }
        }
    }

    fn add_call(&mut self, call: Value, events: &mut Vec<ReplyEvent>) {
        let (index, function) = (self.calls.len(), &call["function"]);
        let name = function["name"].as_str().unwrap_or_default().to_owned();
        events.push(ReplyEvent::CallStarted { index, name });
        events.push(ReplyEvent::Arguments { index, json: function["arguments"].to_string() });
        self.calls.push(call);
    }
}

impl Accumulate for Chunks {
    fn push(&mut self, event: Value, events: &mut Vec<ReplyEvent>) -> Result<(), InvalidReply> {
        if !self.has_message && event.get("message").is_none() {
            return Err(InvalidReply::unexpected(NAME, "`message`", &event));
        }
        let Value::Object(mut fields) = event else { return Ok(()) };
        keep_stop(self.body.get("done_reason"), &mut fields, "done_reason", stop_of);
        for (field, value) in fields {
            match field.as_str() {
                "message" => self.add_message(value, events),
                // The first time stays, since the ids of calls are derived from it.
                "created_at" if self.body.get("created_at").is_some() => {}
                _ => self.body[&field] = value,
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Assembled, InvalidReply> {
        let Self { mut body, mut message, calls, has_message } = *self;
        if !has_message {
            return Err(InvalidReply::new(NAME, "the stream has no `message`"));
        }
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        let is_complete = body["done"] == true;
        body["message"] = message;
        Ok(Assembled::new(body, is_complete))
    }
}
