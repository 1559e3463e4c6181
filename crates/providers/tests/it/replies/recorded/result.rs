//! The results in recorded requests, and the outcomes of tools that they are from.

use serde_json::{Value, json};

/// Returns true if a message has results of calls that a client made.
pub(super) fn is_results(api: &str, message: &Value) -> bool {
    match api {
        "responses" => {
            let kind = message["type"].as_str().unwrap_or_default();
            message["execution"] != "server" && (kind.ends_with("_output") || kind == "mcp_approval_response")
        }
        "chat" | "mistral" | "ollama" => message["role"] == "tool",
        _ => message["role"] == "user" && !results(api, std::slice::from_ref(message)).is_empty(),
    }
}

/// Returns the results in messages, with their ids.
pub(super) fn results(api: &str, messages: &[Value]) -> Vec<(Option<String>, Value)> {
    let id = |value: &Value| value.as_str().map(str::to_owned);
    let (list, kind, key) = match api {
        "responses" => return messages.iter().map(|item| (id(&item["call_id"]), item.clone())).collect(),
        "chat" | "mistral" => return messages.iter().map(|item| (id(&item["tool_call_id"]), item.clone())).collect(),
        "ollama" => return messages.iter().map(|item| (None, item.clone())).collect(),
        "gemini" => ("parts", "functionResponse", "id"),
        "bedrock" => ("content", "toolResult", "toolUseId"),
        _ => {
            let blocks = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
            let blocks = blocks.filter(|block| block["type"] == "tool_result");
            return blocks.map(|block| (id(&block["tool_use_id"]), block.clone())).collect();
        }
    };
    let parts = messages.iter().filter_map(|message| message[list].as_array()).flatten();
    let parts = parts.filter_map(|part| part.get(kind).or_else(|| part.get("function_response")));
    parts.map(|part| (id(&part[key]), part.clone())).collect()
}

/// Returns the name of the tool in a result of Gemini or Ollama.
pub(super) fn name(result: &Value) -> Option<&str> {
    result.get("name").or_else(|| result.get("tool_name")).and_then(Value::as_str)
}

/// Returns the outcome of a tool, in the form of MCP, that is written as the result; `None` if there is none.
pub(super) fn outcome(api: &str, result: &Value) -> Option<Value> {
    let content = |content: Vec<Value>, is_error: bool| json!({ "content": content, "isError": is_error });
    match api {
        "gemini" => {
            let value = unwrapped(&result["response"]);
            let mut blocks: Vec<Value> = value.as_str().map(text).into_iter().collect();
            for part in result["parts"].as_array().into_iter().flatten() {
                let data = part.get("inlineData").or_else(|| part.get("inline_data"))?;
                let mime_type = data.get("mimeType").or_else(|| data.get("mime_type"))?;
                blocks.push(media(mime_type.as_str()?, data["data"].as_str()?));
            }
            match (value, blocks.is_empty()) {
                (Value::String(_), _) => Some(content(blocks, false)),
                (value, true) => Some(json!({ "content": [], "structuredContent": value })),
                (_, false) => None,
            }
        }
        "bedrock" => {
            let is_error = result["status"] == "error";
            let all = result["content"].as_array()?;
            if let [only] = &all[..]
                && let Some(json) = only.get("json")
            {
                return Some(json!({ "content": [], "structuredContent": json }));
            }
            Some(content(all.iter().map(bedrock_block).collect::<Option<_>>()?, is_error))
        }
        _ => {
            let is_error = result["is_error"] == true;
            match result.get("content").or_else(|| result.get("output")) {
                None => Some(content(Vec::new(), is_error)),
                Some(Value::String(all)) => Some(content(vec![text(all)], is_error)),
                Some(Value::Array(all)) => Some(content(all.iter().map(block).collect::<Option<_>>()?, is_error)),
                Some(_) => None,
            }
        }
    }
}

/// Returns the value in the object that Gemini requires, which each client calls otherwise.
pub(super) fn unwrapped(response: &Value) -> Value {
    let fields = response.as_object().filter(|fields| fields.len() == 1);
    let only = fields.and_then(|fields| fields.iter().next());
    match only {
        Some((name, value)) if ["output", "result", "return_value", "content"].contains(&name.as_str()) => {
            value.clone()
        }
        _ => response.clone(),
    }
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn media(mime_type: &str, data: &str) -> Value {
    match mime_type.split('/').next() {
        Some(kind @ ("image" | "audio")) => json!({ "type": kind, "data": data, "mimeType": mime_type }),
        _ => {
            json!({ "type": "resource", "resource": { "uri": "file:///file", "mimeType": mime_type, "blob": data } })
        }
    }
}

fn data_url(url: &str) -> Option<Value> {
    let (mime_type, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    Some(media(mime_type, data))
}

fn block(block: &Value) -> Option<Value> {
    match block["type"].as_str()? {
        "text" | "input_text" => Some(text(block["text"].as_str()?)),
        "image" | "document" if block["source"]["type"] == "base64" => {
            Some(media(block["source"]["media_type"].as_str()?, block["source"]["data"].as_str()?))
        }
        "input_image" => data_url(block["image_url"].as_str()?),
        "input_file" => data_url(block["file_data"].as_str()?),
        _ => None,
    }
}

fn bedrock_block(block: &Value) -> Option<Value> {
    if let Some(all) = block["text"].as_str() {
        return Some(text(all));
    }
    let image = block.get("image")?;
    Some(media(&format!("image/{}", image["format"].as_str()?), image["source"]["bytes"].as_str()?))
}
