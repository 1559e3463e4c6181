//! A message of Converse from the events of its stream.

use serde_json::{Map, Value, json};

use super::converse::{NAME, provider_kind, stop_of};
use crate::reply::{Assembly, Block, InvalidReply, ReplyEvent, append, field_mut, is_empty_part, merge, push};

/// Adds an event to a message.
pub(super) fn add_event(event: Value, reply: &mut Assembly) -> Result<(), InvalidReply> {
    let (kind, mut payload) = typed(event);
    let mut take = |field: &str| payload.get_mut(field).map(Value::take).unwrap_or_default();
    match kind.as_str() {
        "messageStart" => {}
        "contentBlockStart" => start(take("contentBlockIndex").as_u64(), take("start"), reply),
        "contentBlockDelta" => extend(take("contentBlockIndex").as_u64(), take("delta"), reply),
        "messageStop" | "metadata" => {
            // Padding, against conclusions from the length of an event.
            take("p");
            reply.merge_end(payload, "stopReason", stop_of);
            reply.is_complete |= kind == "messageStop";
        }
        kind if kind.ends_with("Exception") => {
            let message = payload["message"].as_str().unwrap_or(kind);
            if !reply.has_started {
                return Err(InvalidReply::unexpected(NAME, "`messageStart`", &json!({ "message": message })));
            }
            reply.body["error"] = json!({ "type": kind, "message": message });
        }
        _ => return Ok(()),
    }
    reply.has_started |= kind != "metadata";
    Ok(())
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

/// Begins a block.
fn start(index: Option<u64>, mut block: Value, reply: &mut Assembly) {
    // The start of a text is empty, or missing.
    if block.as_object().is_none_or(Map::is_empty) {
        return;
    }
    let mut call = None;
    if let Some(tool_use) = block.get_mut("toolUse").filter(|tool_use| tool_use.is_object()) {
        tool_use["input"] = json!({});
        call = provider_kind(tool_use).is_none().then(|| tool_use["name"].clone());
    }
    reply.start(index, block, call);
}

/// Adds a piece to a block.
fn extend(index: Option<u64>, delta: Value, reply: &mut Assembly) {
    let Value::Object(delta) = delta else { return };
    for (kind, mut delta) in delta.into_iter().filter(|(_, delta)| !is_empty_part(delta)) {
        // Without an index, a piece continues the latest block if that has its type.
        let fields: &[&str] = match kind.as_str() {
            "text" | "citation" => &["text", "citationsContent"],
            kind => &[kind],
        };
        let continues = |block: &Block| fields.iter().any(|field| block.json.get(field).is_some());
        let index = reply.place_or_latest(index, continues);
        match (kind.as_str(), &mut delta) {
            ("text", Value::String(text)) => {
                append_text(reply.json(index), text);
                reply.show(ReplyEvent::Text, text);
            }
            ("toolUse", Value::Object(tool_use)) if reply.blocks.contains_key(&index) => {
                reply.add_arguments(index, &["toolUse", "input"], tool_use.shift_remove("input").unwrap_or_default());
            }
            ("citation", citation) => append_citation(reply.json(index), citation.take()),
            ("reasoningContent", Value::Object(reasoning)) => {
                for (kind, piece) in reasoning {
                    append_reasoning(index, kind, piece.take(), reply);
                }
            }
            ("toolResult", Value::Array(items)) => {
                let result = field_mut(reply.json(index), &["toolResult"]);
                items.drain(..).for_each(|item| push(result, "content", item));
            }
            ("image", image) => merge(field_mut(reply.json(index), &["image"]), image.take()),
            _ => {}
        }
    }
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
    push(field_mut(block, &["citationsContent"]), "citations", citation);
}

fn append_reasoning(index: u64, kind: &str, piece: Value, reply: &mut Assembly) {
    let block = reply.json(index);
    match (kind, piece) {
        ("text" | "signature", Value::String(text)) => {
            append(field_mut(block, &["reasoningContent", "reasoningText"]), kind, &text);
            if kind == "text" {
                reply.show(ReplyEvent::Reasoning, &text);
            }
        }
        ("redactedContent", redacted) => *field_mut(block, &["reasoningContent", kind]) = redacted,
        _ => {}
    }
}
