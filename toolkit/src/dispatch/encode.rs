//! How the value that a function returns becomes a result.

use std::future::{Future, ready};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::Invocation;
use crate::call::{Change, Content, ErrorKind, RunResult, Structured, ToolError};
use crate::stream::Chunks;

/// How the value that a function returns becomes a result.
pub trait Encode<T> {
    /// The output schema, where there is one.
    fn schema() -> Option<Value>;

    /// The result that holds `output`, and what was changed in the arguments.
    ///
    /// # Errors
    ///
    /// The output schema refuses it.
    fn encode(output: T, call: &Invocation<'_>, changes: Vec<Change>) -> Result<RunResult, ToolError>;

    /// Whether `output` is not there yet when the function returns, so that only the other way to encode it will do.
    const WAITS: bool = false;

    /// Whether there is never anything in the result.
    const GIVES_NOTHING: bool = false;

    /// The same for an asynchronous call.
    fn encode_async(
        output: T,
        call: &Invocation<'_>,
        changes: Vec<Change>,
    ) -> impl Future<Output = Result<RunResult, ToolError>> + Send {
        ready(Self::encode(output, call, changes))
    }
}

/// The ways in which `Encode` is implemented; the macro picks one by the type.
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
/// A stream of items.
pub const CHUNKS: u8 = 5;

impl<T: Serialize + JsonSchema> Encode<T> for Returns<STRUCTURED> {
    fn schema() -> Option<Value> {
        Some(toolkit_schema::output::<T>())
    }

    fn encode(output: T, call: &Invocation<'_>, changes: Vec<Change>) -> Result<RunResult, ToolError> {
        let json = call.encode(&output)?;
        Ok(call.empty_result(changes).with_json(json))
    }
}

impl Encode<()> for Returns<UNIT> {
    const GIVES_NOTHING: bool = true;

    fn schema() -> Option<Value> {
        None
    }

    fn encode((): (), call: &Invocation<'_>, changes: Vec<Change>) -> Result<RunResult, ToolError> {
        Ok(call.empty_result(changes))
    }
}

impl Encode<Content> for Returns<CONTENT> {
    fn schema() -> Option<Value> {
        None
    }

    fn encode(output: Content, call: &Invocation<'_>, changes: Vec<Change>) -> Result<RunResult, ToolError> {
        call.check_content(std::slice::from_ref(&output))?;
        Ok(call.empty_result(changes).with_content(vec![output]))
    }
}

impl Encode<Vec<Content>> for Returns<CONTENT> {
    fn schema() -> Option<Value> {
        None
    }

    fn encode(output: Vec<Content>, call: &Invocation<'_>, changes: Vec<Change>) -> Result<RunResult, ToolError> {
        call.check_content(&output)?;
        Ok(call.empty_result(changes).with_content(output))
    }
}

impl<T: Serialize + JsonSchema> Encode<Structured<T>> for Returns<STRUCTURED_WITH_CONTENT> {
    fn schema() -> Option<Value> {
        Some(toolkit_schema::output::<T>())
    }

    fn encode(output: Structured<T>, call: &Invocation<'_>, changes: Vec<Change>) -> Result<RunResult, ToolError> {
        let json = call.encode(&output.value)?;
        call.check_content(&output.content)?;
        Ok(call.empty_result(changes).with_json(json).with_content(output.content))
    }
}

impl<T: Serialize + JsonSchema + Send + 'static> Encode<Chunks<T>> for Returns<CHUNKS> {
    const WAITS: bool = true;

    fn schema() -> Option<Value> {
        Some(toolkit_schema::output::<Vec<T>>())
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
            // A list of one is checked as the whole list would be.
            let one = call.encode(&[item?])?;
            let item = &one[1..one.len() - 1];
            call.send(item).await?;
            call.grow(&mut list, item)?;
        }
        list.push(b']');
        Ok(call.empty_result(changes).with_json(list))
    }
}

impl<T> Encode<T> for Returns<UNFIT> {
    fn schema() -> Option<Value> {
        None
    }

    fn encode(_: T, call: &Invocation<'_>, changes: Vec<Change>) -> Result<RunResult, ToolError> {
        Ok(call.empty_result(changes))
    }
}
