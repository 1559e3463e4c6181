//! Replies of `generateContent`.

use serde_json::Value;
use toolkit::catalog::ExportedNames;

use super::accumulate::{Response, is_empty_text};
use super::fields::{
    BLOCK_REASON, BLOCK_REASON_MESSAGE, CANDIDATES, EXECUTABLE_CODE, FINISH_MESSAGE, FINISH_REASON, FUNCTION_CALL,
    PROMPT_FEEDBACK, RESPONSE_ID, TOOL_CALL, USAGE_METADATA, get, get_mut, text,
};
use super::results::write_results;
use crate::reply::{
    Accumulate, Assembled, CallArguments, Format, InvalidReply, Item, Parsed, StopReason, ToolCall, WrittenCall,
    fields, object, stated,
};

/// The format of `generateContent`.
#[derive(Debug)]
pub(super) struct GenerateContent;

pub(super) const NAME: &str = "Gemini generateContent";

impl Format for GenerateContent {
    fn name(&self) -> &'static str {
        NAME
    }

    fn accumulate(&self) -> Box<dyn Accumulate> {
        Box::new(Response::default())
    }

    fn read(&self, reply: Assembled, names: &ExportedNames) -> Result<Parsed, InvalidReply> {
        let Assembled { mut body, is_complete } = match reply.body {
            // A stream without `alt=sse` is an array of its chunks.
            Value::Array(chunks) => assemble(chunks)?,
            _ => reply,
        };
        if ![CANDIDATES, PROMPT_FEEDBACK, USAGE_METADATA].iter().any(|field| get(&body, *field).is_some()) {
            return Err(InvalidReply::unexpected(NAME, "`candidates`", &body));
        }
        let mut parsed = Parsed::new(get(&body, RESPONSE_ID).unwrap_or(&Value::Null));
        let candidate = body["candidates"].as_array().and_then(|candidates| position(candidates));
        let stop = stop_reason(&body, candidate);
        let content = candidate.and_then(|candidate| body["candidates"][candidate].as_object_mut()?.remove("content"));
        if let Some(Value::Object(mut content)) = content {
            let mut n_parts = 0;
            if let Some(Value::Array(parts)) = content.get_mut("parts") {
                parts.retain(|part| part.is_object() && part.get("text").is_none_or(Value::is_string));
                parts.retain(|part| !is_empty_text(part));
                n_parts = parts.len();
                parts.iter_mut().for_each(|part| read_part(part, names, &mut parsed));
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

    fn write(&self, items: &[Item<'_>]) -> Vec<Value> {
        vec![fields([("role", "user".into()), ("parts", write_results(items).into())])]
    }
}

fn assemble(chunks: Vec<Value>) -> Result<Assembled, InvalidReply> {
    let mut response = Box::new(Response::default());
    for chunk in chunks {
        response.push(chunk, &mut Vec::new())?;
    }
    response.finish()
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
        json.remove("id");
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
    let reason = candidate.map_or("STOP".into(), |candidate| stated(get(candidate, FINISH_REASON)));
    let why = || candidate.and_then(|candidate| text(candidate, FINISH_MESSAGE)).unwrap_or(&reason).to_owned();
    match (stop_of(&reason), body.get("error")) {
        (StopReason::Refused(_), _) => StopReason::Refused(why()),
        (_, Some(error)) => StopReason::Failed(error["message"].as_str().unwrap_or_default().to_owned()),
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
