//! The calls of a message, and the form in which they go back.

use serde_json::{Value, json};
use toolkit::catalog::ExportedNames;

use super::rules::Rules;
use crate::openai::wrapper::push;
use crate::reply::{CallArguments, CallForm, Parsed, ToolCall, WrittenCall, find_name, object};

/// Reads one of the `tool_calls` of a message.
pub(super) fn read_call(json: &mut Value, rules: Rules, names: &ExportedNames, parsed: &mut Parsed) {
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

/// Reads the only call that a message could contain before `tool_calls`.
pub(super) fn read_legacy_call(json: &mut Value, rules: Rules, names: &ExportedNames, parsed: &mut Parsed) {
    let name = json["name"].as_str().unwrap_or_default();
    let arguments = CallArguments::from_value(json.get("arguments"));
    let written = WrittenCall { form: CallForm::Legacy, ..WrittenCall::new(None, name, arguments) };
    write_function(json, push(written, names, parsed), rules);
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
