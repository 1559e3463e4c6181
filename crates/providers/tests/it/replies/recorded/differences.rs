//! The differences between requests of other clients and ours that do not matter, each with the reason.

use serde_json::{Map, Value};

use super::result::{is_results, unwrapped};

/// Conversations that differ in another way, with the reason.
pub(super) const OTHERS: [(&str, &str); 14] = [
    ("/test_apply_patch.yaml.gz#1", "the next request repeats the reply to an equal request"),
    ("/test_cross_provider_capability_replay[anthropic", "the client adds a call and its result"),
    ("/test_openai_responses_phase_streamed_on_part_start.yaml#0", "the recording has other quotation marks"),
    ("/repair_renames_tool_call_and_executes_it.yaml#0", "the client corrects the name of a tool"),
    ("/streamed_repair_continues_the_same_stream.yaml#0", "the client corrects the name of a tool"),
    ("/test_cross_provider_capability_replay[google-gemini-3-flash-preview-openai", "the client changes the calls"),
    ("/test_bedrock_model_with_code_execution_tool.yaml#0", "the client leaves out a result of the provider"),
    ("/test_bedrock_moonshotai_tool_call.yaml#0", "the client takes reasoning out of the text"),
    ("/test_google_model_structured_output.yaml#0", "the client adds a signature that the reply does not have"),
    ("/test_function_tools_with_builtin_tools.yaml#0", "the client writes names inside a call with underscores"),
    ("/test_tool_use_failed_error.yaml#1", "the client writes the reasoning into the text"),
    ("/test_tool_use_failed_error_streaming.yaml#1", "the client writes the reasoning into the text"),
    ("/stream_encrypted_reasoning_survives_into_the_next_turn.yaml#0", "the next request begins otherwise"),
    ("/repaired_invalid_call_keeps_call_identity.yaml#0", "the client corrects the name of a tool"),
];

/// Returns messages without the differences that are listed here.
pub(super) fn without_differences(api: &str, messages: Vec<Value>) -> Vec<Value> {
    let mut messages = merged(messages);
    // A client writes an empty message for no text.
    messages.retain(|message| {
        let is_empty = api == "responses" && message["role"] == "assistant";
        !is_empty || !(message["content"] == "" || message["content"] == Value::Array(Vec::new()))
    });
    for message in &mut messages {
        match api {
            "anthropic" => anthropic(message),
            "responses" => responses(message),
            "gemini" => gemini(message),
            "bedrock" => bedrock(message),
            _ => chat(api, message),
        }
    }
    messages
}

/// Some clients write a message for each block of a reply. An API joins adjacent messages of one role.
fn merged(messages: Vec<Value>) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for mut message in messages {
        let list = |message: &Value| ["content", "parts"].into_iter().find(|list| message[list].is_array());
        let field = list(&message);
        let last = all.last_mut().filter(|last| last["role"] == message["role"] && message.get("type").is_none());
        match (last, field) {
            (Some(last), Some(field)) if list(last) == Some(field) && last["role"].is_string() => {
                let more = message[field].take();
                if let (Some(all), Value::Array(more)) = (last[field].as_array_mut(), more) {
                    all.extend(more);
                }
            }
            _ => all.push(message),
        }
    }
    all
}

fn anthropic(message: &mut Value) {
    let is_results = is_results("anthropic", message);
    let Some(blocks) = message["content"].as_array_mut() else { return };
    // The host may add its own content after the results.
    blocks.retain(|block| !is_results || block["type"] == "tool_result");
    // The order of results is free.
    if is_results {
        blocks.sort_by_key(|block| block["tool_use_id"].to_string());
    }
    for block in blocks.iter_mut().filter_map(Value::as_object_mut) {
        // A mark of the host.
        block.shift_remove("cache_control");
        // The default.
        block.retain(|key, value| key != "is_error" || value == true);
        one_text(block, "content", "text");
    }
}

/// A list with a single text is the text.
fn one_text(fields: &mut Map<String, Value>, field: &str, kind: &str) {
    let Some(Value::Array(blocks)) = fields.get_mut(field) else { return };
    if let [only] = &mut blocks[..]
        && only["type"] == kind
    {
        let text = only["text"].take();
        fields.insert(field.to_owned(), text);
    }
}

