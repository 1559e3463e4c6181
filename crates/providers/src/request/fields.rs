//! Fields of a body that several APIs share.

use serde_json::{Value, json};

use super::thinking::Thinking;
use super::tool_choice::ToolChoice;

/// Fields of a body, or the reason why an API has none for an option.
pub(super) type Fields = Result<Value, &'static str>;

/// Adds fields to a body: objects are joined, lists continue those that are there, and other values replace them.
pub(super) fn add(body: &mut Value, fields: Value) {
    match (body, fields) {
        (Value::Object(body), Value::Object(fields)) => {
            for (name, value) in fields {
                match body.get_mut(&name) {
                    Some(before) => add(before, value),
                    None => drop(body.insert(name, value)),
                }
            }
        }
        (Value::Array(body), Value::Array(items)) => body.extend(items),
        (body, value) => *body = value,
    }
}

/// The system prompt as the first message.
pub(super) fn system_message(text: &str) -> Value {
    json!({ "messages": [{ "role": "system", "content": text }] })
}

pub(super) fn user_message(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

/// The choice in the words of OpenAI and others, with `function` for a tool and `required` for any.
pub(super) fn choice(choice: &ToolChoice, required: &str, function: impl Fn(&str) -> Value) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::Required => required.into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Tool(name) => function(name),
    }
}

/// The level of thinking in one field.
pub(super) fn level(thinking: Thinking, field: impl Fn(&str) -> Value) -> Fields {
    thinking.level().map(field).ok_or("only levels are supported, not a number of tokens")
}

/// The schema in the form of Chat Completions.
pub(super) fn json_schema(schema: Value) -> Value {
    json!({ "type": "json_schema", "json_schema": { "name": "answer", "schema": schema, "strict": true } })
}
