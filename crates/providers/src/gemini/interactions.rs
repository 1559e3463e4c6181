//! Replies and results of Interactions, and the assembly of a streamed interaction.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::reply::{
    Accumulate, Answer, Assembled, CallArguments, Format, InvalidReply, Item, Parsed, Part, ReplyEvent, StopReason,
    WrittenCall, append, fields, flagged, object, show, stated,
};
use toolkit::catalog::ExportedNames;

/// The format of Interactions.
#[derive(Debug)]
pub(super) struct Interactions;

const NAME: &str = "Gemini Interactions";

/// The types of media that a result may contain.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];
const AUDIO_TYPES: [&str; 5] = ["audio/wav", "audio/mp3", "audio/mpeg", "audio/ogg", "audio/flac"];

impl Format for Interactions {
    fn name(&self) -> &'static str {
        NAME
    }

    fn accumulate(&self) -> Box<dyn Accumulate> {
        Box::new(Interaction::default())
    }

    fn read(&self, reply: Assembled, names: &ExportedNames) -> Result<Parsed, InvalidReply> {
        let mut body = reply.body;
        let Some(Value::Array(mut steps)) = body.get_mut("steps").map(Value::take) else {
            return Err(InvalidReply::unexpected(NAME, "`steps`", &body));
        };
        // The input of the request comes first, if it is there.
        let is_input = |step: &Value| matches!(step["type"].as_str(), Some("user_input" | "function_result"));
        steps.drain(..steps.iter().rposition(is_input).map_or(0, |last| last + 1));
        steps.retain(|step| step["type"].is_string());
        let mut parsed = Parsed::new(&body["id"]);
        let mut error = None;
        steps.iter_mut().for_each(|step| read_step(step, names, &mut parsed, &mut error));
        steps
            .retain(|step| step["type"] != "model_output" || step["content"].as_array().is_some_and(|c| !c.is_empty()));
        parsed.stop(stop_reason(&body, error));
        parsed.messages = steps;
        Ok(parsed.with_metadata(body, "steps"))
    }

    fn write(&self, items: &[Item<'_>]) -> Vec<Value> {
        Item::write_each(items, step)
    }
}

fn read_step(step: &mut Value, names: &ExportedNames, parsed: &mut Parsed, error: &mut Option<String>) {
    let field = |name: &str| step.get(name).and_then(Value::as_str);
    match field("type").unwrap_or_default() {
        "model_output" => {
            if let Some(status) = step.get("error").filter(|status| status.is_object()) {
                *error = Some(status["message"].as_str().unwrap_or_default().to_owned());
            }
            let Some(Value::Array(content)) = step.get_mut("content") else { return };
            content.retain(|part| part["type"] != "text" || part["text"].as_str().is_some_and(|text| !text.is_empty()));
            content.iter().for_each(|part| parsed.text.push_str(part["text"].as_str().unwrap_or_default()));
        }
        "thought" => {
            let parts = step["summary"].as_array().into_iter().flatten();
            parts.for_each(|part| parsed.reasoning.push_str(part["text"].as_str().unwrap_or_default()));
        }
        "function_call" => {
            let arguments = CallArguments::from_value(step.get("arguments"));
            let written = WrittenCall::new(field("id"), field("name").unwrap_or_default(), arguments);
            let call = parsed.push(WrittenCall { name_characters: "_-.:", ..written }, names);
            step["id"] = call.id.as_str().into();
            step["name"] = call.sent_name.as_str().into();
            CallArguments::make_object(step, "arguments");
        }
        kind if kind.ends_with("_call") => parsed.push_provider_call(kind, field("id"), false),
        // Other steps are only repeated.
        _ => {}
    }
}

fn stop_reason(body: &Value, error: Option<String>) -> StopReason {
    let stop = stop_of(&stated(body.get("status")));
    let message = |error: &Value| error["message"].as_str().map(str::to_owned);
    match (stop, error.or_else(|| message(&body["error"]))) {
        (_, Some(error)) => StopReason::Failed(error),
        (stop, None) => stop,
    }
}

