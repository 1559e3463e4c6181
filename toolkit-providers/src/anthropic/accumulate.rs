//! A message from the events of its stream.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::messages::{NAME, stop_of};
use crate::reply::{Accumulate, Assembled, InvalidReply, ReplyEvent, append, keep_stop, object};

/// A message of which some events have arrived.
#[derive(Debug, Default)]
pub(super) struct Message {
    message: Option<Value>,
    blocks: BTreeMap<u64, Block>,
    n_calls: usize,
    is_complete: bool,
}

#[derive(Debug)]
struct Block {
    json: Value,
    /// The JSON text of the arguments, if this is a call.
    input: String,
    /// The number of calls before this one.
    call: usize,
}

impl Accumulate for Message {
    fn push(&mut self, mut event: Value, events: &mut Vec<ReplyEvent>) -> Result<(), InvalidReply> {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => self.message = Some(object(event["message"].take())),
            "content_block_start" => self.start(&mut event, events),
            "content_block_delta" => self.extend(&mut event, events),
            "message_delta" => {
                let message = self.message.get_or_insert_with(|| json!({}));
                let mut delta = event["delta"].take();
                if let Value::Object(fields) = &mut delta {
                    keep_stop(message.get("stop_reason"), fields, "stop_reason", stop_of);
                }
                merge(message, delta);
                merge(&mut message["usage"], event["usage"].take());
            }
            "message_stop" => self.is_complete = true,
            "error" => match &mut self.message {
                Some(message) => message["error"] = event["error"].take(),
                None => return Err(InvalidReply::unexpected(NAME, "message", &event)),
            },
            _ => {}
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Assembled, InvalidReply> {
        let mut message = self
            .message
            .filter(Value::is_object)
            .ok_or_else(|| InvalidReply::new(NAME, "the stream has no `message_start`"))?;
        let blocks = self.blocks.into_values().map(|Block { mut json, input, .. }| {
            if !input.trim_ascii().is_empty() {
                json["input"] = input.into();
            }
            json
        });
        message["content"] = blocks.collect();
        Ok(Assembled::new(message, self.is_complete))
    }
}

impl Message {
    fn start(&mut self, event: &mut Value, events: &mut Vec<ReplyEvent>) {
        let Some(index) = event["index"].as_u64() else { return };
        let json = event["content_block"].take();
        let call = self.n_calls;
        if json["type"] == "tool_use" {
            self.n_calls += 1;
            let name = json["name"].as_str().unwrap_or_default().to_owned();
            events.push(ReplyEvent::CallStarted { index: call, name });
        }
        if json.is_object() {
            self.blocks.insert(index, Block { json, input: String::new(), call });
        }
    }

    fn extend(&mut self, event: &mut Value, events: &mut Vec<ReplyEvent>) {
        let index = event["index"].as_u64();
        let Some(block) = index.and_then(|index| self.blocks.get_mut(&index)) else { return };
        let mut delta = event["delta"].take();
        let text = |delta: &Value, field: &str| delta[field].as_str().unwrap_or_default().to_owned();
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => {
                let text = text(&delta, "text");
                append(&mut block.json, "text", &text);
                events.push(ReplyEvent::Text(text));
            }
            "thinking_delta" => {
                let text = text(&delta, "thinking");
                append(&mut block.json, "thinking", &text);
                events.push(ReplyEvent::Reasoning(text));
            }
            "signature_delta" => block.json["signature"] = delta["signature"].take(),
            "input_json_delta" => {
                let json = text(&delta, "partial_json");
                block.input.push_str(&json);
                if block.json["type"] == "tool_use" {
                    events.push(ReplyEvent::Arguments { index: block.call, json });
                }
            }
            "citations_delta" => match &mut block.json["citations"] {
                Value::Array(citations) => citations.push(delta["citation"].take()),
                none => *none = json!([delta["citation"].take()]),
            },
            "compaction_delta" => block.json["content"] = delta["content"].take(),
            _ => {}
        }
    }
}

/// Adds the fields of an object to another one.
fn merge(value: &mut Value, fields: Value) {
    let Value::Object(fields) = fields else { return };
    match value {
        Value::Object(value) => value.extend(fields),
        other => *other = Value::Object(Map::from_iter(fields)),
    }
}
