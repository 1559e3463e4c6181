//! The message of a model, and the form in which it goes back.

use serde_json::{Map, Value, json};

use super::Rules;
use crate::openai::wrapper::push;
use crate::reply::{CallArguments, CallForm, Parsed, ToolCall, WrittenCall, find_name, object};
use toolkit::catalog::ExportedNames;

/// The fields that servers use for the reasoning of a model. Some send the same text in two of them.
pub(super) const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

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
        _ => drop(message.shift_remove("tool_calls")),
    }
    if let Some(Value::Array(parts)) = message.get_mut("content") {
        // An empty text is rejected.
        parts.retain(|part| part.is_object() && part["text"] != "");
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
            message.shift_remove(field);
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
        json.shift_remove("custom");
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
