//! How the arguments of an imported tool become JSON, and its result a type.

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

/// Of a tool that takes nothing.
pub fn nothing((): ()) -> Result<Arguments<'static>, ToolError> {
    Ok(Arguments::NONE)
}

/// Of a tool whose arguments have a type.
pub fn typed_arguments<I: Serialize>(arguments: I) -> Result<Arguments<'static>, ToolError> {
    serde_json::to_vec(&arguments).map(Into::into).map_err(ToolError::internal)
}

/// Of a tool whose arguments have none.
pub fn any_arguments(arguments: Arguments<'static>) -> Result<Arguments<'static>, ToolError> {
    Ok(arguments)
}

/// Of a tool whose result has a type.
pub fn typed_result<O: DeserializeOwned>(result: RunResult) -> Result<O, ToolError> {
    let tool = result.tool().to_owned();
    serde_json::from_slice(&result.into_json()).map_err(|error| {
        // What serde says may quote the result.
        let message = "the result is not what the imported manifest promises";
        ToolError::new(ErrorKind::InvalidAnswer, message).caused_by(error).of_tool(&tool)
    })
}

/// Of a tool whose result has none.
pub fn any_result(result: RunResult) -> Result<RunResult, ToolError> {
    Ok(result)
}
