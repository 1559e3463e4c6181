//! The native API of Cohere, version 2 of chat: replies and results, and the assembly of a streamed reply.
//!
//! The tools of a request are those of [`openai::tools`](crate::openai::tools) with the options for
//! [Chat Completions](crate::openai::Options::chat_completions). The other endpoint of Cohere,
//! `/compatibility/v1/chat/completions`, is one of [`openai::CHAT_COMPLETIONS`](crate::openai::CHAT_COMPLETIONS).

use serde_json::{Value, json};

use crate::openai::chat::{Rules, add_call, complete_calls, read_message};
use crate::reply::{
    Api, Assembled, Assembly, Format, InvalidReply, Parsed, ReplyEvent, ResultItem, StopReason, UsageFields, append,
    field_mut, is_empty_part, object, push, stated,
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

    fn add(&self, mut event: Value, reply: &mut Assembly) -> Result<(), InvalidReply> {
        let mut take = |pointer: &str| event.pointer_mut(pointer).map(Value::take).unwrap_or_default();
        let (kind, index) = (take("/type"), take("/index").as_u64());
        let message = field_mut(&mut reply.body, &["message"]);
        match kind.as_str() {
            Some("message-start") => {
                *field_mut(message, &["role"]) = "assistant".into();
                reply.body["id"] = take("/id");
            }
            Some("content-start" | "content-delta") => {
                let piece = take("/delta/message/content");
                if kind == "content-start" || !is_empty_part(&piece) {
                    add_content(index, &piece, reply);
                }
            }
            Some("tool-plan-delta") => {
                let plan = take("/delta/message/tool_plan");
                let plan = plan.as_str().unwrap_or_default();
                append(message, "tool_plan", plan);
                reply.show(ReplyEvent::Reasoning, plan);
            }
            Some("tool-call-start" | "tool-call-delta") => {
                let mut call = object(take("/delta/message/tool_calls"));
                call["index"] = index.into();
                add_call(call, reply);
            }
            Some("citation-start") => push(message, "citations", take("/delta/message/citations")),
            Some("message-end") => {
                reply.is_complete = true;
                reply.merge_end(take("/delta"), "finish_reason", stop_of);
            }
            None if !reply.has_started => return Err(InvalidReply::unexpected(NAME, "`message-start`", &event)),
            _ => return Ok(()),
        }
        reply.has_started = true;
        Ok(())
    }

    fn assemble(&self, mut reply: Assembly) -> Value {
        let is_content = |block: &Value| matches!(block["type"].as_str(), Some("text" | "thinking"));
        let (mut content, calls): (Vec<Value>, Vec<Value>) = reply.take_blocks().partition(is_content);
        content.sort_by_key(|part| part["index"].as_u64());
        content.iter_mut().filter_map(Value::as_object_mut).for_each(|part| drop(part.shift_remove("index")));
        // A part that has only begun when the stream was cut, which the API refuses.
        content.retain(|part| !is_empty_part(part));
        let message = &mut reply.body["message"];
        *message = object(message.take());
        for (field, list) in [("content", content), ("tool_calls", complete_calls(calls))] {
            if !list.is_empty() {
                message[field] = list.into();
            }
        }
        reply.body
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
        read_message(message, Rules::DEFAULT, names, &mut parsed);
        // Unlike OpenAI, Cohere has no content where there is none.
        if let Some(Value::Object(message)) = parsed.messages.first_mut() {
            message.retain(|_, value| !value.is_null());
        }
        parsed.stop(stop_reason(&body));
        Ok(parsed.with_metadata(body, "message"))
    }

    fn usage(&self) -> &'static UsageFields {
        &UsageFields {
            input: &["/usage/tokens/input_tokens"],
            output: &["/usage/tokens/output_tokens"],
            cached: &["/usage/cached_tokens"],
            reasoning: &[],
        }
    }

    fn write(&self, items: &[ResultItem<'_>]) -> Vec<Value> {
        ResultItem::write_each(
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

/// Adds a piece of the content of a streamed reply. Its field is the type of the part. Without an index, the piece
/// continues the latest part if that has its type.
fn add_content(index: Option<u64>, piece: &Value, reply: &mut Assembly) {
    for (field, event) in [("text", ReplyEvent::Text as fn(String) -> _), ("thinking", ReplyEvent::Reasoning)] {
        if piece[field].is_string() {
            let key = (index, Some("content".to_owned()));
            let latest = reply.blocks.last_key_value().filter(|(_, block)| block.json["type"] == field);
            let known = if index.is_some() { reply.with_key(&key) } else { latest.map(|(index, _)| *index) };
            let block = known.unwrap_or_else(|| reply.start(None, json!({ "type": field, "index": index }), None));
            reply.set_key(key, block);
            reply.append(block, field, &piece[field], event);
        }
    }
}
