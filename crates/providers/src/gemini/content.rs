//! Replies and results of `generateContent`, and the fields of its JSON, which are written in two cases.

use serde_json::{Map, Value, json};

use super::stream::{add_chunk, assemble_response, is_blank_text};
use crate::reply::{
    Assembled, Assembly, CallArguments, CallResult, Format, InvalidReply, Parsed, ResultItem, ResultPart, StopReason,
    ToolCall, UsageFields, WrittenCall, fields, object, stated,
};
use toolkit::catalog::ExportedNames;

/// The format of `generateContent`.
#[derive(Debug)]
pub(super) struct GenerateContent;

pub(super) const NAME: &str = "Gemini generateContent";

impl Format for GenerateContent {
    fn name(&self) -> &'static str {
        NAME
    }

    fn add(&self, event: Value, reply: &mut Assembly) -> Result<(), InvalidReply> {
        add_chunk(event, reply)
    }

    fn assemble(&self, reply: Assembly) -> Value {
        assemble_response(reply)
    }

    fn read(&self, reply: Assembled, names: &ExportedNames) -> Result<Parsed, InvalidReply> {
        let Assembled { mut body, mut is_complete } = reply;
        // A stream without `alt=sse` is an array of its chunks.
        if let Value::Array(chunks) = body {
            let mut reply = Assembly::default();
            chunks.into_iter().try_for_each(|chunk| add_chunk(chunk, &mut reply))?;
            is_complete = reply.is_complete;
            body = assemble_response(reply);
        }
        if ![CANDIDATES, PROMPT_FEEDBACK, USAGE_METADATA].iter().any(|field| get(&body, *field).is_some()) {
            return Err(InvalidReply::unexpected(NAME, "`candidates`", &body));
        }
        let mut parsed = Parsed::new(get(&body, RESPONSE_ID).unwrap_or(&Value::Null));
        let candidate = body["candidates"].as_array().and_then(|candidates| position(candidates));
        let stop = stop_reason(&body, candidate);
        let content =
            candidate.and_then(|candidate| body["candidates"][candidate].as_object_mut()?.shift_remove("content"));
        if let Some(Value::Object(mut content)) = content {
            let mut n_parts = 0;
            if let Some(Value::Array(parts)) = content.get_mut("parts") {
                parts.retain(|part| part.is_object() && part.get("text").is_none_or(Value::is_string));
                parts.iter_mut().for_each(|part| read_part(part, names, &mut parsed));
                parts.retain(|part| !is_blank_text(part));
                n_parts = parts.len();
            }
            if n_parts > 0 {
                content.insert("role".to_owned(), "model".into());
                parsed.messages.push(content.into());
            }
        }
        parsed.stop(stop);
        if !is_complete {
            parsed.truncate();
        }
        parsed.metadata = body;
        Ok(parsed)
    }

    fn usage(&self) -> &'static UsageFields {
        &UsageFields {
            input: &[
                "/usageMetadata/promptTokenCount",
                "/usage_metadata/prompt_token_count",
                "/usageMetadata/toolUsePromptTokenCount",
                "/usage_metadata/tool_use_prompt_token_count",
            ],
            output: &[
                "/usageMetadata/candidatesTokenCount",
                "/usage_metadata/candidates_token_count",
                "/usageMetadata/thoughtsTokenCount",
                "/usage_metadata/thoughts_token_count",
            ],
            cached: &["/usageMetadata/cachedContentTokenCount", "/usage_metadata/cached_content_token_count"],
            reasoning: &["/usageMetadata/thoughtsTokenCount", "/usage_metadata/thoughts_token_count"],
        }
    }

    fn write(&self, items: &[ResultItem<'_>]) -> Vec<Value> {
        let parts = ResultItem::write_each(items, |answer| fields([("functionResponse", function_response(answer))]));
        vec![fields([("role", "user".into()), ("parts", parts.into())])]
    }
}

