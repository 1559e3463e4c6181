//! Replies and results of Interactions, and the assembly of a streamed interaction.

use serde_json::{Value, json};

use crate::reply::{
    Assembled, Assembly, CallArguments, CallResult, Format, IMAGE_TYPES, InvalidReply, Parsed, ReplyEvent, ResultItem,
    ResultPart, StopReason, UsageFields, WrittenCall, add_part, fields, flagged, is_empty, merge, object, push, stated,
};
use toolkit::catalog::ExportedNames;

/// The format of Interactions.
#[derive(Debug)]
pub(super) struct Interactions;

const NAME: &str = "Gemini Interactions";

/// The types of media that a result may contain.
const AUDIO_TYPES: [&str; 5] = ["audio/wav", "audio/mp3", "audio/mpeg", "audio/ogg", "audio/flac"];

impl Format for Interactions {
    fn name(&self) -> &'static str {
        NAME
    }

    fn add(&self, mut event: Value, reply: &mut Assembly) -> Result<(), InvalidReply> {
        let mut take = |field: &str| event.get_mut(field).map(Value::take).unwrap_or_default();
        let (kind, index) = (take("event_type"), take("index").as_u64());
        match kind.as_str() {
            Some("step.start") => start(index, take("step"), reply),
            Some("step.delta") => {
                if let Some(index) = reply.known(index) {
                    extend(index, object(take("delta")), reply);
                }
            }
            Some("error") => reply.body["error"] = take("error"),
            // Later states are those of another request.
            Some(_) if reply.is_complete => {}
            Some(kind @ ("interaction.created" | "interaction.completed")) => {
                reply.is_complete = kind == "interaction.completed";
                let mut interaction = take("interaction");
                if let Value::Object(fields) = &mut interaction {
                    fields.retain(|field, _| field != "steps" && (field != "status" || reply.is_complete));
                }
                merge(&mut reply.body, interaction);
            }
            Some("interaction.status_update") => {
                let status = take("status");
                // A stream that ends in the middle is not in progress any longer.
                if !matches!(stop_of(&stated(Some(&status))), StopReason::Other(_)) {
                    reply.body["status"] = status;
                }
            }
            None if !reply.has_started => return Err(InvalidReply::unexpected(NAME, "`steps`", &event)),
            _ => return Ok(()),
        }
        reply.has_started = true;
        Ok(())
    }

    fn end(&self, reply: &mut Assembly) {
        let status = stated(reply.body.get("status"));
        reply.is_complete |= stop_of(&status).runs_calls();
    }

    fn blocks(&self) -> &'static [&'static str] {
        &["steps"]
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

    fn usage(&self) -> &'static UsageFields {
        &UsageFields {
            input: &["/usage/total_input_tokens", "/usage/total_tool_use_tokens"],
            output: &["/usage/total_output_tokens", "/usage/total_thought_tokens"],
            cached: &["/usage/total_cached_tokens"],
            reasoning: &["/usage/total_thought_tokens"],
        }
    }

    fn write(&self, items: &[ResultItem<'_>]) -> Vec<Value> {
        ResultItem::write_each(items, step)
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

fn step(answer: &CallResult<'_>) -> Value {
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
fn result(answer: &CallResult<'_>) -> Value {
    let text = |part: &ResultPart| json!({ "type": "text", "text": part.to_text() });
    match &answer.parts[..] {
        [ResultPart::Json(json)] if json.starts_with('{') => {
            serde_json::from_str(json).unwrap_or_else(|_| json.as_str().into())
        }
        parts if parts.iter().any(|part| media(part).is_some()) => {
            let is_blank = |part: &ResultPart| part.to_text().trim().is_empty();
            let parts = parts.iter().filter(|part| !is_blank(part));
            parts.map(|part| media(part).unwrap_or_else(|| text(part))).collect()
        }
        parts => {
            let texts: Vec<String> = parts.iter().map(ResultPart::to_text).collect();
            flagged(false, texts.join("\n")).into()
        }
    }
}

fn media(part: &ResultPart) -> Option<Value> {
    let (kind, mime_type, data) = part.media()?;
    let kind = match kind {
        "image" if IMAGE_TYPES.contains(&mime_type) => "image",
        "audio" if AUDIO_TYPES.contains(&mime_type) => "audio",
        "file" if mime_type == "application/pdf" => "document",
        _ => return None,
    };
    Some(json!({ "type": kind, "mime_type": mime_type, "data": data }))
}

/// Begins a step of a streamed interaction.
fn start(index: Option<u64>, step: Value, reply: &mut Assembly) {
    if is_empty(&step) {
        return;
    }
    let name = (step["type"] == "function_call").then(|| step["name"].clone());
    for part in step["content"].as_array().into_iter().flatten() {
        reply.show(ReplyEvent::Text, part["text"].as_str().unwrap_or_default());
    }
    reply.start(index, step, name);
}

/// Adds a piece to a step.
fn extend(index: u64, mut delta: Value, reply: &mut Assembly) {
    let kind = delta["type"].as_str().unwrap_or_default().to_owned();
    let mut take = |field: &str| delta.get_mut(field).map(Value::take).unwrap_or_default();
    match kind.as_str() {
        "arguments_delta" => reply.add_arguments(index, &["arguments"], take("arguments")),
        "text" => {
            reply.show(ReplyEvent::Text, delta["text"].as_str().unwrap_or_default());
            add_part(reply.json(index), "content", delta, "text");
        }
        "thought_summary" => {
            let part = object(take("content"));
            reply.show(ReplyEvent::Reasoning, part["text"].as_str().unwrap_or_default());
            add_part(reply.json(index), "summary", part, "text");
        }
        "thought_signature" => reply.set(index, "signature", take("signature")),
        "text_annotation_delta" => {
            let content = reply.json(index).get_mut("content").and_then(Value::as_array_mut);
            let last = content.and_then(|content| content.last_mut()).filter(|last| last.is_object());
            if let (Some(last), Value::Array(annotations)) = (last, take("annotations")) {
                annotations.into_iter().for_each(|annotation| push(last, "annotations", annotation));
            }
        }
        "image" | "audio" | "video" | "document" => push(reply.json(index), "content", delta),
        // The fields of a call of the provider, or of its result.
        _ => {
            take("type");
            merge(reply.json(index), delta);
        }
    }
}
