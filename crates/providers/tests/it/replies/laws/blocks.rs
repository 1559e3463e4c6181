//! The shapes and rules of the APIs whose messages consist of blocks.

use serde_json::{Value, json};

use super::rules::{each_once, is_identifier, is_image, is_name, is_not_blank, is_object_text, list, require};
use super::{Call, sent};

pub(super) fn anthropic_reply(calls: &[Call]) -> Value {
    let call = |call: &Call| json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments });
    let blank = [json!({ "type": "text", "text": "\n\n" }), json!({ "type": "text", "text": "" })];
    let content: Vec<Value> = blank.into_iter().chain(calls.iter().map(call)).collect();
    json!({ "id": "msg", "type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use" })
}

pub(super) fn anthropic_check(calls: &[Call], messages: &[Value]) -> Result<(), String> {
    let [assistant, user] = messages else { return Err(format!("{} messages", messages.len())) };
    let ids = |message: &Value, kind: &str, field: &str| -> Vec<String> {
        let blocks = message["content"].as_array().into_iter().flatten().filter(|block| block["type"] == kind);
        blocks.map(|block| block[field].as_str().unwrap_or_default().to_owned()).collect()
    };
    let (called, answered) = (ids(assistant, "tool_use", "id"), ids(user, "tool_result", "tool_use_id"));
    each_once(calls, &called, &answered)?;
    require(assistant["role"] == "assistant" && user["role"] == "user", "the roles")?;
    for block in list(&assistant["content"])? {
        require(
            block["type"] == "tool_use" && block["input"].is_object(),
            "a call has an object, and no text is blank",
        )?;
        is_identifier(&block["id"], "_-")?;
        is_name(&block["name"], "_-")?;
    }
    for result in user["content"].as_array().into_iter().flatten() {
        require(result["type"] == "tool_result", "only results")?;
        let blocks = match &result["content"] {
            Value::Null => Vec::new(),
            Value::String(text) => vec![json!({ "type": "text", "text": text })],
            content => content.as_array().cloned().ok_or("content is text or a list")?,
        };
        let is_error = result["is_error"] == true;
        for block in &blocks {
            match block["type"].as_str() {
                Some("text") => is_not_blank(&block["text"])?,
                Some("image") => {
                    require(!is_error, "no image in an error")?;
                    is_image(&block["source"]["media_type"], &block["source"]["data"])?;
                }
                other => return Err(format!("a block of type {other:?}")),
            }
        }
        require(!is_error || !blocks.is_empty(), "an error has content")?;
    }
    Ok(())
}

