//! A completion from the chunks of its stream. Only its first choice is read.

use serde_json::{Value, json};

use super::calls::{add_call, complete_calls};
use super::message::REASONING;
use super::{error_message, stop_of};
use crate::reply::{Assembly, InvalidReply, ReplyEvent, add_part, append, field_mut, is_empty_part, keep_stop, push};

/// The place of the choice until the reply is assembled.
const CHOICE: &[&str] = &["choices"];
const MESSAGE: &[&str] = &["choices", "message"];

/// Adds a chunk to a completion.
pub(super) fn add_chunk(api: &'static str, mut chunk: Value, reply: &mut Assembly) -> Result<(), InvalidReply> {
    let is_error = chunk["object"] == "error" || error_message(&chunk["error"]).is_some();
    if is_error && !reply.has_started && chunk.get("choices").is_none() {
        return Err(InvalidReply::unexpected(api, "`choices`", &chunk));
    }
    if chunk["object"] == "error" {
        reply.body["error"] = chunk;
        return Ok(());
    }
    let Value::Object(fields) = &mut chunk else { return Ok(()) };
    if let Some(Value::Array(choices)) = fields.shift_remove("choices") {
        for (position, choice) in choices.into_iter().enumerate() {
            let is_first = choice["index"].as_u64().map_or(position == 0, |index| index == 0);
            if is_first {
                add_choice(choice, reply);
            }
        }
    }
    for (field, value) in std::mem::take(fields) {
        let is_padding = matches!(field.as_str(), "object" | "obfuscation" | "p");
        if !is_padding && !value.is_null() && value != "" {
            reply.body[&field] = value;
        }
    }
    Ok(())
}

/// Returns a completion in the form that it has without a stream.
pub(super) fn assemble_completion(mut reply: Assembly) -> Value {
    let calls = complete_calls(reply.take_blocks());
    if !calls.is_empty() {
        *field_mut(&mut reply.body, &["choices", "message", "tool_calls"]) = calls.into();
    }
    reply.body["object"] = "chat.completion".into();
    reply.body["choices"] = json!([reply.body["choices"].take()]);
    reply.body
}

fn add_choice(mut choice: Value, reply: &mut Assembly) {
    if !reply.has_started {
        *field_mut(&mut reply.body, CHOICE) = json!({ "index": 0, "message": {} });
    }
    reply.has_started = true;
    let reason = choice["finish_reason"].as_str().filter(|reason| *reason != "null");
    reply.is_complete |= reason.is_some_and(|reason| !reason.is_empty());
    let Value::Object(fields) = &mut choice else { return };
    keep_stop(reply.body["choices"].get("finish_reason"), fields, "finish_reason", stop_of);
    let delta = fields.shift_remove("delta").filter(Value::is_object);
    let has_message = !reply.blocks.is_empty() || reply.body["choices"]["message"] != json!({});
    // Some servers send a message as a whole. MiniMax repeats it after its parts.
    let message = fields.shift_remove("message").filter(|_| !has_message);
    add_fields(field_mut(&mut reply.body, CHOICE), choice, &[]);
    if let Some(delta) = delta.or(message) {
        add_delta(delta, reply);
    }
}

fn add_delta(delta: Value, reply: &mut Assembly) {
    let reasoning = REASONING.iter().find_map(|field| delta[*field].as_str().filter(|text| !text.is_empty()));
    reply.show(ReplyEvent::Reasoning, reasoning.unwrap_or_default());
    show_content(&delta["content"], reply);
    let Value::Object(fields) = delta else { return };
    for (field, value) in fields {
        let message = field_mut(&mut reply.body, MESSAGE);
        match (field.as_str(), value) {
            // Padding of a chunk, and the part of the message that the chunk is from.
            ("obfuscation" | "padding" | "p" | "index" | "channel", _) | (_, Value::Null) => {}
            ("content", value) => add_content(message, value),
            ("tool_calls", Value::Array(fragments)) => {
                fragments.into_iter().for_each(|fragment| add_call(fragment, reply));
            }
            ("reasoning_content" | "reasoning" | "thinking" | "refusal", Value::String(text)) => {
                append(message, &field, &text);
            }
            ("reasoning_details", value) => add_details(message, value),
            (_, value) => {
                let fields = Value::Object([(field, value)].into_iter().collect());
                // The texts of `audio`.
                add_fields(message, fields, &["data", "transcript"]);
            }
        }
    }
}

