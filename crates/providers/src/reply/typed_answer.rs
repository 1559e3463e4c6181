//! A typed answer of a model.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolkit::Tool;

use super::stop::StopReason;
use super::tool_call::{CallArguments, ToolCall};
use crate::lower::restore;
use toolkit_schema::generate::input;

/// The name of the tool that takes an answer.
pub(crate) const ANSWER_TOOL: &str = "answer";

/// An answer that is not an object, in one, since providers require that.
#[derive(JsonSchema, Deserialize)]
struct InObject<T> {
    answer: T,
}

/// Returns the schema of an answer, and true if the answer is in an object with the property `answer`.
pub(crate) fn answer_schema<T: JsonSchema>() -> (Value, bool) {
    let schema = input::<T>();
    let is_object = schema["type"] == "object" && schema.get("properties").is_some();
    if is_object { (schema, false) } else { (input::<InObject<T>>(), true) }
}

/// Reads the answer of a reply with these calls and this text, if it has one.
pub(super) fn read_answer<T: DeserializeOwned + JsonSchema>(
    calls: &[ToolCall],
    stop_reason: &StopReason,
    text: &str,
) -> Result<Option<T>, serde_json::Error> {
    let call = calls.iter().find(|call| call.tool.is_none() && call.name == ANSWER_TOOL);
    let text = match (call, stop_reason) {
        (Some(call), StopReason::ToolCalls) => match &call.arguments {
            CallArguments::Json(text) | CallArguments::Text(text) => text,
        },
        (None, StopReason::End) => text,
        _ => return Ok(None),
    };
    let mut value: Value = serde_json::from_str(text)?;
    let (schema, is_in_object) = answer_schema::<T>();
    // A model in strict mode writes null for what is absent.
    if let Ok(tool) = Tool::builder(ANSWER_TOOL).input(schema).build() {
        value = restore(tool.input(), value);
    }
    if is_in_object {
        return InObject::deserialize(value).map(|InObject { answer }| Some(answer));
    }
    T::deserialize(value).map(Some)
}
