//! A completion from the chunks of its stream.

use serde_json::{Value, json};

use super::content::{add_content, add_details, add_fields, show_reasoning};
use super::fragments::{Call, Calls};
use super::{error_message, stop_of};
use crate::reply::{Accumulate, Assembled, InvalidReply, ReplyEvent, append, keep_stop};

/// A completion of which some chunks have arrived. Only its first choice is read.
#[derive(Debug)]
pub(crate) struct Completion {
    api: &'static str,
    body: Value,
    /// The fields of the choice, without its message.
    choice: Value,
    message: Value,
    calls: Calls,
    legacy_call: Option<Call>,
    has_choice: bool,
    /// True if a server sends a reason that is empty, perhaps with each chunk.
    has_empty_reason: bool,
    is_complete: bool,
}

impl Completion {
    pub(crate) fn new(api: &'static str) -> Self {
        Self {
            api,
            body: json!({ "object": "chat.completion" }),
            choice: json!({ "index": 0 }),
            message: json!({}),
            calls: Calls::default(),
            legacy_call: None,
            has_choice: false,
            has_empty_reason: false,
            is_complete: false,
        }
    }

    fn add_choice(&mut self, mut choice: Value, events: &mut Vec<ReplyEvent>) {
        if choice["index"].as_u64().is_some_and(|index| index != 0) {
            return;
        }
        self.has_choice = true;
        if let Some(reason) = choice["finish_reason"].as_str().filter(|reason| *reason != "null") {
            self.is_complete |= !reason.is_empty();
            self.has_empty_reason |= reason.is_empty();
        }
        let Value::Object(fields) = &mut choice else { return };
        keep_stop(self.choice.get("finish_reason"), fields, "finish_reason", stop_of);
        let delta = fields.remove("delta").filter(Value::is_object);
        // Some servers send a message as a whole. MiniMax repeats it after its parts.
        let message = fields.remove("message").filter(|_| !self.has_message());
        add_fields(&mut self.choice, choice, &[]);
        if let Some(delta) = delta.or(message) {
            self.add_delta(delta, events);
        }
    }

    fn has_message(&self) -> bool {
        self.message.as_object().is_some_and(|message| !message.is_empty()) || !self.calls.is_empty()
    }

    fn add_delta(&mut self, delta: Value, events: &mut Vec<ReplyEvent>) {
        show_reasoning(&delta, events);
        let Value::Object(fields) = delta else { return };
        for (field, value) in fields {
            match (field.as_str(), value) {
                // Padding of a chunk, and the part of the message that the chunk is from.
                ("obfuscation" | "padding" | "p" | "index" | "channel", _) | (_, Value::Null) => {}
                ("content", value) => add_content(&mut self.message, value, events),
                ("tool_calls", Value::Array(fragments)) => {
                    fragments.into_iter().for_each(|fragment| self.calls.add(fragment, events));
                }
                ("function_call", value) => {
                    let call = self.legacy_call.get_or_insert_with(|| Call::new(0));
                    call.add_function(value, events);
                }
                ("reasoning_content" | "reasoning" | "thinking" | "refusal", Value::String(text)) => {
                    append(&mut self.message, &field, &text);
                }
                ("reasoning_details", value) => add_details(&mut self.message, value),
                (_, value) => {
                    let fields = Value::Object([(field, value)].into_iter().collect());
                    // The texts of `audio`.
                    add_fields(&mut self.message, fields, &["data", "transcript"]);
                }
            }
        }
    }
}

impl Accumulate for Completion {
    fn push(&mut self, mut event: Value, events: &mut Vec<ReplyEvent>) -> Result<(), InvalidReply> {
        let is_error = event["object"] == "error" || error_message(&event["error"]).is_some();
        if is_error && !self.has_choice && event.get("choices").is_none() {
            return Err(InvalidReply::unexpected(self.api, "`choices`", &event));
        }
        if event["object"] == "error" {
            self.body["error"] = event;
            return Ok(());
        }
        let Value::Object(fields) = &mut event else { return Ok(()) };
        if let Some(Value::Array(choices)) = fields.remove("choices") {
            choices.into_iter().for_each(|choice| self.add_choice(choice, events));
        }
        for (field, value) in std::mem::take(fields) {
            let is_padding = matches!(field.as_str(), "object" | "obfuscation" | "p");
            if !is_padding && !value.is_null() && value != "" {
                self.body[&field] = value;
            }
        }
        Ok(())
    }

    fn end(&mut self) {
        self.is_complete |= self.has_empty_reason;
    }

    fn finish(self: Box<Self>) -> Result<Assembled, InvalidReply> {
        let Self { api, mut body, mut choice, mut message, calls, legacy_call, has_choice, is_complete, .. } = *self;
        if !has_choice {
            return Err(InvalidReply::new(api, "the stream has no `choices`"));
        }
        let calls = calls.finish();
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        if let Some(call) = legacy_call {
            message["function_call"] = call.into_function();
        }
        choice["message"] = message;
        body["choices"] = Value::Array(vec![choice]);
        Ok(Assembled::new(body, is_complete))
    }
}
