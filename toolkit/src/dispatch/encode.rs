//! Encoding of the value that a function returns.

use std::future::{Future, ready};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::function::Invocation;
use crate::call::{Change, Content, ErrorKind, RunResult, Structured, ToolError};
use crate::prompt::{Messages, PromptResult};
use crate::stream::Chunks;

/// The encoding of a function's return value as a result.
pub trait Encode<T> {
    /// Returns the output schema, if there is one.
    fn schema() -> Option<Value> {
        None
    }

    /// Encodes `output`, with the changes made to the arguments.
    ///
    /// # Errors
    ///
    /// Returns an error if the output does not match the output schema.
    fn encode(output: T, call: &Invocation<'_>, changes: Vec<Change>) -> Result<RunResult, ToolError>;

    /// True if the output is a stream, which only [`Encode::encode_async`] can encode.
    const WAITS: bool = false;

    /// True if the result is always empty.
    const RETURNS_UNIT: bool = false;

    /// Encodes the output of an asynchronous call.
    fn encode_async(
        output: T,
        call: &Invocation<'_>,
        changes: Vec<Change>,
    ) -> impl Future<Output = Result<RunResult, ToolError>> + Send {
        ready(Self::encode(output, call, changes))
    }
}

/// The implementations of `Encode`; the macro selects one by the return type.
#[derive(Debug)]
pub struct Returns<const KIND: u8>;

/// Serializable data.
pub const STRUCTURED: u8 = 0;
/// No result.
pub const UNIT: u8 = 1;
/// Content without data.
pub const CONTENT: u8 = 2;
/// Data with content.
pub const STRUCTURED_WITH_CONTENT: u8 = 3;
/// A type that rustc rejects elsewhere with a better message.
pub const UNFIT: u8 = 4;
/// A stream of items.
pub const CHUNKS: u8 = 5;
/// Messages of a prompt.
pub const PROMPT: u8 = 6;

impl<T: Serialize + JsonSchema> Encode<T> for Returns<STRUCTURED> {
    fn schema() -> Option<Value> {
        Some(toolkit_schema::generate::output::<T>())
    }

    fn encode(output: T, call: &Invocation<'_>, changes: Vec<Change>) -> Result<RunResult, ToolError> {
        call.result(changes, &mut |sink| output.serialize(sink))
    }
}

impl Encode<()> for Returns<UNIT> {
    const RETURNS_UNIT: bool = true;

    fn encode((): (), call: &Invocation<'_>, changes: Vec<Change>) -> Result<RunResult, ToolError> {
        Ok(call.empty_result(changes))
    }
}

impl Encode<Content> for Returns<CONTENT> {
    fn encode(output: Content, call: &Invocation<'_>, changes: Vec<Change>) -> Result<RunResult, ToolError> {
        call.check_content(std::slice::from_ref(&output))?;
        Ok(call.empty_result(changes).with_content(vec![output]))
    }
}

impl Encode<Vec<Content>> for Returns<CONTENT> {
    fn encode(output: Vec<Content>, call: &Invocation<'_>, changes: Vec<Change>) -> Result<RunResult, ToolError> {
        call.check_content(&output)?;
        Ok(call.empty_result(changes).with_content(output))
    }
}

impl<T: Serialize + JsonSchema> Encode<Structured<T>> for Returns<STRUCTURED_WITH_CONTENT> {
    fn schema() -> Option<Value> {
        Some(toolkit_schema::generate::output::<T>())
    }

    fn encode(output: Structured<T>, call: &Invocation<'_>, changes: Vec<Change>) -> Result<RunResult, ToolError> {
        let result = call.result(changes, &mut |sink| output.value.serialize(sink))?;
        call.check_content(&output.content)?;
        Ok(result.with_content(output.content))
    }
}

impl<T: Serialize + JsonSchema + Send + 'static> Encode<Chunks<T>> for Returns<CHUNKS> {
    const WAITS: bool = true;

    fn schema() -> Option<Value> {
        Some(toolkit_schema::generate::output::<Vec<T>>())
    }

    fn encode(_: Chunks<T>, _: &Invocation<'_>, _: Vec<Change>) -> Result<RunResult, ToolError> {
        Err(ToolError::new(ErrorKind::NeedsRuntime, "the tool returns a stream; call it with `Dispatcher::call`"))
    }

    async fn encode_async(
        mut items: Chunks<T>,
        call: &Invocation<'_>,
        changes: Vec<Change>,
    ) -> Result<RunResult, ToolError> {
        let mut list = b"[".to_vec();
        while let Some(item) = items.next().await {
            // A list of one item is validated like the whole list.
            let one = [item?];
            let one = call.encode(&mut |sink| one.serialize(sink))?;
            let item = &one[1..one.len() - 1];
            call.send(item).await?;
            call.grow(&mut list, item)?;
        }
        list.push(b']');
        Ok(call.empty_result(changes).with_json(list))
    }
}

impl<T: PromptResult> Encode<T> for Returns<PROMPT> {
    fn encode(output: T, call: &Invocation<'_>, changes: Vec<Change>) -> Result<RunResult, ToolError> {
        let output = Messages { messages: output.into_messages() };
        call.result(changes, &mut |sink| output.serialize(sink))
    }
}

impl<T> Encode<T> for Returns<UNFIT> {
    fn encode(_: T, call: &Invocation<'_>, changes: Vec<Change>) -> Result<RunResult, ToolError> {
        Ok(call.empty_result(changes))
    }
}
