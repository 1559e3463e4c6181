//! Replies and results of Chat Completions, which many other servers share: the message of a model, its calls and
//! its content, and the messages with results.

mod calls;
mod stream;

use serde_json::{Map, Value, json};

pub(crate) use self::calls::{add_call, complete_calls};
pub(crate) use self::stream::{add_chunk, add_content, assemble_completion, show_content};
use super::function::push;
use crate::reply::{
    Answer, Assembled, Assembly, CallArguments, CallForm, Format, InvalidReply, Item, Parsed, Part, StopReason,
    ToolCall, WrittenCall, fields, find_name, object, stated,
};
use toolkit::catalog::ExportedNames;

/// The format of Chat Completions.
#[derive(Debug)]
pub(super) struct ChatCompletions;

const NAME: &str = "OpenAI Chat Completions";

impl Format for ChatCompletions {
    fn name(&self) -> &'static str {
        NAME
    }

    fn add(&self, event: Value, reply: &mut Assembly) -> Result<(), InvalidReply> {
        add_chunk(NAME, event, reply)
    }

    /// The `[DONE]` is the end also if no chunk states the reason, as in a body without one.
    fn end(&self, reply: &mut Assembly) {
        reply.is_complete = true;
    }

    fn assemble(&self, reply: Assembly) -> Result<Value, InvalidReply> {
        assemble_completion(NAME, reply)
    }

    fn read(&self, reply: Assembled, names: &ExportedNames) -> Result<Parsed, InvalidReply> {
        read_completion(NAME, reply, Rules { accepts_id: |_| true, accepts_objects: false }, names)
    }

    fn write(&self, items: &[Item<'_>]) -> Vec<Value> {
        messages(items)
    }
}

/// Reads the first choice of a completion. `accepts_id` returns false for ids that a request must not contain; these
/// calls get new ones.
pub(crate) fn read_completion(
    api: &'static str,
    reply: Assembled,
    rules: Rules,
    names: &ExportedNames,
) -> Result<Parsed, InvalidReply> {
    let mut body = reply.body;
    let Some(mut choice) = body.get_mut("choices").and_then(Value::as_array_mut).and_then(take_first) else {
        return Err(InvalidReply::unexpected(api, "`choices`", &body));
    };
    let Some(Value::Object(message)) = choice.get_mut("message").map(Value::take) else {
        return Err(InvalidReply::unexpected(api, "`message` in its first choice", &body));
    };
    let mut parsed = Parsed::new(&body["id"]);
    let refusal = read_message(message, rules, names, &mut parsed);
    parsed.stop(stop_reason(&body, &choice, refusal));
    if let Value::Object(fields) = &mut choice {
        fields.remove("message");
    }
    body["choices"] = Value::Array(vec![choice]);
    parsed.metadata = body;
    Ok(parsed)
}

fn take_first(choices: &mut Vec<Value>) -> Option<Value> {
    let first = choices.iter().position(|choice| choice["index"] == 0);
    let place = first.or(if choices.is_empty() { None } else { Some(0) })?;
    Some(choices.swap_remove(place))
}

fn stop_reason(body: &Value, choice: &Value, refusal: Option<String>) -> StopReason {
    let stop = match refusal {
        Some(refusal) => StopReason::Refused(refusal),
        None => stop_of(&stated(choice.get("finish_reason"))),
    };
    let errors = [&choice["error"], &body["error"], &body["x_groq"]["error"]];
    match errors.into_iter().find_map(|error| Some((error, error_message(error)?))) {
        Some((error, message)) if !matches!(stop, StopReason::Refused(_)) => {
            let is_malformed = error["code"] == "tool_use_failed";
            if is_malformed { StopReason::Malformed(message) } else { StopReason::Failed(message) }
        }
        _ => stop,
    }
}

/// Reads a value of `finish_reason`, which some servers leave out.
pub(super) fn stop_of(reason: &str) -> StopReason {
    match reason {
        // `tool_call` is that of earlier versions of MLX, and `tool_use` that of gateways to Anthropic and Bedrock.
        "tool_calls" | "function_call" | "tool_call" | "tool_use" => StopReason::ToolCalls,
        // The others are those of Together, Hugging Face, and the same gateways.
        "" | "stop" | "eos" | "eos_token" | "stop_sequence" | "end_turn" => StopReason::End,
        // `model_length` is that of Mistral, and `abort` that of vLLM.
        "length" | "model_length" | "abort" | "max_tokens" => StopReason::Truncated,
        "content_filter" => StopReason::Refused("content filter".to_owned()),
        // The second is that of DeepSeek.
        "error" | "insufficient_system_resource" => StopReason::Failed(reason.to_owned()),
        // The endpoint of Gemini adds its own reason to that of OpenAI.
        reason if reason.contains("MALFORMED_FUNCTION_CALL") => StopReason::Malformed(reason.to_owned()),
        reason => StopReason::Other(reason.to_owned()),
    }
}

