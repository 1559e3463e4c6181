//! Replies and results of Mistral's Conversations, and the assembly of a streamed response.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::openai::chat::{add_content, read_part};
use crate::reply::{
    Accumulate, Assembled, CallArguments, Format, InvalidReply, Item, Parsed, ReplyEvent, StopReason, WrittenCall,
    append,
};
use toolkit::catalog::ExportedNames;

/// The format of Conversations.
#[derive(Debug)]
pub(super) struct Conversations;

const NAME: &str = "Mistral Conversations";

impl Format for Conversations {
    fn name(&self) -> &'static str {
        NAME
    }

    fn accumulate(&self) -> Box<dyn Accumulate> {
        Box::new(Response::default())
    }

    fn read(&self, reply: Assembled, names: &ExportedNames) -> Result<Parsed, InvalidReply> {
        let mut body = reply.body;
        let Some(Value::Array(mut outputs)) = body.get_mut("outputs").map(Value::take) else {
            return Err(InvalidReply::unexpected(NAME, "`outputs`", &body));
        };
        outputs.retain(|entry| entry["type"].is_string());
        // All responses of a conversation have its id, and an entry has an id of its own.
        let first = outputs.first().map_or(&Value::Null, |entry| &entry["id"]);
        let mut parsed = Parsed::new(&json!([body["conversation_id"], first]));
        let mut refusal = None;
        outputs.iter_mut().for_each(|entry| read_entry(entry, names, &mut parsed, &mut refusal));
        parsed.stop(match (refusal, body.get("error")) {
            (Some(refusal), _) => StopReason::Refused(refusal),
            (None, Some(error)) => StopReason::Failed(error["message"].as_str().unwrap_or_default().to_owned()),
            (None, None) => StopReason::End,
        });
        parsed.messages = outputs;
        Ok(parsed.with_metadata(body, "outputs"))
    }

    fn write(&self, items: &[Item<'_>]) -> Vec<Value> {
        Item::write_each(items, |answer| {
            json!({
                "object": "entry",
                "type": "function.result",
                "tool_call_id": answer.call.id,
                "result": answer.to_text(),
            })
        })
    }
}

fn read_entry(entry: &mut Value, names: &ExportedNames, parsed: &mut Parsed, refusal: &mut Option<String>) {
    let field = |name: &str| entry.get(name).and_then(Value::as_str);
    match field("type").unwrap_or_default() {
        "message.output" => match &entry["content"] {
            Value::String(text) => parsed.text.push_str(text),
            Value::Array(parts) => parts.iter().for_each(|part| read_part(part, parsed, refusal)),
            _ => {}
        },
        // A call that waits for a confirmation, which the host sends in another field of the request.
        kind @ "function.call" if !matches!(field("confirmation_status"), None | Some("allowed")) => {
            let arguments = CallArguments::from_value(entry.get("arguments"));
            parsed.push_host_call(kind, field("tool_call_id"), &arguments);
        }
        "function.call" => {
            let arguments = CallArguments::from_value(entry.get("arguments"));
            let name = field("name").unwrap_or_default();
            let call = parsed.push(WrittenCall::new(field("tool_call_id"), name, arguments), names);
            entry["tool_call_id"] = call.id.as_str().into();
            entry["name"] = call.sent_name.as_str().into();
            if !entry["arguments"].is_object() {
                entry["arguments"] = json!(call.arguments.to_object_text());
            }
        }
        kind @ "tool.execution" => parsed.push_provider_call(kind, field("id"), false),
        // Other entries are only repeated.
        _ => {}
    }
}

// A response from the events of its stream.

/// A response of which some events have arrived.
#[derive(Debug, Default)]
struct Response {
    body: Map<String, Value>,
    entries: Vec<Entry>,
    /// The places of the entries by their index and id.
    places: HashMap<(u64, String), usize>,
    n_calls: usize,
    is_started: bool,
    is_complete: bool,
}

#[derive(Debug)]
struct Entry {
    json: Value,
    /// The number of calls before this one.
    call: usize,
}

impl Accumulate for Response {
    fn push(&mut self, event: Value, events: &mut Vec<ReplyEvent>) -> Result<(), InvalidReply> {
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        let Some((kind, change)) = kind.rsplit_once('.') else {
            let is_first = !self.is_started && self.entries.is_empty();
            return if is_first { Err(InvalidReply::unexpected(NAME, "`outputs`", &event)) } else { Ok(()) };
        };
        self.is_started = true;
        match (kind, change, event) {
            ("conversation.response", "error", error) => drop(self.body.insert("error".to_owned(), error)),
            ("conversation.response", change, Value::Object(mut fields)) => {
                self.is_complete |= change == "done";
                fields.retain(|field, _| matches!(field.as_str(), "conversation_id" | "usage"));
                self.body.append(&mut fields);
            }
            (kind, _, Value::Object(fields)) => self.add(kind, fields, events),
            _ => {}
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Assembled, InvalidReply> {
        let Self { mut body, entries, is_started, is_complete, .. } = *self;
        if !is_started {
            return Err(InvalidReply::new(NAME, "the stream has no events"));
        }
        body.insert("outputs".to_owned(), entries.into_iter().map(|entry| entry.json).collect());
        Ok(Assembled::new(body.into(), is_complete))
    }
}

impl Response {
    /// Adds the fields of an event to its entry.
    fn add(&mut self, kind: &str, mut fields: Map<String, Value>, events: &mut Vec<ReplyEvent>) {
        let index = fields.remove("output_index").and_then(|index| index.as_u64()).unwrap_or_default();
        fields.retain(|field, _| !matches!(field.as_str(), "type" | "content_index"));
        let id = ["id", "tool_call_id"].into_iter().find_map(|field| fields.get(field)?.as_str());
        let id = id.unwrap_or_default().to_owned();
        let place = *self.places.entry((index, id)).or_insert_with(|| {
            let json = json!({ "object": "entry", "type": kind });
            self.entries.push(Entry { json, call: self.n_calls });
            if kind == "function.call" {
                let name = fields.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
                events.push(ReplyEvent::CallStarted { index: self.n_calls, name });
                self.n_calls += 1;
            }
            self.entries.len() - 1
        });
        let Entry { json: entry, call } = &mut self.entries[place];
        for (field, value) in fields {
            match (field.as_str(), value) {
                (_, Value::Null) => {}
                ("content", piece @ Value::Object(_)) => add_content(entry, json!([piece]), events),
                ("content", piece) => add_content(entry, piece, events),
                ("arguments", Value::String(piece)) => {
                    append(entry, "arguments", &piece);
                    if kind == "function.call" {
                        events.push(ReplyEvent::Arguments { index: *call, json: piece });
                    }
                }
                (_, value) => entry[&field] = value,
            }
        }
    }
}