/// Returns the position of the first of several candidates, whose order may differ in a stream.
pub(super) fn position(candidates: &[Value]) -> Option<usize> {
    candidates.iter().position(|candidate| candidate.get("index").is_none_or(|index| index == 0))
}

fn read_part(part: &mut Value, names: &ExportedNames, parsed: &mut Parsed) {
    if let Some(call) = get_mut(part, FUNCTION_CALL) {
        *call = object(call.take());
        let name = call["name"].as_str().unwrap_or_default();
        let written = WrittenCall::new(call["id"].as_str(), name, CallArguments::from_value(call.get("args")));
        return write_call(call, parsed.push(WrittenCall { name_characters: "_-.:", ..written }, names));
    }
    for field in [TOOL_CALL, EXECUTABLE_CODE] {
        if let Some(call) = get(part, field) {
            parsed.push_provider_call(field[0], call["id"].as_str(), false);
        }
    }
    if let Some(text) = part["text"].as_str() {
        let target = if part["thought"] == true { &mut parsed.reasoning } else { &mut parsed.text };
        target.push_str(text);
    }
}

/// Writes a call in the form of a request.
fn write_call(json: &mut Value, call: &ToolCall) {
    // Without ids, calls and results correspond by name and order.
    if let Some(json) = json.as_object_mut().filter(|_| !call.has_id) {
        json.shift_remove("id");
    }
    json["name"] = call.sent_name.as_str().into();
    if json.get("args").is_some_and(|args| !args.is_null()) {
        CallArguments::make_object(json, "args");
    }
}

fn stop_reason(body: &Value, candidate: Option<usize>) -> StopReason {
    if let Some(feedback) = get(body, PROMPT_FEEDBACK)
        && let Some(reason) = text(feedback, BLOCK_REASON)
    {
        return StopReason::Refused(text(feedback, BLOCK_REASON_MESSAGE).unwrap_or(reason).to_owned());
    }
    let candidate = candidate.map(|position| &body["candidates"][position]);
    let reason = stated(candidate.and_then(|candidate| get(candidate, FINISH_REASON)));
    let why = || candidate.and_then(|candidate| text(candidate, FINISH_MESSAGE)).unwrap_or(&reason).to_owned();
    match (stop_of(&reason), body.get("error")) {
        (StopReason::Refused(_), _) => StopReason::Refused(why()),
        (_, Some(error)) => StopReason::failed(error),
        (StopReason::Malformed(_), None) => StopReason::Malformed(why()),
        (StopReason::Other(_), None) => StopReason::Other(why()),
        (stop, None) => stop,
    }
}

/// Reads a value of `finishReason`. As long as it is empty, the model has not stopped.
pub(super) fn stop_of(reason: &str) -> StopReason {
    match reason {
        "STOP" => StopReason::End,
        "" | "FINISH_REASON_UNSPECIFIED" | "MAX_TOKENS" => StopReason::Truncated,
        "MALFORMED_FUNCTION_CALL" | "MALFORMED_RESPONSE" | "UNEXPECTED_TOOL_CALL" => {
            StopReason::Malformed(reason.to_owned())
        }
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "MODEL_ARMOR"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => StopReason::Refused(reason.to_owned()),
        reason => StopReason::Other(reason.to_owned()),
    }
}