/// Reads a value of `status`. A complete interaction has one.
fn stop_of(status: &str) -> StopReason {
    match status {
        "completed" | "requires_action" => StopReason::End,
        "" | "incomplete" | "budget_exceeded" => StopReason::Truncated,
        // The next request continues with the `continuation_token`, which is part of the metadata.
        "requires_continuation" => StopReason::Paused,
        "failed" | "cancelled" => StopReason::Failed(status.to_owned()),
        status => StopReason::Other(status.to_owned()),
    }
}

fn step(answer: &Answer<'_>) -> Value {
    let mut step = fields([
        ("type", "function_result".into()),
        ("call_id", answer.call.id.as_str().into()),
        ("name", answer.call.sent_name.as_str().into()),
        ("result", result(answer)),
    ]);
    if answer.is_error {
        step["is_error"] = true.into();
    }
    step
}

/// Returns an object, a text, or a list of contents if there are media.
fn result(answer: &Answer<'_>) -> Value {
    let text = |part: &Part| json!({ "type": "text", "text": part.to_text() });
    match &answer.parts[..] {
        [Part::Json(json)] if json.starts_with('{') => {
            serde_json::from_str(json).unwrap_or_else(|_| json.as_str().into())
        }
        parts if parts.iter().any(|part| media(part).is_some()) => {
            let is_blank = |part: &Part| part.to_text().trim().is_empty();
            let parts = parts.iter().filter(|part| !is_blank(part));
            parts.map(|part| media(part).unwrap_or_else(|| text(part))).collect()
        }
        parts => {
            let texts: Vec<String> = parts.iter().map(Part::to_text).collect();
            flagged(false, texts.join("\n")).into()
        }
    }
}

fn media(part: &Part) -> Option<Value> {
    let (kind, mime_type, data) = part.media()?;
    let kind = match kind {
        "image" if IMAGE_TYPES.contains(&mime_type) => "image",
        "audio" if AUDIO_TYPES.contains(&mime_type) => "audio",
        "file" if mime_type == "application/pdf" => "document",
        _ => return None,
    };
    Some(json!({ "type": kind, "mime_type": mime_type, "data": data }))
}

// An interaction from the events of its stream.

/// An interaction of which some events have arrived.
#[derive(Debug, Default)]
struct Interaction {
    body: Map<String, Value>,
    steps: BTreeMap<u64, Step>,
    n_calls: usize,
    is_complete: bool,
}

#[derive(Debug)]
struct Step {
    json: Value,
    /// The JSON text of the arguments, if this is a call.
    arguments: String,
    /// The number of calls before this one.
    call: usize,
}