pub(super) fn responses_reply(calls: &[Call]) -> Value {
    let call = |call: &Call| {
        let arguments = sent(&call.arguments);
        json!({ "type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments })
    };
    json!({ "id": "resp", "status": "completed", "output": calls.iter().map(call).collect::<Vec<Value>>() })
}

pub(super) fn responses_check(calls: &[Call], items: &[Value]) -> Result<(), String> {
    let ids = |kind: &str| texts(items, kind, "call_id");
    each_once(calls, &ids("function_call"), &ids("function_call_output"))?;
    for item in items.iter().filter(|item| item["type"] == "function_call") {
        is_name(&item["name"], "_-")?;
        is_object_text(&item["arguments"])?;
    }
    for item in items.iter().filter(|item| item["type"] == "function_call_output") {
        match &item["output"] {
            Value::String(_) => is_not_blank(&item["output"])?,
            output => {
                for part in output.as_array().ok_or("output is text or a list")? {
                    match part["type"].as_str() {
                        Some("input_text") => is_not_blank(&part["text"])?,
                        Some("input_image") => {
                            let url = part["image_url"].as_str().and_then(|url| url.strip_prefix("data:"));
                            let (kind, data) = url.and_then(|url| url.split_once(";base64,")).ok_or("a data URL")?;
                            is_image(&kind.into(), &data.into())?;
                        }
                        other => return Err(format!("a part of type {other:?}")),
                    }
                }
            }
        }
    }
    Ok(())
}

pub(super) fn conversations_reply(calls: &[Call]) -> Value {
    let call = |call: &Call| {
        let arguments = sent(&call.arguments);
        json!({ "object": "entry", "type": "function.call", "tool_call_id": call.id, "name": call.name,
            "arguments": arguments })
    };
    json!({ "conversation_id": "conv", "outputs": calls.iter().map(call).collect::<Vec<Value>>() })
}

/// Returns the texts of a field of the items of a type.
fn texts(items: &[Value], kind: &str, field: &str) -> Vec<String> {
    let items = items.iter().filter(|item| item["type"] == kind);
    items.map(|item| item[field].as_str().unwrap_or_default().to_owned()).collect()
}

pub(super) fn conversations_check(calls: &[Call], entries: &[Value]) -> Result<(), String> {
    let ids = |kind: &str| texts(entries, kind, "tool_call_id");
    each_once(calls, &ids("function.call"), &ids("function.result"))?;
    for entry in entries {
        match entry["type"].as_str() {
            Some("function.call") => {
                is_name(&entry["name"], "_-")?;
                is_object_text(&entry["arguments"]).or(require(entry["arguments"].is_object(), "arguments"))?;
            }
            Some("function.result") => is_not_blank(&entry["result"])?,
            other => return Err(format!("an entry of type {other:?}")),
        }
    }
    Ok(())
}

pub(super) fn interactions_reply(calls: &[Call]) -> Value {
    let call =
        |call: &Call| json!({ "type": "function_call", "id": call.id, "name": call.name, "arguments": call.arguments });
    let blank = json!({ "type": "model_output", "content": [{ "type": "text", "text": "" }] });
    let steps: Vec<Value> = [blank].into_iter().chain(calls.iter().map(call)).collect();
    json!({ "id": "int", "status": "requires_action", "steps": steps })
}

pub(super) fn interactions_check(calls: &[Call], steps: &[Value]) -> Result<(), String> {
    each_once(calls, &texts(steps, "function_call", "id"), &texts(steps, "function_result", "call_id"))?;
    let names = |kind: &str| texts(steps, kind, "name");
    require(names("function_call") == names("function_result"), "a result has the name of its call")?;
    for step in steps {
        match step["type"].as_str() {
            Some("function_call") => {
                is_name(&step["name"], "_-.:")?;
                require(step["arguments"].is_object(), "arguments are an object")?;
            }
            Some("function_result") => match &step["result"] {
                Value::Object(_) => {}
                Value::Array(parts) => {
                    require(!parts.is_empty(), "a result has content")?;
                    for part in parts {
                        match part["type"].as_str() {
                            Some("text") => is_not_blank(&part["text"])?,
                            Some("image") => is_image(&part["mime_type"], &part["data"])?,
                            Some("audio") => require(part["mime_type"] == "audio/wav", "a type of audio")?,
                            other => return Err(format!("a part of type {other:?}")),
                        }
                    }
                }
                text => is_not_blank(text)?,
            },
            other => return Err(format!("a step of type {other:?}")),
        }
    }
    Ok(())
}

pub(super) fn gemini_reply(calls: &[Call]) -> Value {
    let call = |call: &Call| json!({ "functionCall": { "id": call.id, "name": call.name, "args": call.arguments } });
    let parts: Vec<Value> = [json!({ "text": "" })].into_iter().chain(calls.iter().map(call)).collect();
    json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": "STOP" }] })
}

pub(super) fn gemini_check(calls: &[Call], contents: &[Value]) -> Result<(), String> {
    let [model, user] = contents else { return Err(format!("{} contents", contents.len())) };
    require(model["role"] == "model" && user["role"] == "user", "the roles")?;
    let called = list(&model["parts"])?.iter().map(|part| &part["functionCall"]);
    let answered: Vec<&Value> = list(&user["parts"])?.iter().map(|part| &part["functionResponse"]).collect();
    require(called.len() == calls.len() && answered.len() == calls.len(), "each call is answered once")?;
    let mut ids = Vec::new();
    for (call, response) in called.zip(answered) {
        is_name(&call["name"], "_-.:")?;
        require(matches!(call["args"], Value::Object(_) | Value::Null), "arguments are an object")?;
        require(call["name"] == response["name"] && call.get("id") == response.get("id"), "the order")?;
        require(call.get("id") != Some(&"".into()) && !ids.contains(&call.get("id")), "an id occurs once")?;
        ids.extend(call.get("id").map(Some));
        let result = response["response"].as_object().ok_or("a response is an object")?;
        let value = result.get("output").or_else(|| result.get("error").filter(|error| error.is_string()));
        require(result.len() == 1 && value.is_some(), "a response has `output` or `error`")?;
        for part in response["parts"].as_array().into_iter().flatten() {
            is_image(&part["inlineData"]["mimeType"], &part["inlineData"]["data"])?;
        }
    }
    Ok(())
}

pub(super) fn bedrock_reply(calls: &[Call]) -> Value {
    let call = |call: &Call| json!({ "toolUseId": call.id, "name": call.name, "input": call.arguments });
    let calls = calls.iter().map(|each| json!({ "toolUse": call(each) }));
    let content: Vec<Value> = [json!({ "text": "\n" })].into_iter().chain(calls).collect();
    json!({ "output": { "message": { "role": "assistant", "content": content } }, "stopReason": "tool_use" })
}

pub(super) fn bedrock_check(calls: &[Call], messages: &[Value]) -> Result<(), String> {
    let [assistant, user] = messages else { return Err(format!("{} messages", messages.len())) };
    require(assistant["role"] == "assistant" && user["role"] == "user", "the roles")?;
    let ids = |message: &Value, kind: &str| -> Result<Vec<String>, String> {
        let id = |block: &Value| block[kind]["toolUseId"].as_str().unwrap_or_default().to_owned();
        Ok(list(&message["content"])?.iter().map(id).collect())
    };
    each_once(calls, &ids(assistant, "toolUse")?, &ids(user, "toolResult")?)?;
    for call in list(&assistant["content"])?.iter().map(|block| &block["toolUse"]) {
        is_identifier(&call["toolUseId"], "_.:-")?;
        is_name(&call["name"], "_-")?;
        require(call["input"].is_object(), "arguments are an object")?;
    }
    for result in list(&user["content"])?.iter().map(|block| &block["toolResult"]) {
        require(result["status"] == "success" || result["status"] == "error", "a result has a status")?;
        let content = list(&result["content"])?;
        require(!content.is_empty(), "a result has content")?;
        for block in content {
            match block.as_object().and_then(|block| block.iter().next()) {
                Some((kind, text)) if kind == "text" => is_not_blank(text)?,
                Some((kind, json)) if kind == "json" => require(json.is_object(), "`json` is an object")?,
                Some((kind, image)) if kind == "image" => {
                    let format = image["format"].as_str().unwrap_or_default();
                    is_image(&format!("image/{format}").into(), &image["source"]["bytes"])?;
                }
                other => return Err(format!("a block {other:?}")),
            }
        }
    }
    Ok(())
}
