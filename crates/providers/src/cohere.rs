//! The native API of Cohere, version 2 of chat: replies and results, and the assembly of a streamed reply.
//!
//! The tools of a request are those of [`openai::tools`](crate::openai::tools) with the options for
//! [Chat Completions](crate::openai::Options::chat_completions). The other endpoint of Cohere,
//! `/compatibility/v1/chat/completions`, is one of [`openai::CHAT_COMPLETIONS`](crate::openai::CHAT_COMPLETIONS).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::openai::chat::{Calls, Rules, read_message};
use crate::reply::{
    Accumulate, Api, Assembled, Format, InvalidReply, Item, Parsed, ReplyEvent, StopReason, append, keep_stop, object,
    show, stated,
};
use toolkit::catalog::ExportedNames;

/// `POST /v2/chat` of Cohere.
///
/// Results are text, so images, sounds and files become notes. The plan that a model writes before its calls is
/// [reasoning](crate::reply::Reply::reasoning).
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::Naming;
/// use toolkit::{Context, Dispatcher};
/// use toolkit_providers::{cohere, openai};
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
/// let function = json!({ "name": "add", "arguments": "{\"a\": 1, \"b\": 2}" });
/// let message = json!({
///     "role": "assistant",
///     "tool_plan": "I will add the numbers.",
///     "tool_calls": [{ "id": "add_1", "type": "function", "function": function }],
/// });
/// let reply = json!({ "id": "c14c80c3", "finish_reason": "TOOL_CALL", "message": message });
/// let reply = cohere::CHAT.read(&reply, &export.names)?;
/// assert_eq!(reply.messages(), [message]);
/// let results = reply.run_sync(&dispatcher, &Context::new());
/// assert_eq!(results.messages()?, [json!({ "role": "tool", "tool_call_id": "add_1", "content": "3" })]);
/// # Ok(())
/// # }
/// ```
pub const CHAT: Api = Api(&Chat);

/// The format of version 2 of Cohere's chat.
#[derive(Debug)]
struct Chat;

const NAME: &str = "Cohere";

impl Format for Chat {
    fn name(&self) -> &'static str {
        NAME
    }

    fn accumulate(&self) -> Box<dyn Accumulate> {
        Box::new(Events::default())
    }

    fn read(&self, reply: Assembled, names: &ExportedNames) -> Result<Parsed, InvalidReply> {
        let mut body = reply.body;
        // Replies of Ollama have a `message`, too.
        let is_own = body.get("done").is_none();
        let message = body.get_mut("message").filter(|message| is_own && message.is_object());
        let Some(Value::Object(mut message)) = message.map(Value::take) else {
            return Err(InvalidReply::unexpected(NAME, "`message` of its own", &body));
        };
        let mut parsed = Parsed::new(&body["id"]);
        message.retain(|_, value| !value.is_null());
        parsed.reasoning.push_str(message.get("tool_plan").and_then(Value::as_str).unwrap_or_default());
        read_message(message, Rules { accepts_id: |_| true, accepts_objects: false }, names, &mut parsed);
        // Unlike OpenAI, Cohere has no content where there is none.
        if let Some(Value::Object(message)) = parsed.messages.first_mut() {
            message.retain(|_, value| !value.is_null());
        }
        parsed.stop(stop_reason(&body));
        Ok(parsed.with_metadata(body, "message"))
    }

    fn write(&self, items: &[Item<'_>]) -> Vec<Value> {
        Item::write_each(
            items,
            |answer| json!({ "role": "tool", "tool_call_id": answer.call.id, "content": answer.to_text() }),
        )
    }
}

fn stop_reason(body: &Value) -> StopReason {
    match (stop_of(&stated(body.get("finish_reason"))), body["error"].as_str()) {
        (StopReason::Failed(_), Some(error)) => StopReason::Failed(error.to_owned()),
        (stop, _) => stop,
    }
}

/// Reads a value of `finish_reason`. A complete reply has one.
fn stop_of(reason: &str) -> StopReason {
    match reason {
        "TOOL_CALL" => StopReason::ToolCalls,
        "COMPLETE" | "STOP_SEQUENCE" => StopReason::End,
        "" | "MAX_TOKENS" => StopReason::Truncated,
        "ERROR" | "TIMEOUT" => StopReason::Failed(reason.to_owned()),
        other => StopReason::Other(other.to_owned()),
    }
}

// A reply from the events of its stream.

/// A reply of which some events have arrived.
#[derive(Debug, Default)]
struct Events {
    body: Map<String, Value>,
    message: Value,
    /// The parts of the content by their index.
    content: BTreeMap<u64, Value>,
    calls: Calls,
    is_complete: bool,
}

impl Accumulate for Events {
    fn push(&mut self, mut event: Value, events: &mut Vec<ReplyEvent>) -> Result<(), InvalidReply> {
        let mut take = |pointer: &str| event.pointer_mut(pointer).map(Value::take).unwrap_or_default();
        let (kind, index) = (take("/type"), take("/index").as_u64());
        match kind.as_str() {
            Some("message-start") => {
                self.body.insert("id".to_owned(), take("/id"));
                self.message["role"] = "assistant".into();
            }
            Some("content-start" | "content-delta") => {
                self.add_content(index, &take("/delta/message/content"), events);
            }
            Some("tool-plan-delta") => {
                let plan = take("/delta/message/tool_plan");
                let plan = plan.as_str().unwrap_or_default();
                append(&mut self.message, "tool_plan", plan);
                show(plan, events, ReplyEvent::Reasoning);
            }
            Some("tool-call-start" | "tool-call-delta") => {
                let mut call = object(take("/delta/message/tool_calls"));
                call["index"] = index.into();
                self.calls.add(call, events);
            }
            Some("citation-start") => match &mut self.message["citations"] {
                Value::Array(citations) => citations.push(take("/delta/message/citations")),
                none => *none = json!([take("/delta/message/citations")]),
            },
            Some("message-end") => {
                self.is_complete = true;
                if let Value::Object(mut fields) = take("/delta") {
                    keep_stop(self.body.get("finish_reason"), &mut fields, "finish_reason", stop_of);
                    self.body.append(&mut fields);
                }
            }
            None if self.message.is_null() => return Err(InvalidReply::unexpected(NAME, "`message-start`", &event)),
            _ => {}
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Assembled, InvalidReply> {
        let Self { mut body, mut message, content, calls, is_complete } = *self;
        if message.is_null() && content.is_empty() && calls.is_empty() {
            return Err(InvalidReply::new(NAME, "the stream has no `message-start`"));
        }
        message = object(message);
        if !content.is_empty() {
            message["content"] = content.into_values().collect();
        }
        if !calls.is_empty() {
            message["tool_calls"] = calls.finish().into();
        }
        body.insert("message".to_owned(), message);
        Ok(Assembled::new(body.into(), is_complete))
    }
}

impl Events {
    /// Adds a piece of the content. Its field is the type of the part. Without an index, the piece continues the latest part
    /// of its type.
    fn add_content(&mut self, index: Option<u64>, piece: &Value, events: &mut Vec<ReplyEvent>) {
        for (field, event) in [("text", ReplyEvent::Text as fn(String) -> _), ("thinking", ReplyEvent::Reasoning)] {
            if let Some(text) = piece[field].as_str() {
                let index = index.unwrap_or_else(|| match self.content.last_key_value() {
                    Some((latest, part)) => latest.saturating_add(u64::from(part["type"] != field)),
                    None => 0,
                });
                let part = self.content.entry(index).or_insert_with(|| json!({ "type": field }));
                append(part, field, text);
                show(text, events, event);
            }
        }
    }
}
