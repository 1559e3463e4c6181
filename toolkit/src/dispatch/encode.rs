//! How the value that a function returns becomes a result.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::Invocation;
use crate::call::{Content, RunResult, Structured, ToolError};

/// How the value that a function returns becomes a result.
pub trait Encode<T> {
    /// The output schema, where there is one.
    fn schema() -> Option<Value>;

    /// Puts `output` into `result`.
    ///
    /// # Errors
    ///
    /// The output schema refuses it.
    fn encode(output: T, result: RunResult, call: &Invocation<'_>) -> Result<RunResult, ToolError>;
}

/// The ways in which [`Encode`] is implemented; the macro picks one by the type.
#[derive(Debug)]
pub struct Returns<const KIND: u8>;

/// Anything that serialises.
pub const STRUCTURED: u8 = 0;
/// Nothing.
pub const UNIT: u8 = 1;
/// Content and no data.
pub const CONTENT: u8 = 2;
/// Data with content beside it.
pub const STRUCTURED_WITH_CONTENT: u8 = 3;
/// Refused by rustc, at a better place than this.
pub const UNFIT: u8 = 4;

impl<T: Serialize + JsonSchema> Encode<T> for Returns<STRUCTURED> {
    fn schema() -> Option<Value> {
        Some(crate::schema::output::<T>())
    }

    fn encode(output: T, result: RunResult, call: &Invocation<'_>) -> Result<RunResult, ToolError> {
        Ok(result.with_json(call.encode(&output)?))
    }
}

impl Encode<()> for Returns<UNIT> {
    fn schema() -> Option<Value> {
        None
    }

    fn encode((): (), result: RunResult, _: &Invocation<'_>) -> Result<RunResult, ToolError> {
        Ok(result)
    }
}

impl Encode<Content> for Returns<CONTENT> {
    fn schema() -> Option<Value> {
        None
    }

    fn encode(output: Content, result: RunResult, _: &Invocation<'_>) -> Result<RunResult, ToolError> {
        Ok(result.with_content(vec![output]))
    }
}

impl Encode<Vec<Content>> for Returns<CONTENT> {
    fn schema() -> Option<Value> {
        None
    }

    fn encode(output: Vec<Content>, result: RunResult, _: &Invocation<'_>) -> Result<RunResult, ToolError> {
        Ok(result.with_content(output))
    }
}

impl<T: Serialize + JsonSchema> Encode<Structured<T>> for Returns<STRUCTURED_WITH_CONTENT> {
    fn schema() -> Option<Value> {
        Some(crate::schema::output::<T>())
    }

    fn encode(output: Structured<T>, result: RunResult, call: &Invocation<'_>) -> Result<RunResult, ToolError> {
        Ok(result.with_json(call.encode(&output.value)?).with_content(output.content))
    }
}

impl<T> Encode<T> for Returns<UNFIT> {
    fn schema() -> Option<Value> {
        None
    }

    fn encode(_: T, result: RunResult, _: &Invocation<'_>) -> Result<RunResult, ToolError> {
        Ok(result)
    }
}
