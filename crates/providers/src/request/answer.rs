//! A typed answer, by the format of the provider or by a tool.

use schemars::JsonSchema;
use serde_json::Value;
use toolkit::{Catalog, Tool};

use super::request_error::RequestError;
use crate::dialect::Dialect;
use crate::loss::{Effect, Side};
use crate::lower::lower;
pub(super) use crate::reply::ANSWER_TOOL as TOOL;
use crate::reply::Api;
use crate::reply::answer_schema;

/// The form in which the model gives its answer, with its schema.
#[derive(Clone, Debug)]
pub(crate) enum AnswerForm {
    /// As text in the provider's format.
    Format(Value),
    /// As the arguments of a tool.
    Tool(Value),
}

impl AnswerForm {
    pub(super) fn format<T: JsonSchema>() -> Self {
        Self::Format(answer_schema::<T>().0)
    }

    pub(super) fn tool<T: JsonSchema>() -> Self {
        Self::Tool(answer_schema::<T>().0)
    }
}

/// Returns the schema in the dialect of the provider.
///
/// # Errors
///
/// Returns an error if the dialect cannot express every answer.
pub(super) fn lowered(api: Api, schema: &Value, dialect: &Dialect) -> Result<Value, RequestError> {
    let lowered = lower(schema, dialect, Side::Input);
    match lowered.losses.iter().find(|loss| matches!(loss.effect, Effect::Narrowed | Effect::Rejected)) {
        Some(loss) => {
            Err(RequestError::new(api, "answer", format!("the type cannot be expressed: {loss}; use `answer_by_tool`")))
        }
        None => Ok(lowered.schema),
    }
}

/// Returns the list with the tool that takes the answer.
pub(super) fn tool(api: Api, schema: &Value) -> Result<Value, RequestError> {
    let description = "Gives the final answer. Call it once, when the answer is known.";
    let tool = Tool::builder(TOOL).description(description).input(schema.clone()).read_only(true).build();
    let export = tool.and_then(|tool| api.export(&Catalog::new([tool])?));
    export.map(|export| export.json).map_err(|error| RequestError::new(api, "answer_by_tool", error.to_string()))
}

/// Adds the tool of the answer to others. Gemini's are in one group.
pub(super) fn join(mut tools: Value, answer: Value) -> Value {
    let group = |tools: &Value| tools.pointer("/0/functionDeclarations").is_some();
    let (list, added) = if group(&tools) && group(&answer) {
        (tools.pointer_mut("/0/functionDeclarations"), answer[0]["functionDeclarations"].clone())
    } else {
        (Some(&mut tools), answer)
    };
    if let (Some(Value::Array(list)), Value::Array(added)) = (list, added) {
        list.extend(added);
    }
    tools
}
