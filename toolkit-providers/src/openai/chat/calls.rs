//! The calls of a message, and the form in which they go back.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::{Value, json};
use toolkit::catalog::ExportedNames;

use crate::openai::wrapper::push_wrapped;
use crate::reply::{CallArguments, CallForm, Parsed, Slot, WrittenCall, find_name, wire_name};

/// Reads one of the `tool_calls` of a message.
pub(super) fn read_call(call: &mut Value, accepts_id: fn(&str) -> bool, names: &ExportedNames, parsed: &mut Parsed) {
    let kind = call["type"].as_str().unwrap_or_default();
    let body = &call[if kind == "custom" { "custom" } else { "function" }];
    let (id, name) = (call["id"].as_str(), body["name"].as_str().unwrap_or_default());
    // Functions are the only tools that are exported, so the host has declared the others.
    if !matches!(kind, "" | "function") && find_name(names, None, name).is_none() {
        return parsed.push_provider_call(kind, id, true);
    }
    let (form, arguments) = match kind {
        "custom" => (CallForm::Custom, CallArguments::Text(body["input"].as_str().unwrap_or_default().to_owned())),
        _ => (CallForm::Function, CallArguments::from_value(body.get("arguments"))),
    };
    let written = WrittenCall { form, ..WrittenCall::new(id.filter(|id| accepts_id(id)), name, arguments) };
    let is_function = form == CallForm::Function;
    call["id"] = push(written, names, parsed).into();
    if is_function {
        if let Some(call) = call.as_object_mut() {
            call.remove("custom");
        }
        call["type"] = "function".into();
        make_valid(&mut call["function"]);
    }
}

/// Reads the only call that a message could contain before `tool_calls`.
pub(super) fn read_legacy_call(call: &mut Value, names: &ExportedNames, parsed: &mut Parsed) {
    let name = call["name"].as_str().unwrap_or_default();
    let arguments = CallArguments::from_value(call.get("arguments"));
    push(WrittenCall { form: CallForm::Legacy, ..WrittenCall::new(None, name, arguments) }, names, parsed);
    make_valid(call);
}

/// Adds a call, or the calls inside it, and returns its id.
fn push(call: WrittenCall<'_>, names: &ExportedNames, parsed: &mut Parsed) -> String {
    if !push_wrapped(&call, names, parsed) {
        return parsed.push(call, names).id.clone();
    }
    match parsed.slots.last() {
        Some(Slot::Batch(wrapper, _)) => wrapper.id.clone(),
        _ => String::new(),
    }
}

/// Replaces an invalid name and invalid arguments, with which all later requests would be rejected.
fn make_valid(function: &mut Value) {
    if !function.is_object() {
        *function = json!({});
    }
    let name = function["name"].as_str().unwrap_or_default();
    if let Cow::Owned(name) = wire_name(name) {
        function["name"] = name.into();
    }
    match &function["arguments"] {
        Value::Null => function["arguments"] = "{}".into(),
        // Many servers parse the arguments. Not all of them accept other text.
        Value::String(text) if !text.is_empty() && serde_json::from_str::<IgnoredAny>(text).is_err() => {
            function["arguments"] = json!({ "INVALID_JSON": text }).to_string().into();
        }
        _ => {}
    }
}