/// The name of a field in camelCase and in snake_case.
pub(super) type Field = [&'static str; 2];

pub(super) const BLOCK_REASON: Field = ["blockReason", "block_reason"];
pub(super) const BLOCK_REASON_MESSAGE: Field = ["blockReasonMessage", "block_reason_message"];
pub(super) const BOOL_VALUE: Field = ["boolValue", "bool_value"];
pub(super) const CANDIDATES: Field = ["candidates", "candidates"];
pub(super) const EXECUTABLE_CODE: Field = ["executableCode", "executable_code"];
pub(super) const FINISH_MESSAGE: Field = ["finishMessage", "finish_message"];
pub(super) const FINISH_REASON: Field = ["finishReason", "finish_reason"];
pub(super) const FUNCTION_CALL: Field = ["functionCall", "function_call"];
pub(super) const JSON_PATH: Field = ["jsonPath", "json_path"];
pub(super) const NULL_VALUE: Field = ["nullValue", "null_value"];
pub(super) const NUMBER_VALUE: Field = ["numberValue", "number_value"];
pub(super) const PARTIAL_ARGS: Field = ["partialArgs", "partial_args"];
pub(super) const PROMPT_FEEDBACK: Field = ["promptFeedback", "prompt_feedback"];
pub(super) const RESPONSE_ID: Field = ["responseId", "response_id"];
pub(super) const STRING_VALUE: Field = ["stringValue", "string_value"];
pub(super) const THOUGHT_SIGNATURE: Field = ["thoughtSignature", "thought_signature"];
pub(super) const TOOL_CALL: Field = ["toolCall", "tool_call"];
pub(super) const USAGE_METADATA: Field = ["usageMetadata", "usage_metadata"];
pub(super) const WILL_CONTINUE: Field = ["willContinue", "will_continue"];

/// Returns the value of a field, unless it is null.
pub(super) fn get(json: &Value, field: Field) -> Option<&Value> {
    field.iter().find_map(|name| json.get(name)).filter(|value| !value.is_null())
}

/// Returns the text of a field, unless it is empty.
pub(super) fn text(json: &Value, field: Field) -> Option<&str> {
    get(json, field).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// Returns the value of a field, unless it is null.
pub(super) fn get_mut(json: &mut Value, field: Field) -> Option<&mut Value> {
    let name = field.into_iter().find(|name| json.get(name).is_some_and(|value| !value.is_null()))?;
    json.get_mut(name)
}

/// Removes a field and returns its value, unless it is null.
pub(super) fn take(json: &mut Value, field: Field) -> Option<Value> {
    let object = json.as_object_mut()?;
    let [camel_case, snake_case] = field.map(|name| object.shift_remove(name));
    camel_case.or(snake_case).filter(|value| !value.is_null())
}

/// The types of media that a function response may contain.
const MEDIA_TYPES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"];

fn function_response(answer: &CallResult<'_>) -> Value {
    let (media, texts): (Vec<&ResultPart>, Vec<&ResultPart>) = answer.parts.iter().partition(|part| is_supported(part));
    let mut response = Map::new();
    // Without ids, calls and results correspond by name and order, and a result with another id is rejected.
    if answer.call.has_id {
        response.insert("id".to_owned(), answer.call.id.as_str().into());
    }
    response.insert("name".to_owned(), answer.call.sent_name.as_str().into());
    let outcome = if answer.is_error { "error" } else { "output" };
    response.insert("response".to_owned(), fields([(outcome, output(&texts, answer.is_error))]));
    let media: Vec<Value> = media.into_iter().filter_map(inline_data).collect();
    if !media.is_empty() {
        response.insert("parts".to_owned(), media.into());
    }
    response.into()
}

/// Returns the structured result, or else the text.
fn output(texts: &[&ResultPart], is_error: bool) -> Value {
    match texts {
        [] if !is_error => json!({}),
        [ResultPart::Json(json)] if !is_error => serde_json::from_str(json).unwrap_or_else(|_| json.as_str().into()),
        texts => texts.iter().map(|part| part.to_text()).collect::<Vec<_>>().join("\n").into(),
    }
}

fn is_supported(part: &ResultPart) -> bool {
    part.media().is_some_and(|(_, mime_type, _)| MEDIA_TYPES.contains(&mime_type))
}

fn inline_data(part: &ResultPart) -> Option<Value> {
    let (_, mime_type, data) = part.media()?;
    Some(json!({ "inlineData": { "mimeType": mime_type, "data": data } }))
}
