//! The fields of Gemini's JSON, which servers and clients write in two cases.

use serde_json::Value;

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
    let [camel_case, snake_case] = field.map(|name| object.remove(name));
    camel_case.or(snake_case).filter(|value| !value.is_null())
}