impl Accumulate for Interaction {
    fn push(&mut self, mut event: Value, events: &mut Vec<ReplyEvent>) -> Result<(), InvalidReply> {
        let mut take = |field: &str| event.get_mut(field).map(Value::take).unwrap_or_default();
        let (kind, index) = (take("event_type"), take("index").as_u64());
        match kind.as_str() {
            Some("step.start") => self.start(index, object(take("step")), events),
            Some("step.delta") => self.extend(index, object(take("delta")), events),
            Some("error") => drop(self.body.insert("error".to_owned(), take("error"))),
            // Later states are those of another request.
            Some(_) if self.is_complete => {}
            Some(kind @ ("interaction.created" | "interaction.completed")) => {
                self.is_complete = kind == "interaction.completed";
                if let Value::Object(mut fields) = take("interaction") {
                    fields.retain(|field, value| field != "steps" && !value.is_null());
                    if !self.is_complete {
                        fields.remove("status");
                    }
                    self.body.append(&mut fields);
                }
            }
            Some("interaction.status_update") => {
                let status = take("status");
                // A stream that ends in the middle is not in progress any longer.
                if !matches!(stop_of(&stated(Some(&status))), StopReason::Other(_)) {
                    self.body.insert("status".to_owned(), status);
                }
            }
            None if self.body.is_empty() => return Err(InvalidReply::unexpected(NAME, "`steps`", &event)),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self) {
        let status = stated(self.body.get("status"));
        self.is_complete |= stop_of(&status).runs_calls();
    }

    fn finish(self: Box<Self>) -> Result<Assembled, InvalidReply> {
        let Self { mut body, steps, is_complete, .. } = *self;
        if body.is_empty() && steps.is_empty() {
            return Err(InvalidReply::new(NAME, "the stream has no events"));
        }
        let steps = steps.into_values().map(|Step { mut json, arguments, .. }| {
            if !arguments.trim_ascii().is_empty() {
                json["arguments"] = arguments.into();
            }
            json
        });
        body.insert("steps".to_owned(), steps.collect());
        Ok(Assembled::new(body.into(), is_complete))
    }
}

impl Interaction {
    fn start(&mut self, index: Option<u64>, json: Value, events: &mut Vec<ReplyEvent>) {
        let next = || self.steps.last_key_value().map_or(0, |(index, _)| index.saturating_add(1));
        let index = index.unwrap_or_else(next);
        let call = self.n_calls;
        if json["type"] == "function_call" {
            self.n_calls += 1;
            let name = json["name"].as_str().unwrap_or_default().to_owned();
            events.push(ReplyEvent::CallStarted { index: call, name });
        }
        let parts = json["content"].as_array().into_iter().flatten();
        parts.for_each(|part| show(part["text"].as_str().unwrap_or_default(), events, ReplyEvent::Text));
        self.steps.insert(index, Step { json, arguments: String::new(), call });
    }

    fn extend(&mut self, index: Option<u64>, mut delta: Value, events: &mut Vec<ReplyEvent>) {
        let step = match index {
            Some(index) => self.steps.get_mut(&index),
            None => self.steps.values_mut().next_back(),
        };
        let Some(Step { json, arguments, call }) = step else { return };
        match delta["type"].as_str().unwrap_or_default() {
            "arguments_delta" => {
                let piece = delta["arguments"].as_str().unwrap_or_default();
                arguments.push_str(piece);
                if json["type"] == "function_call" {
                    events.push(ReplyEvent::Arguments { index: *call, json: piece.to_owned() });
                }
            }
            "text" => {
                show(delta["text"].as_str().unwrap_or_default(), events, ReplyEvent::Text);
                add_part(json, "content", delta);
            }
            "thought_summary" => {
                let part = delta["content"].take();
                show(part["text"].as_str().unwrap_or_default(), events, ReplyEvent::Reasoning);
                add_part(json, "summary", part);
            }
            "thought_signature" => json["signature"] = delta["signature"].take(),
            "text_annotation_delta" => {
                let content = json.get_mut("content").and_then(Value::as_array_mut);
                let last = content.and_then(|content| content.last_mut()).filter(|last| last.is_object());
                if let (Some(last), Value::Array(added)) = (last, delta["annotations"].take()) {
                    match &mut last["annotations"] {
                        Value::Array(annotations) => annotations.extend(added),
                        none => *none = added.into(),
                    }
                }
            }
            "image" | "audio" | "video" | "document" => add_part(json, "content", delta),
            // The fields of a call of the provider, or of its result.
            _ => {
                let fields = delta.as_object_mut().map(std::mem::take).unwrap_or_default();
                fields.into_iter().filter(|(field, _)| field != "type").for_each(|(field, value)| json[&field] = value);
            }
        }
    }
}

/// Adds a part to a list in a field. Text continues the text before it.
fn add_part(json: &mut Value, field: &str, part: Value) {
    if !json[field].is_array() {
        json[field] = json!([]);
    }
    let Some(parts) = json[field].as_array_mut() else { return };
    match (parts.last_mut().filter(|last| last["type"] == "text" && part["type"] == "text"), part["text"].as_str()) {
        (Some(last), Some(text)) => append(last, "text", text),
        _ if part.is_object() => parts.push(part),
        _ => {}
    }
}
