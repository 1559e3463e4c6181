//! A message from the events of its stream.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::converse::{NAME, provider_kind, stop_of};
use crate::reply::{Accumulate, Assembled, InvalidReply, ReplyEvent, append, fields, keep_stop};

/// A message of which some events have arrived.
#[derive(Debug, Default)]
pub(super) struct Message {
    /// The reply without its message.
    body: Map<String, Value>,
    blocks: BTreeMap<u64, Block>,
    n_calls: usize,
    has_started: bool,
    is_complete: bool,
}

#[derive(Debug)]
struct Block {
    json: Value,
    /// The JSON text of the arguments, if this is a call.
    input: String,
    /// The number of calls before this one, if this is a call that this program makes.
    call: Option<usize>,
}

impl Accumulate for Message {
    fn push(&mut self, event: Value, events: &mut Vec<ReplyEvent>) -> Result<(), InvalidReply> {
        let (kind, mut payload) = typed(event);
        match kind.as_str() {
            "messageStart" => self.has_started = true,
            "contentBlockStart" => self.start(&mut payload, events),
            "contentBlockDelta" => self.extend(&mut payload, events),
            "messageStop" => {
                self.has_started = true;
                self.is_complete = true;
                self.add_fields(payload);
            }
            "metadata" => self.add_fields(payload),
            kind if kind.ends_with("Exception") => self.fail(kind, &payload)?,
            _ => {}
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Assembled, InvalidReply> {
        if !self.has_started {
            return Err(InvalidReply::new(NAME, "the stream has no `messageStart`"));
        }
        let blocks = self.blocks.into_values().map(|Block { mut json, input, .. }| {
            if !input.trim_ascii().is_empty() {
                child(&mut json, "toolUse")["input"] = input.into();
            }
            json
        });
        let content: Value = blocks.collect();
        let mut body = self.body;
        body.insert(
            "output".to_owned(),
            fields([("message", fields([("role", "assistant".into()), ("content", content)]))]),
        );
        Ok(Assembled::new(body.into(), self.is_complete))
    }
}

/// Splits an event into its type and its payload.
fn typed(event: Value) -> (String, Value) {
    match event {
        Value::Object(fields) if fields.len() == 1 && fields.values().all(Value::is_object) => {
            fields.into_iter().next().unwrap_or_default()
        }
        payload => (kind(&payload).to_owned(), payload),
    }
}

/// Returns the type of a payload, which the frame of the event contains and the JSON does not.
fn kind(payload: &Value) -> &'static str {
    let has = |field: &str| payload.get(field).is_some();
    match () {
        () if has("start") => "contentBlockStart",
        () if has("delta") => "contentBlockDelta",
        () if has("contentBlockIndex") => "contentBlockStop",
        () if has("stopReason") => "messageStop",
        () if has("usage") || has("metrics") => "metadata",
        () if has("role") => "messageStart",
        () if has("message") => "modelStreamErrorException",
        () => "",
    }
}

impl Message {
    fn start(&mut self, payload: &mut Value, events: &mut Vec<ReplyEvent>) {
        self.has_started = true;
        let Some(index) = payload["contentBlockIndex"].as_u64() else { return };
        let Value::Object(mut json) = payload["start"].take() else { return };
        // The start of a text is empty, or missing.
        if json.is_empty() {
            return;
        }
        let mut call = None;
        if let Some(tool_use) = json.get_mut("toolUse").filter(|tool_use| tool_use.is_object()) {
            tool_use["input"] = json!({});
            if provider_kind(tool_use).is_none() {
                let name = tool_use["name"].as_str().unwrap_or_default().to_owned();
                events.push(ReplyEvent::CallStarted { index: self.n_calls, name });
                call = Some(self.n_calls);
                self.n_calls += 1;
            }
        }
        self.blocks.insert(index, Block { json: json.into(), input: String::new(), call });
    }

    fn extend(&mut self, payload: &mut Value, events: &mut Vec<ReplyEvent>) {
        self.has_started = true;
        let Some(index) = payload["contentBlockIndex"].as_u64() else { return };
        let Value::Object(delta) = payload["delta"].take() else { return };
        for (kind, delta) in delta {
            if kind == "toolUse" {
                let Some(block) = self.blocks.get_mut(&index) else { continue };
                let json = delta["input"].as_str().unwrap_or_default();
                block.input.push_str(json);
                if let Some(index) = block.call.filter(|_| !json.is_empty()) {
                    events.push(ReplyEvent::Arguments { index, json: json.to_owned() });
                }
                continue;
            }
            let new = || Block { json: json!({}), input: String::new(), call: None };
            let block = &mut self.blocks.entry(index).or_insert_with(new).json;
            match kind.as_str() {
                "text" => {
                    let text = delta.as_str().unwrap_or_default();
                    append_text(block, text);
                    events.extend(shown(text).map(ReplyEvent::Text));
                }
                "citation" => append_citation(block, delta),
                "reasoningContent" => {
                    events.extend(delta["text"].as_str().and_then(shown).map(ReplyEvent::Reasoning));
                    append_reasoning(child(block, "reasoningContent"), delta);
                }
                "toolResult" => push_all(child(block, "toolResult"), "content", delta),
                "image" => {
                    if let (Value::Object(image), Value::Object(fields)) = (child(block, "image"), delta) {
                        image.extend(fields);
                    }
                }
                _ => {}
            }
        }
    }

    fn add_fields(&mut self, payload: Value) {
        let Value::Object(mut fields) = payload else { return };
        // Padding, against conclusions from the length of an event.
        fields.remove("p");
        keep_stop(self.body.get("stopReason"), &mut fields, "stopReason", stop_of);
        self.body.extend(fields);
    }

    fn fail(&mut self, kind: &str, payload: &Value) -> Result<(), InvalidReply> {
        let message = payload["message"].as_str().unwrap_or(kind);
        if !self.has_started {
            return Err(InvalidReply::unexpected(NAME, "`messageStart`", &json!({ "message": message })));
        }
        self.body.insert("error".to_owned(), json!({ "type": kind, "message": message }));
        Ok(())
    }
}

fn shown(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// Adds text to a block, which has citations if any of them arrived before.
fn append_text(block: &mut Value, text: &str) {
    match block.pointer_mut("/citationsContent/content/0").filter(|cited| cited.is_object()) {
        Some(cited) => append(cited, "text", text),
        None => append(block, "text", text),
    }
}

fn append_citation(block: &mut Value, citation: Value) {
    if block.get("citationsContent").is_none() {
        let text = block.get("text").cloned().unwrap_or_else(|| "".into());
        *block = json!({ "citationsContent": { "content": [{ "text": text }] } });
    }
    push_all(child(block, "citationsContent"), "citations", json!([citation]));
}

fn append_reasoning(reasoning: &mut Value, delta: Value) {
    let Value::Object(delta) = delta else { return };
    for (kind, delta) in delta {
        match (kind.as_str(), delta) {
            ("text" | "signature", Value::String(text)) => append(child(reasoning, "reasoningText"), &kind, &text),
            ("redactedContent", redacted) => reasoning["redactedContent"] = redacted,
            _ => {}
        }
    }
}

/// Returns a field of an object. The field becomes an object if it is not one.
fn child<'v>(object: &'v mut Value, field: &str) -> &'v mut Value {
    let child = &mut object[field];
    if !child.is_object() {
        *child = Value::Object(Map::new());
    }
    child
}

fn push_all(object: &mut Value, field: &str, items: Value) {
    match (&mut object[field], items) {
        (Value::Array(list), Value::Array(items)) => list.extend(items),
        (list, items) => *list = items,
    }
}