fn responses(item: &mut Value) {
    let Some(item) = item.as_object_mut() else { return };
    one_text(item, "output", "input_text");
    for part in item.get_mut("output").and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(part) = part.as_object_mut() else { continue };
        // The default, which the official types require, and a name that the client chooses.
        part.retain(|key, value| !(key == "detail" && value == "auto" || key == "filename"));
    }
    // The type of a message is optional.
    if item.contains_key("role") {
        item.shift_remove("type");
        one_text(item, "content", "output_text");
    }
    // A client writes the searches that the API made in its own terms.
    if item.get("type").and_then(Value::as_str).is_some_and(|kind| kind.starts_with("tool_search_")) {
        item.shift_remove("arguments");
        item.shift_remove("call_id");
    }
    // The state of a result is set by the API.
    if item.get("type").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("_output")) {
        item.shift_remove("status");
    }
    arguments(item);
}

/// JSON text may be formatted in another way.
fn arguments(fields: &mut Map<String, Value>) {
    if let Some(Value::String(text)) = fields.get_mut("arguments") {
        let value = if text.is_empty() { "{}" } else { text };
        if let Ok(value) = serde_json::from_str(value) {
            fields.insert("arguments".to_owned(), value);
        }
    }
}

fn chat(api: &str, message: &mut Value) {
    let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
    for call in calls.into_iter().flatten().filter_map(Value::as_object_mut) {
        // The position, which only a stream has.
        call.shift_remove("index");
        // The recordings of Mistral have ids that its API would reject, and those of Ollama none.
        if api != "chat" {
            call.shift_remove("id");
            call.shift_remove("type");
        }
        if let Some(function) = call.get_mut("function").and_then(Value::as_object_mut) {
            arguments(function);
            function.shift_remove("index");
        }
    }
    let Some(message) = message.as_object_mut() else { return };
    one_text(message, "content", "text");
    // Nothing, in four forms.
    let is_nothing = |value: &Value| value.is_null() || value == "" || *value == Value::Array(Vec::new());
    message.retain(|key, value| key != "content" || !is_nothing(value));
    // Some clients rename the reasoning, or take it out of the text.
    message.shift_remove("reasoning_content");
    if api != "chat" {
        message.shift_remove("tool_call_id");
        message.shift_remove("thinking");
        // The default.
        message.retain(|key, value| key != "prefix" || value == true);
    }
    // The name of the tool is optional, and one client of Ollama leaves it empty.
    if message.get("role").is_some_and(|role| role == "tool") {
        message.shift_remove("name");
        message.shift_remove("tool_name");
    }
}

fn gemini(message: &mut Value) {
    *message = camel(std::mem::take(message));
    let is_results = is_results("gemini", message);
    let Some(parts) = message["parts"].as_array_mut() else { return };
    // The host may add its own content after the results.
    parts.retain(|part| !is_results || part.get("functionResponse").is_some());
    // The order of results of several tools is free.
    if is_results {
        parts.sort_by_key(|part| part["functionResponse"]["name"].to_string());
    }
    for part in parts {
        if let Some(part) = part.as_object_mut() {
            // The default.
            part.retain(|key, value| key != "thought" || value == true);
        }
        if let Some(signature) = part.get_mut("thoughtSignature") {
            // Both alphabets of base64 are accepted.
            *signature = signature.as_str().unwrap_or_default().replace('-', "+").replace('_', "/").into();
        }
        for call in ["functionCall", "functionResponse"] {
            // An id that the client adds.
            if let Some(fields) = part.get_mut(call).and_then(Value::as_object_mut) {
                fields.retain(|key, value| key != "id" || !value.to_string().contains("pyd_ai_"));
            }
        }
        if let Some(response) = part.get_mut("functionResponse") {
            // The name of the value is free.
            response["response"] = unwrapped(&response["response"]);
        }
    }
}

/// Gemini reads names in both forms.
fn camel(value: Value) -> Value {
    let name = |name: String| match name.as_str() {
        "function_call" => "functionCall".to_owned(),
        "function_response" => "functionResponse".to_owned(),
        "thought_signature" => "thoughtSignature".to_owned(),
        "inline_data" => "inlineData".to_owned(),
        "mime_type" => "mimeType".to_owned(),
        _ => name,
    };
    let Value::Object(mut message) = value else { return value };
    if let Some(Value::Array(parts)) = message.get_mut("parts") {
        for part in parts {
            if let Value::Object(fields) = part.take() {
                *part = Value::Object(fields.into_iter().map(|(key, value)| (name(key), value)).collect());
            }
        }
    }
    Value::Object(message)
}

fn bedrock(message: &mut Value) {
    let is_results = is_results("bedrock", message);
    let Some(blocks) = message["content"].as_array_mut() else { return };
    // The host may add its own content after the results.
    blocks.retain(|block| !is_results || block.get("toolResult").is_some());
    for result in blocks.iter_mut().filter_map(|block| block.get_mut("toolResult")?.as_object_mut()) {
        // The default.
        result.retain(|key, value| key != "status" || value != "success");
    }
}
