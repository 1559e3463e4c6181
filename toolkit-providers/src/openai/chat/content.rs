//! The content of a message and other fields, from pieces.

use serde_json::{Value, json};

use super::message::REASONING;
use crate::reply::{ReplyEvent, append};

/// Adds a piece of the content, which is text or a list of parts.
pub(super) fn add_content(message: &mut Value, piece: Value, events: &mut Vec<ReplyEvent>) {
    match piece {
        Value::String(text) => {
            match message.get_mut("content") {
                Some(Value::Array(_)) if text.is_empty() => {}
                Some(Value::Array(parts)) => add_part(parts, json!({ "type": "text", "text": text })),
                _ => append(message, "content", &text),
            }
            show(text, events, ReplyEvent::Text);
        }
        Value::Array(pieces) => {
            let content = message["content"].take();
            message["content"] = match content {
                Value::Array(parts) => Value::Array(parts),
                Value::String(text) if !text.is_empty() => json!([{ "type": "text", "text": text }]),
                _ => json!([]),
            };
            let Some(parts) = message["content"].as_array_mut() else { return };
            for piece in pieces {
                if piece["type"] == "thinking" {
                    show(thinking(&piece), events, ReplyEvent::Reasoning);
                } else {
                    show(piece["text"].as_str().unwrap_or_default().to_owned(), events, ReplyEvent::Text);
                }
                add_part(parts, piece);
            }
        }
        _ => {}
    }
}

/// Reports the reasoning of a piece of a message, which some servers send twice.
pub(super) fn show_reasoning(delta: &Value, events: &mut Vec<ReplyEvent>) {
    let text = REASONING.iter().find_map(|field| delta[*field].as_str().filter(|text| !text.is_empty()));
    show(text.unwrap_or_default().to_owned(), events, ReplyEvent::Reasoning);
}

/// Adds a piece of OpenRouter's `reasoning_details`. Pieces with the same index and type are parts of one text.
pub(super) fn add_details(message: &mut Value, pieces: Value) {
    let Value::Array(pieces) = pieces else { return };
    if !message["reasoning_details"].is_array() {
        message["reasoning_details"] = json!([]);
    }
    let Some(details) = message["reasoning_details"].as_array_mut() else { return };
    for piece in pieces {
        match details.last_mut().filter(|last| last["index"] == piece["index"] && last["type"] == piece["type"]) {
            Some(last) if last.is_object() => add_fields(last, piece, &["text", "summary", "data"]),
            _ => details.push(piece),
        }
    }
}

/// Adds the fields of an object to another one: texts of the listed fields and lists continue those that are there,
/// and other values replace them.
pub(super) fn add_fields(object: &mut Value, fields: Value, texts: &[&str]) {
    let Value::Object(fields) = fields else { return };
    if !object.is_object() {
        *object = json!({});
    }
    for (field, value) in fields {
        match (&mut object[&field], value) {
            (_, Value::Null) => {}
            (before, Value::String(text)) if text.is_empty() && !before.is_null() => {}
            (Value::String(before), Value::String(text)) if texts.contains(&field.as_str()) => before.push_str(&text),
            (Value::Array(before), Value::Array(items)) => before.extend(items),
            (before @ Value::Object(_), value @ Value::Object(_)) => add_fields(before, value, texts),
            (before, value) => *before = value,
        }
    }
}

fn add_part(parts: &mut Vec<Value>, piece: Value) {
    let Some(last) = parts.last_mut().filter(|last| last["type"] == piece["type"]) else { return parts.push(piece) };
    match (piece["type"].as_str(), &piece["thinking"]) {
        (Some("text"), _) => append(last, "text", piece["text"].as_str().unwrap_or_default()),
        (Some("thinking"), Value::Array(_)) if last["thinking"].is_array() => {
            let text = thinking(&piece);
            match last["thinking"].as_array_mut().and_then(|parts| parts.last_mut()) {
                Some(last) if last.is_object() => append(last, "text", &text),
                _ => last["thinking"] = json!([{ "type": "text", "text": text }]),
            }
        }
        (Some("thinking"), Value::String(text)) if last["thinking"].is_string() => append(last, "thinking", text),
        _ => parts.push(piece),
    }
}

/// Returns the text of a part of Mistral's reasoning.
fn thinking(part: &Value) -> String {
    let texts = part["thinking"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
    part["thinking"].as_str().map_or_else(|| texts.collect(), str::to_owned)
}

fn show(text: String, events: &mut Vec<ReplyEvent>, event: fn(String) -> ReplyEvent) {
    if !text.is_empty() {
        events.push(event(text));
    }
}
