//! The API of Amazon Bedrock: Converse.

mod accumulate;
mod converse;
mod results;

use serde_json::{Map, json};

use super::dialect::Dialect;
use super::export::Export;
use super::loss::Side;
use super::lower::lower_unsorted;
use super::request::RequestLimits;
use super::tool_export::{ToolExport, provider_description, unsupported_fields};
use crate::reply::Api;
#[cfg(feature = "async")]
use crate::reply::{InvalidReply, ReplyBody, Turn};
#[cfg(feature = "async")]
use toolkit::Dispatcher;
use toolkit::catalog::{Catalog, Diagnostics, Naming};
use toolkit::tool::Tool;

/// `POST /model/{model}/converse`, and `converse-stream`.
///
/// A stream of Bedrock has binary frames, which the AWS SDK decodes. Pass each event to [`ReplyStream::push_event`], as
/// JSON with its type as the only key: `{"contentBlockDelta": {…}}`. Its payload without the type is accepted as well.
/// [`ReplyStream::push`] expects one event in each line. Bytes, such as those of images, are base64 in JSON.
///
/// [`ReplyStream::push`]: crate::reply::ReplyStream::push
/// [`ReplyStream::push_event`]: crate::reply::ReplyStream::push_event
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::ExportedNames;
/// use toolkit_providers::bedrock::CONVERSE;
///
/// let mut stream = CONVERSE.stream(&ExportedNames::default());
/// stream.push_event(json!({ "messageStart": { "role": "assistant" } }))?;
/// stream.push_event(json!({ "contentBlockDelta": { "contentBlockIndex": 0, "delta": { "text": "Hello." } } }))?;
/// stream.push_event(json!({ "contentBlockStop": { "contentBlockIndex": 0 } }))?;
/// stream.push_event(json!({ "messageStop": { "stopReason": "end_turn" } }))?;
/// let reply = stream.finish()?;
/// assert_eq!(reply.messages(), [json!({ "role": "assistant", "content": [{ "text": "Hello." }] })]);
/// # Ok::<(), toolkit_providers::reply::InvalidReply>(())
/// ```
pub const CONVERSE: Api = Api(&converse::Converse);

/// Returns the `toolConfig.tools` of a request.
///
/// ```standalone_crate
/// use toolkit_providers::bedrock::tools;
/// use toolkit::catalog::Naming;
///
/// /// Adds two integers.
/// #[toolkit::tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// let export = tools(&toolkit::catalog![add]?, Naming::Name)?;
/// let spec = &export.json[0]["toolSpec"];
/// assert_eq!(spec["name"], "add");
/// assert_eq!(spec["inputSchema"]["json"]["required"], serde_json::json!(["a", "b"]));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`list_tools`](toolkit::mcp::list_tools).
pub fn tools(catalog: &Catalog, naming: Naming) -> Result<Export, Diagnostics> {
    Export::new(catalog, naming, &RequestLimits::BEDROCK, described)
}

/// Describes one tool under its wire name.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_providers::bedrock::describe;
///
/// let tool = Tool::builder("now").description("Returns the time.").build()?;
/// let export = describe(&tool, "now");
/// assert_eq!(export.json["toolSpec"]["description"], "Returns the time.");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[must_use]
pub fn describe(tool: &Tool, name: &str) -> ToolExport {
    let mut export = described(tool, name);
    export.json.sort_all_objects();
    export
}

/// Describes one tool without sorting its keys.
fn described(tool: &Tool, name: &str) -> ToolExport {
    let input = lower_unsorted(tool.input().as_value(), &Dialect::BEDROCK, Side::Input);
    let mut spec = Map::from_iter([("name".to_owned(), json!(name))]);
    spec.extend(provider_description(tool).map(|text| ("description".to_owned(), json!(text))));
    spec.insert("inputSchema".to_owned(), json!({ "json": input.schema }));
    let losses = unsupported_fields(tool, &[]).into_iter().chain(input.losses).collect();
    ToolExport { json: json!({ "toolSpec": spec }), losses, not_strict: Vec::new() }
}

/// Reads a reply and runs its calls. `export` is the export whose tools were sent with the request.
///
/// ```standalone_crate
/// use serde_json::json;
/// use toolkit::Dispatcher;
/// use toolkit::catalog::Naming;
/// use toolkit_providers::bedrock::{respond, tools};
///
/// /// Adds two integers.
/// #[toolkit::tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::new(toolkit::catalog![add]?)?;
/// let export = tools(dispatcher.catalog(), Naming::Name)?;
/// let response = json!({ "stopReason": "tool_use", "output": { "message": { "role": "assistant", "content": [
///     { "toolUse": { "toolUseId": "tooluse_1", "name": "add", "input": { "a": 1, "b": 2 } } },
/// ] } } });
/// let turn = respond(&dispatcher, &export, &response).await?;
/// assert_eq!(turn.messages()?[1], json!({ "role": "user", "content": [
///     { "toolResult": { "toolUseId": "tooluse_1", "content": [{ "text": "3" }], "status": "success" } },
/// ] }));
/// # Ok(())
/// # })
/// # }
/// ```
///
/// # Errors
///
/// Returns an error if the JSON is not a reply. The error of a call is its result.
#[cfg(feature = "async")]
pub async fn respond<'b>(
    dispatcher: &Dispatcher,
    export: &Export,
    response: impl Into<ReplyBody<'b>>,
) -> Result<Turn, InvalidReply> {
    CONVERSE.respond(dispatcher, export, response).await
}
