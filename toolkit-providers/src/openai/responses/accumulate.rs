//! A response from the events of its stream.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::NAME;
use crate::reply::{Accumulate, Assembled, InvalidReply, ReplyEvent, append, object};

/// A response of which some events have arrived.
#[derive(Debug, Default)]
pub(super) struct Response {
    response: Option<Value>,
    /// By `output_index`: some gateways change the id of an item between its events.
    items: BTreeMap<u64, Item>,
    n_calls: usize,
    is_complete: bool,
}

#[derive(Debug)]
struct Item {
    json: Value,
    /// The number of calls before this one.
    call: usize,
    is_done: bool,
}

impl Accumulate for Response {
    fn push(&mut self, mut event: Value, events: &mut Vec<ReplyEvent>) -> Result<(), InvalidReply> {
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        match kind.as_str() {
            // The first end of the response stands.
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.created"
            | "response.in_progress"
            | "response.queued"
            | "error"
                if self.is_complete => {}
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.response = Some(object(event["response"].take()));
                self.is_complete = true;
            }
            "response.created" | "response.in_progress" | "response.queued" => {
                self.response = Some(object(event["response"].take()));
            }
            "response.output_item.added" => self.start(&mut event, events),
            "response.output_item.done" => {
                let item = self.item(&event);
                item.json = object(event["item"].take());
                item.is_done = true;
            }
            "error" => match &mut self.response {
                Some(response) => {
                    response["status"] = "failed".into();
                    response["error"] = match event.get_mut("error") {
                        Some(error) => error.take(),
                        None => json!({ "message": event["message"].take(), "code": event["code"].take() }),
                    };
                    self.is_complete = true;
                }
                None => return Err(InvalidReply::unexpected(NAME, "response", &event)),
            },
            kind => self.extend(kind, &event, events),
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Assembled, InvalidReply> {
        let mut response = match self.response {
            Some(response) => response,
            None if !self.items.is_empty() => json!({}),
            None => return Err(InvalidReply::new(NAME, "the stream has no response")),
        };
        let output = response["output"].as_array().filter(|output| output.len() >= self.items.len());
        let is_whole = self.items.values().all(|item| item.is_done);
        // The last event repeats the items, but some gateways leave them out.
        if output.is_none_or(|output| output.is_empty() || (is_whole && output.len() == self.items.len())) {
            response["output"] = self.items.into_values().map(|item| item.json).collect();
        }
        Ok(Assembled::new(response, self.is_complete))
    }
}

impl Response {
    /// Returns the item of an event.
    fn item(&mut self, event: &Value) -> &mut Item {
        let latest = || self.items.last_key_value().map_or(0, |(index, _)| *index);
        let index = event["output_index"].as_u64().unwrap_or_else(latest);
        self.items.entry(index).or_insert_with(|| Item { json: json!({}), call: 0, is_done: false })
    }

    fn start(&mut self, event: &mut Value, events: &mut Vec<ReplyEvent>) {
        let json = object(event["item"].take());
        let call = self.n_calls;
        if matches!(json["type"].as_str(), Some("function_call" | "custom_tool_call")) {
            self.n_calls += 1;
            let name = json["name"].as_str().unwrap_or_default().to_owned();
            events.push(ReplyEvent::CallStarted { index: call, name });
        }
        *self.item(event) = Item { json, call, is_done: false };
    }

    fn extend(&mut self, kind: &str, event: &Value, events: &mut Vec<ReplyEvent>) {
        let delta = event["delta"].as_str().unwrap_or_default();
        let shown = || delta.to_owned();
        match kind {
            "response.output_text.delta" => {
                append_part(&mut self.item(event).json, ("content", "output_text", "text"), delta);
                events.push(ReplyEvent::Text(shown()));
            }
            "response.refusal.delta" => {
                append_part(&mut self.item(event).json, ("content", "refusal", "refusal"), delta);
                events.push(ReplyEvent::Text(shown()));
            }
            "response.reasoning_summary_text.delta" => {
                append_part(&mut self.item(event).json, ("summary", "summary_text", "text"), delta);
                events.push(ReplyEvent::Reasoning(shown()));
            }
            "response.reasoning_text.delta" => {
                append_part(&mut self.item(event).json, ("content", "reasoning_text", "text"), delta);
                events.push(ReplyEvent::Reasoning(shown()));
            }
            "response.function_call_arguments.delta" => self.extend_call("arguments", event, events),
            "response.custom_tool_call_input.delta" => self.extend_call("input", event, events),
            "response.function_call_arguments.done" => {
                self.item(event).json["arguments"] = event["arguments"].clone();
            }
            "response.custom_tool_call_input.done" => self.item(event).json["input"] = event["input"].clone(),
            _ => {}
        }
    }

    fn extend_call(&mut self, field: &str, event: &Value, events: &mut Vec<ReplyEvent>) {
        let json = event["delta"].as_str().unwrap_or_default().to_owned();
        let item = self.item(event);
        append(&mut item.json, field, &json);
        events.push(ReplyEvent::Arguments { index: item.call, json });
    }
}

/// Appends text to the last part of an item. The item is replaced by a complete one if its stream is complete.
fn append_part(item: &mut Value, (list, kind, field): (&str, &str, &str), text: &str) {
    if !item[list].is_array() {
        item[list] = json!([]);
    }
    let Some(parts) = item[list].as_array_mut() else { return };
    match parts.last_mut().filter(|part| part["type"] == kind) {
        Some(part) => append(part, field, text),
        None if kind == "output_text" => parts.push(json!({ "type": kind, field: text, "annotations": [] })),
        None => parts.push(json!({ "type": kind, field: text })),
    }
}
