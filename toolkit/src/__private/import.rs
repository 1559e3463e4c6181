//! Encoding of the arguments of imported tools, and decoding of their results.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::call::{Arguments, ErrorKind, RunResult, ToolError};
use crate::import::{Import, ImportedTool};

/// Creates the constant of an imported tool.
pub const fn tool<I, O>(
    id: &'static str,
    encode: fn(I) -> Result<Arguments<'static>, ToolError>,
    decode: fn(RunResult) -> Result<O, ToolError>,
) -> ImportedTool<I, O> {
    ImportedTool::new(id, encode, decode)
}

/// Creates the constant of an imported module.
pub const fn import(
    server: &'static str,
    manifest: &'static str,
    tools: &'static [&'static str],
    plainer: &'static [&'static str],
) -> Import {
    Import::new(server, manifest, tools, plainer)
}

/// Encodes the arguments of a tool without parameters.
pub fn nothing((): ()) -> Result<Arguments<'static>, ToolError> {
    Ok(Arguments::NONE)
}

/// Serializes typed arguments.
pub fn typed_arguments<I: Serialize>(arguments: I) -> Result<Arguments<'static>, ToolError> {
    serde_json::to_vec(&arguments).map(Into::into).map_err(ToolError::internal)
}

/// Returns untyped arguments unchanged.
pub fn any_arguments(arguments: Arguments<'static>) -> Result<Arguments<'static>, ToolError> {
    Ok(arguments)
}

/// Deserializes a typed result.
pub fn typed_result<O: DeserializeOwned>(result: RunResult) -> Result<O, ToolError> {
    let tool = result.tool().to_owned();
    serde_json::from_slice(&result.into_json()).map_err(|error| {
        // The message of serde may quote the result, so it is the cause and not the message.
        let message = "the result does not match the imported manifest";
        ToolError::new(ErrorKind::InvalidResponse, message).caused_by(error).with_tool(&tool)
    })
}

/// Returns an untyped result unchanged.
pub fn any_result(result: RunResult) -> Result<RunResult, ToolError> {
    Ok(result)
}