/// Shows a piece of the content, which is text or a list of parts.
pub(crate) fn show_content(piece: &Value, reply: &mut Assembly) {
    reply.show(ReplyEvent::Text, piece.as_str().unwrap_or_default());
    for part in piece.as_array().into_iter().flatten() {
        if part["type"] == "thinking" {
            reply.show(ReplyEvent::Reasoning, &thinking(part));
        } else {
            reply.show(ReplyEvent::Text, part["text"].as_str().unwrap_or_default());
        }
    }
}

/// Adds a piece of the content, which becomes a list if a piece is one.
pub(crate) fn add_content(message: &mut Value, piece: Value) {
    match (message.get_mut("content"), piece) {
        (Some(Value::Array(_)), Value::String(text)) => {
            add_content_part(message, json!({ "type": "text", "text": text }));
        }
        (_, Value::String(text)) => append(message, "content", &text),
        (before, Value::Array(mut pieces)) => {
            pieces.retain(|piece| !is_empty_part(piece));
            if let (Some(before @ Value::String(_)), false) = (before, pieces.is_empty()) {
                *before = json!([{ "type": "text", "text": before }]);
            }
            pieces.into_iter().for_each(|piece| add_content_part(message, piece));
        }
        _ => {}
    }
}

fn add_content_part(message: &mut Value, piece: Value) {
    let last = message["content"].as_array_mut().and_then(|parts| parts.last_mut());
    match last.filter(|last| last["thinking"].is_array() && piece["thinking"].is_array()) {
        Some(last) => add_part(last, "thinking", json!({ "type": "text", "text": thinking(&piece) }), "text"),
        None if piece["type"] == "thinking" => add_part(message, "content", piece, "thinking"),
        None => add_part(message, "content", piece, "text"),
    }
}

/// Returns the text of a part of Mistral's reasoning.
fn thinking(part: &Value) -> String {
    let texts = part["thinking"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
    part["thinking"].as_str().map_or_else(|| texts.collect(), str::to_owned)
}

/// Adds a piece of OpenRouter's `reasoning_details`. Pieces with the same index, type and id are parts of one text.
fn add_details(message: &mut Value, pieces: Value) {
    let Value::Array(pieces) = pieces else { return };
    for piece in pieces {
        let is_part = |last: &&mut Value| {
            let of_same_id = piece["id"].is_null() || last["id"].is_null() || last["id"] == piece["id"];
            last.is_object() && of_same_id && last["index"] == piece["index"] && last["type"] == piece["type"]
        };
        let last = message["reasoning_details"].as_array_mut().and_then(|details| details.last_mut());
        match last.filter(is_part) {
            Some(last) => add_fields(last, piece, &["text", "summary", "data"]),
            None => push(message, "reasoning_details", piece),
        }
    }
}

/// Adds the fields of an object to another one: texts of the listed fields and lists continue those that are there,
/// and other values replace them.
pub(super) fn add_fields(object: &mut Value, fields: Value, texts: &[&str]) {
    let Value::Object(fields) = fields else { return };
    for (field, value) in fields {
        match (field_mut(object, &[&field]), value) {
            (_, Value::Null) => {}
            (before, Value::String(text)) if text.is_empty() && !before.is_null() => {}
            (Value::String(before), Value::String(text)) if texts.contains(&field.as_str()) => before.push_str(&text),
            (Value::Array(before), Value::Array(items)) => before.extend(items),
            (before @ Value::Object(_), value @ Value::Object(_)) => add_fields(before, value, texts),
            (before, value) => *before = value,
        }
    }
}