/// Returns the message of an error of a provider, unless there is none.
pub(super) fn error_message(error: &Value) -> Option<String> {
    let text = match error {
        Value::String(message) => message.clone(),
        Value::Object(_) => error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

// The message of a model, and the form in which it goes back.

/// The fields that servers use for the reasoning of a model. Some send the same text in two of them.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

/// Reads a message. Returns its refusal, if it is one.
pub(crate) fn read_message(
    mut message: Map<String, Value>,
    rules: Rules,
    names: &ExportedNames,
    parsed: &mut Parsed,
) -> Option<String> {
    let text_of = |field: &str| message.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    let mut refusal = text_of("refusal").map(str::to_owned);
    match REASONING.iter().find_map(|field| text_of(field)) {
        Some(text) => parsed.reasoning.push_str(text),
        None => parsed.reasoning.push_str(&text_of_details(message.get("reasoning_details"))),
    }
    match message.get("content") {
        Some(Value::String(text)) => parsed.text.push_str(text),
        Some(Value::Array(parts)) => parts.iter().for_each(|part| read_part(part, parsed, &mut refusal)),
        _ => {}
    }
    remove_placeholders(&mut message);
    if let Some(Value::Object(audio)) = message.get_mut("audio") {
        parsed.text.push_str(audio.get("transcript").and_then(Value::as_str).unwrap_or_default());
        // A request refers to the audio by its id.
        audio.retain(|field, _| field == "id");
    }
    let mut has_calls = false;
    match message.get_mut("tool_calls") {
        Some(Value::Array(calls)) if !calls.is_empty() => {
            has_calls = true;
            calls.retain(Value::is_object);
            calls.iter_mut().for_each(|call| read_call(call, rules, names, parsed));
        }
        // An empty list is rejected.
        _ => drop(message.remove("tool_calls")),
    }
    if let Some(Value::Array(parts)) = message.get_mut("content") {
        parts.retain(Value::is_object);
    }
    // Content is text or a list of parts.
    let is_empty = |content: Option<&Value>| match content {
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(parts)) => parts.is_empty(),
        _ => true,
    };
    let has_other_content = has_calls || refusal.is_some() || message.get("audio").is_some_and(Value::is_object);
    // An empty message is rejected.
    if has_other_content || !is_empty(message.get("content")) {
        message.insert("role".to_owned(), "assistant".into());
        if !message.get("content").is_some_and(|content| content.is_string() || !is_empty(Some(content))) {
            message.insert("content".to_owned(), Value::Null);
        }
        parsed.messages.push(Value::Object(message));
    }
    refusal
}

/// Returns the text of OpenRouter's `reasoning_details`, which may be encrypted.
fn text_of_details(details: Option<&Value>) -> String {
    let details = details.and_then(Value::as_array).into_iter().flatten();
    details.filter_map(|detail| detail["text"].as_str().or_else(|| detail["summary"].as_str())).collect()
}

/// Removes objects whose fields are empty, which some servers send for what a message does not have.
fn remove_placeholders(message: &mut Map<String, Value>) {
    for (field, key) in [("audio", "id"), ("function_call", "name")] {
        if message.get(field).is_some_and(|value| value.is_object() && value[key].as_str().unwrap_or_default() == "") {
            message.remove(field);
        }
    }
}

pub(crate) fn read_part(part: &Value, parsed: &mut Parsed, refusal: &mut Option<String>) {
    match part["type"].as_str().unwrap_or_default() {
        "refusal" => refusal.get_or_insert_default().push_str(part["refusal"].as_str().unwrap_or_default()),
        // The reasoning of Mistral's models.
        "thinking" => match &part["thinking"] {
            Value::Array(parts) => {
                parts.iter().for_each(|part| parsed.reasoning.push_str(part["text"].as_str().unwrap_or_default()));
            }
            text => parsed.reasoning.push_str(text.as_str().unwrap_or_default()),
        },
        _ => parsed.text.push_str(part["text"].as_str().unwrap_or_default()),
    }
}

/// Reads one of the `tool_calls` of a message.
fn read_call(json: &mut Value, rules: Rules, names: &ExportedNames, parsed: &mut Parsed) {
    let kind = json["type"].as_str().unwrap_or_default();
    let body = &json[if kind == "custom" { "custom" } else { "function" }];
    let (id, name) = (json["id"].as_str(), body["name"].as_str().unwrap_or_default());
    // Functions are the only tools that are exported, so the host has declared the others.
    if !matches!(kind, "" | "function") && find_name(names, None, name).is_none() {
        return parsed.push_provider_call(kind, id, true);
    }
    let (form, arguments) = match kind {
        "custom" => (CallForm::Custom, CallArguments::Text(body["input"].as_str().unwrap_or_default().to_owned())),
        _ => (CallForm::Function, CallArguments::from_value(body.get("arguments"))),
    };
    let written = WrittenCall { form, ..WrittenCall::new(id.filter(|id| (rules.accepts_id)(id)), name, arguments) };
    write_call(json, push(written, names, parsed), rules);
}

/// Writes a call in the form of a request.
fn write_call(json: &mut Value, call: &ToolCall, rules: Rules) {
    json["id"] = call.id.as_str().into();
    if let (CallForm::Custom, CallArguments::Text(input)) = (call.form, &call.arguments) {
        json["custom"] = object(json["custom"].take());
        json["custom"]["name"] = call.sent_name.as_str().into();
        json["custom"]["input"] = input.as_str().into();
        return;
    }
    if let Some(json) = json.as_object_mut() {
        json.remove("custom");
    }
    json["type"] = "function".into();
    write_function(&mut json["function"], call, rules);
}

fn write_function(json: &mut Value, call: &ToolCall, rules: Rules) {
    *json = object(json.take());
    json["name"] = call.sent_name.as_str().into();
    match &json["arguments"] {
        Value::String(text) if text.is_empty() => {}
        Value::Object(_) if rules.accepts_objects => {}
        _ => json["arguments"] = json!(call.arguments.to_object_text()),
    }
}

/// The types of images that a message may contain.
const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Returns a message for each result. A result is text, so its images, sounds and files follow in one message of the
/// user: the results must be next to each other.
fn messages(items: &[Item<'_>]) -> Vec<Value> {
    let mut media = Vec::new();
    let mut messages = Item::write_each(items, |answer| message(answer, &mut media));
    if !media.is_empty() {
        messages.push(fields([("role", "user".into()), ("content", media.into())]));
    }
    messages
}

fn message(answer: &Answer<'_>, media: &mut Vec<Value>) -> Value {
    let call = answer.call;
    let mut parts = Vec::with_capacity(answer.parts.len());
    for part in &answer.parts {
        let Some(content) = user_content(part) else {
            parts.push(part.clone());
            continue;
        };
        let kind = part.media().map_or("file", |(kind, ..)| kind);
        let name = format!("{kind} {}", media.len() / 2 + 1);
        parts.push(Part::Text(format!("[{name}: in the next message of the user]")));
        let title = format!("[{name}, from the result of {} ({})]", call.sent_name, call.id);
        media.extend([json!({ "type": "text", "text": title }), content]);
    }
    let text = Answer { call, parts, is_error: answer.is_error }.to_text();
    fields([("role", "tool".into()), ("tool_call_id", call.id.as_str().into()), ("content", text.into())])
}

/// Returns a part that is not text in the form of the content of a user, if the API accepts it.
fn user_content(part: &Part) -> Option<Value> {
    let url = |mime_type: &str, data: &str| format!("data:{mime_type};base64,{data}");
    match part {
        Part::Image { data, mime_type } if IMAGE_TYPES.contains(&mime_type.as_str()) => {
            Some(json!({ "type": "image_url", "image_url": { "url": url(mime_type, data) } }))
        }
        Part::Audio { data, mime_type } => {
            let format = match mime_type.as_str() {
                "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
                "audio/mpeg" | "audio/mp3" => "mp3",
                _ => return None,
            };
            Some(json!({ "type": "input_audio", "input_audio": { "data": data, "format": format } }))
        }
        Part::File { name, data, mime_type } if mime_type == "application/pdf" => {
            Some(json!({ "type": "file", "file": { "filename": name, "file_data": url(mime_type, data) } }))
        }
        _ => None,
    }
}

/// The differences between the APIs that share this format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Returns true if a request may contain an id.
    pub(crate) accepts_id: fn(&str) -> bool,
    /// The arguments of a call may be an object instead of its JSON text.
    pub(crate) accepts_objects: bool,
}
