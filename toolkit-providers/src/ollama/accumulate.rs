//! A reply from the lines of its stream.

use serde_json::{Value, json};

use super::chat::{NAME, stop_of};
use crate::reply::{Accumulate, Assembled, InvalidReply, ReplyEvent, append, keep_stop};

/// A reply of which some lines have arrived.
#[derive(Debug)]
pub(super) struct Chunks {
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

fn show(text: String, events: &mut Vec<ReplyEvent>, event: fn(String) -> ReplyEvent) {
    if !text.is_empty() {
        events.push(event(text));
    }
}
