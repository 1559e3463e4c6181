//! Replies and results of Mistral's Conversations, and the assembly of a streamed response.

use serde_json::{Map, Value, json};

use crate::openai::chat::{add_content, read_part, show_content};
use crate::reply::{
    Assembled, Assembly, CallArguments, Format, InvalidReply, Parsed, ResultItem, StopReason, WrittenCall,
    is_empty_part, merge,
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

    fn add(&self, event: Value, reply: &mut Assembly) -> Result<(), InvalidReply> {
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        let Some((kind, change)) = kind.rsplit_once('.') else {
            let is_first = !reply.has_started;
            return if is_first { Err(InvalidReply::unexpected(NAME, "`outputs`", &event)) } else { Ok(()) };
        };
        reply.has_started = true;
        match (kind, change, event) {
            ("conversation.response", "error", error) => reply.body["error"] = error,
            ("conversation.response", change, Value::Object(mut fields)) => {
                reply.is_complete |= change == "done";
                fields.retain(|field, _| matches!(field.as_str(), "conversation_id" | "usage"));
                merge(&mut reply.body, fields.into());
            }
            (kind, _, Value::Object(fields)) => add_to_entry(kind, fields, reply),
            _ => {}
        }
        Ok(())
    }

    fn blocks(&self) -> &'static [&'static str] {
        &["outputs"]
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
            (None, Some(error)) => StopReason::failed(error),
            (None, None) => StopReason::End,
        });
        parsed.messages = outputs;
        Ok(parsed.with_metadata(body, "outputs"))
    }

    fn write(&self, items: &[ResultItem<'_>]) -> Vec<Value> {
        ResultItem::write_each(items, |answer| {
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

/// Adds the fields of an event of a stream to its entry.
fn add_to_entry(kind: &str, mut fields: Map<String, Value>, reply: &mut Assembly) {
    let index = fields.shift_remove("output_index").and_then(|index| index.as_u64());
    fields.retain(|field, value| !matches!(field.as_str(), "type" | "content_index") && !value.is_null());
    if fields.values().all(is_empty_part) {
        return;
    }
    let id = ["id", "tool_call_id"].into_iter().find_map(|field| fields.get(field)?.as_str()).map(str::to_owned);
    let key = if id.is_some() { (None, id) } else { (index, None) };
    let name = (kind == "function.call").then(|| fields.get("name").cloned().unwrap_or_default());
    let index = reply.find_or_start(key, || json!({ "object": "entry", "type": kind }), name);
    for (field, value) in fields {
        match field.as_str() {
            "content" => {
                let piece = if value.is_object() { json!([value]) } else { value };
                show_content(&piece, reply);
                add_content(reply.json(index), piece);
            }
            "arguments" => reply.add_arguments(index, &["arguments"], value),
            field => reply.json(index)[field] = value,
        }
    }
}
