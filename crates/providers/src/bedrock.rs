//! The API of Amazon Bedrock, Converse: tools, replies and results.

mod converse;
mod results;
mod stream;

use serde_json::{Map, Value, json};

use super::dialect::{Dialect, check_record};
use super::export::Export;
use super::loss::{Effect, Loss, Side, ToolExport, provider_description, unsupported_fields};
use super::lower::{StrictResult, is_requested, lower_strict};
use super::request_limits::RequestLimits;
use crate::reply::Api;
use toolkit::catalog::{Catalog, Diagnostics, Naming};
use toolkit::tool::Tool;
use toolkit_schema::walk;

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

/// Options of the export.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_providers::bedrock::{Options, describe};
///
/// let tool = Tool::builder("now").input(serde_json::json!({
///     "type": "object", "properties": {}, "additionalProperties": false,
/// }));
/// let tool = tool.build()?;
/// let spec = |options| describe(&tool, "now", options).json["toolSpec"].clone();
/// let mut options = Options::default();
/// options.strict = true;
/// assert_eq!(spec(options)["strict"], true);
/// // For models other than Claude, some of which reject closed objects.
/// let mut options = Options::default();
/// options.open_objects = true;
/// assert!(spec(options)["inputSchema"]["json"].get("additionalProperties").is_none());
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Requests strict mode for every tool for which it is possible.
    pub strict: bool,
    /// Leaves out `additionalProperties: false`, which some models other than Claude reject.
    pub open_objects: bool,
}

/// Returns the `toolConfig.tools` of a request.
///
/// ```
/// use toolkit_providers::bedrock::{Options, tools};
/// use toolkit::catalog::Naming;
///
/// /// Adds two integers.
/// #[toolkit::tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// let export = tools(&toolkit::catalog![add]?, Naming::Name, Options::default())?;
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
pub fn tools(catalog: &Catalog, naming: Naming, options: Options) -> Result<Export, Diagnostics> {
    Export::new(catalog, naming, &RequestLimits::BEDROCK, |tool, name| described(tool, name, options))
}

/// Describes one tool under its wire name.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_providers::bedrock::{Options, describe};
///
/// let tool = Tool::builder("now").description("Returns the time.").build()?;
/// let export = describe(&tool, "now", Options::default());
/// assert_eq!(export.json["toolSpec"]["description"], "Returns the time.");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[must_use]
pub fn describe(tool: &Tool, name: &str, options: Options) -> ToolExport {
    described(tool, name, options).sorted()
}

/// Describes one tool without sorting its keys.
fn described(tool: &Tool, name: &str, options: Options) -> ToolExport {
    let strict = is_requested(tool, "strict", options.strict).then_some(&Dialect::BEDROCK_STRICT);
    let StrictResult { mut lowered, is_strict, not_strict } = lower_strict(tool, strict, &Dialect::BEDROCK);
    let description = provider_description(tool);
    let rejected = check_record(&Dialect::BEDROCK, name, description.as_deref());
    let mut spec = Map::from_iter([("name".to_owned(), json!(name))]);
    spec.extend(description.map(|text| ("description".to_owned(), json!(text))));
    if is_strict {
        spec.insert("strict".to_owned(), true.into());
    } else if options.open_objects && open_objects(&mut lowered.schema) {
        let reason = "is left out; undeclared properties can be sent";
        lowered.losses.push(Loss::new(Side::Input, "", "additionalProperties", Effect::Widened, reason));
    }
    spec.insert("inputSchema".to_owned(), json!({ "json": lowered.schema }));
    let losses = unsupported_fields(tool, &["strict"]).into_iter().chain(rejected).chain(lowered.losses).collect();
    ToolExport { json: json!({ "toolSpec": spec }), losses, not_strict }
}

/// Removes `additionalProperties: false` from a schema and those in it. Returns true if there was one.
fn open_objects(schema: &mut Value) -> bool {
    let Value::Object(keywords) = schema else { return false };
    let mut was_closed = keywords.get("additionalProperties") == Some(&Value::Bool(false));
    if was_closed {
        keywords.shift_remove("additionalProperties");
    }
    walk::each_mut(keywords, |_, sub| was_closed |= open_objects(sub));
    was_closed
}
