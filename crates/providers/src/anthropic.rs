//! The API of Anthropic, Messages: tools, replies and results, and the assembly of a streamed message.

use serde_json::{Map, Value, json};

use super::dialect::{Dialect, check_record};
use super::export::Export;
use super::loss::{Effect, Loss, Side, ToolExport, provider_description, unsupported_fields};
use super::lower::{StrictResult, is_requested, lower_strict, replace_names};
use super::reader::{Fields, read_function};
use super::request::{Member, RequestLimits, apply_limits};
use crate::reply::{
    Answer, Api, Assembled, Assembly, CallArguments, Format, InvalidReply, Item, Parsed, Part, ReplyEvent, StopReason,
    ToolCall, WrittenCall, fields, keep_stop, merge, object, push, stated,
};
use toolkit::catalog::{Catalog, Diagnostics, ExportedNames, Naming};
use toolkit::tool::{ParseToolError, Tool};

/// `POST /v1/messages`.
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::Naming;
/// use toolkit::{Dispatcher, catalog, tool};
/// use toolkit_providers::anthropic::{MESSAGES, Options, tools};
///
/// /// Adds two integers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::new(catalog![add]?)?;
/// let export = tools(dispatcher.catalog(), Naming::default(), Options::default())?;
/// let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "add", "input": { "a": 1, "b": 2 } });
/// let turn = MESSAGES.respond(&dispatcher, &export, json!({ "content": [call], "stop_reason": "tool_use" })).await?;
/// let result = json!({ "type": "tool_result", "tool_use_id": "toolu_1", "content": "3" });
/// assert_eq!(turn.results.messages()?, [json!({ "role": "user", "content": [result] })]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub const MESSAGES: Api = Api(&Messages);

/// Options of the export.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_providers::anthropic::{Options, describe};
///
/// let tool = Tool::builder("now").description("Returns the time.").build()?;
/// let json = describe(&tool, "now", Options::default().strict().deferred()).json;
/// assert_eq!((&json["strict"], &json["defer_loading"]), (&true.into(), &true.into()));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Requests strict mode for every tool for which it is possible. A request can have 20 strict tools; [`tools`]
    /// describes how they are selected.
    pub strict: bool,
    /// Sends a tool to the model only after it has searched for it.
    pub defer_loading: bool,
    /// The callers of a tool that has no `allowed_callers` of its own, such as `code_execution_20260120`. By default, the
    /// model calls it directly.
    pub allowed_callers: &'static [&'static str],
}

impl Options {
    /// Requests strict mode for every tool for which it is possible.
    #[must_use]
    pub fn strict(self) -> Self {
        Self { strict: true, ..self }
    }

    /// Sends a tool to the model only after it has searched for it.
    #[must_use]
    pub fn deferred(self) -> Self {
        Self { defer_loading: true, ..self }
    }
}

/// Returns the `tools` of a request, with the examples of each tool as `input_examples`.
///
/// A request can have 20 strict tools, and these have limits on optional parameters and parameters with several types.
/// Where the tools exceed the limits, some give up strict mode, and `not_strict` lists them. A tool stays strict if it
/// still fits, in this order: tools that may change something, since wrong arguments do more harm there; tools with the
/// fewest such parameters; then by id. [`tools_within`] accepts other limits.
///
/// ```
/// use toolkit_providers::anthropic::{Options, tools};
/// use toolkit::catalog::Naming;
///
/// /// Adds two integers.
/// #[toolkit::tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// let export = tools(&toolkit::catalog![add]?, Naming::Name, Options::default().strict())?;
/// assert_eq!(export.json[0]["strict"], true);
/// assert_eq!(export.json[0]["input_schema"]["required"], serde_json::json!(["a", "b"]));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`list_tools`](toolkit::mcp::list_tools).
pub fn tools(catalog: &Catalog, naming: Naming, options: Options) -> Result<Export, Diagnostics> {
    tools_within(&RequestLimits::ANTHROPIC, catalog, naming, options)
}

/// Returns the `tools` of a request with the given limits instead of [`RequestLimits::ANTHROPIC`].
///
/// ```
/// # use toolkit_providers::RequestLimits;
/// # use toolkit_providers::anthropic::{Options, tools_within};
/// # use toolkit::catalog::Naming;
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// # let tool = |name| toolkit::Tool::builder(name).input(serde_json::json!({ "type": "object", "properties": {},
/// #     "additionalProperties": false })).build();
/// # let catalog = toolkit::Catalog::new([tool("look")?, tool("write")?])?;
/// let mut limits = RequestLimits::ANTHROPIC;
/// limits.strict_tools = Some(1);
/// let export = tools_within(&limits, &catalog, Naming::Name, Options::default().strict())?;
/// let (tool, why) = &export.not_strict[0];
/// assert_eq!(tool.name(), "write");
/// assert_eq!(why[0].to_string(), "`strict` is given up: a request to Anthropic has room for 1 strict tools");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`list_tools`](toolkit::mcp::list_tools).
pub fn tools_within(
    limits: &RequestLimits,
    catalog: &Catalog,
    naming: Naming,
    options: Options,
) -> Result<Export, Diagnostics> {
    let names = catalog.listed(naming)?;
    let strict = |tool: &Tool| is_requested(tool, "strict", options.strict);
    let mut members = Member::all(&names, |tool, name| described(tool, name, strict(tool), options));
    // Tools that were read as strict count like the others.
    let strict = apply_limits(limits, &mut members, |tool, name| described(tool, name, false, options));
    let strict = strict.into_iter().filter(|usage| options.strict || usage.count > 0);
    let mut export = Export::from_members(limits, members);
    export.usage.extend(strict);
    Ok(export)
}

/// The fields of this format that have no counterpart; they are kept in tools that were read.
const OWN: [&str; 3] = ["allowed_callers", "cache_control", "eager_input_streaming"];

/// Describes one tool under its wire name.
///
/// `strict` and `defer_loading` of a tool that was read with them take precedence over the options.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_providers::anthropic::{Options, describe};
///
/// let tool = Tool::builder("now").description("Returns the time.").build()?;
/// let export = describe(&tool, "now", Options::default());
/// assert_eq!(export.json["input_schema"]["type"], "object");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[must_use]
pub fn describe(tool: &Tool, name: &str, options: Options) -> ToolExport {
    let mut export = described(tool, name, is_requested(tool, "strict", options.strict), options);
    export.json.sort_all_objects();
    export
}

/// Describes one tool without sorting its keys.
fn described(tool: &Tool, name: &str, strict: bool, options: Options) -> ToolExport {
    let strict = strict.then_some(&Dialect::ANTHROPIC_STRICT);
    let StrictResult { lowered, is_strict, not_strict, .. } = lower_strict(tool, strict, &Dialect::ANTHROPIC);
    let description = provider_description(tool);
    let rejected = check_record(&Dialect::ANTHROPIC, name, description.as_deref());
    let mut json = Map::from_iter([("name".to_owned(), json!(name)), ("input_schema".to_owned(), lowered.schema)]);
    json.extend(description.map(|text| ("description".to_owned(), json!(text))));
    if is_strict {
        json.insert("strict".to_owned(), json!(true));
    }
    if is_requested(tool, "defer_loading", options.defer_loading) {
        json.insert("defer_loading".to_owned(), json!(true));
    }
    // An example has to match the schema.
    let properties = json["input_schema"]["properties"].as_object();
    let renamed = |example: &Value| {
        let renamed = replace_names(example.clone());
        let is_sent =
            |name: &String| example.get(name).is_some() || properties.is_some_and(|named| named.contains_key(name));
        renamed.as_object().is_none_or(|renamed| renamed.keys().all(is_sent)).then_some(renamed)
    };
    let examples: Vec<Value> = tool.examples().iter().filter_map(renamed).collect();
    let n_left_out = tool.examples().len() - examples.len();
    if !examples.is_empty() {
        json.insert("input_examples".to_owned(), examples.into());
    }
    let mut supported = vec!["examples", "strict", "defer_loading"];
    if !options.allowed_callers.is_empty() {
        json.insert("allowed_callers".to_owned(), json!(options.allowed_callers));
    }
    for field in OWN {
        if let Some(value) = tool.metadata().unknown.get(field) {
            json.insert(field.to_owned(), value.clone());
            supported.push(field);
        }
    }
    let reason = "of arguments that cannot be sent are left out";
    let examples = Loss::new(Side::Record, "/examples", "examples", Effect::MetadataOnly, reason);
    let record = unsupported_fields(tool, &supported).into_iter().chain((n_left_out > 0).then_some(examples));
    let losses = record.chain(rejected).chain(lowered.losses).collect();
    ToolExport { json: json.into(), losses, not_strict }
}

/// Reads a tool.
///
/// ```
/// use serde_json::json;
/// use toolkit_providers::anthropic::read;
///
/// let tool = read(&json!({ "name": "now", "input_schema": { "type": "object" } }))?;
/// assert_eq!(tool.name(), "now");
/// # Ok::<(), toolkit::tool::ParseToolError>(())
/// ```
///
/// # Errors
///
/// Returns an error if a field has the wrong type.
pub fn read(json: &Value) -> Result<Tool, ParseToolError> {
    read_function(
        json,
        &Fields { input: "input_schema", output: None, examples: Some("input_examples"), open_api: false },
    )
}

// Replies and results of Messages.

/// The format of Messages.
#[derive(Debug)]
struct Messages;

const NAME: &str = "Anthropic Messages";

/// The tools that Anthropic defines and the host runs. A call of them has the form of other calls.
const HOST_TOOLS: [&str; 5] = ["bash", "computer", "memory", "str_replace_based_edit_tool", "str_replace_editor"];

/// The types of images that a result may contain.
const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

impl Format for Messages {
    fn name(&self) -> &'static str {
        NAME
    }

    fn add(&self, mut event: Value, reply: &mut Assembly) -> Result<(), InvalidReply> {
        let mut take = |pointer: &str| event.pointer_mut(pointer).map(Value::take).unwrap_or_default();
        let (kind, index) = (take("/type"), take("/index").as_u64());
        match kind.as_str().unwrap_or_default() {
            "message_start" => (reply.body, reply.has_started) = (object(take("/message")), true),
            "content_block_start" => {
                let block = take("/content_block");
                if block.is_object() {
                    let name = (block["type"] == "tool_use").then(|| block["name"].clone());
                    let index = reply.start(index, block);
                    name.iter().for_each(|name| reply.show_call(index, name));
                }
            }
            "content_block_delta" => {
                if let Some(index) = reply.known(index) {
                    extend(index, take("/delta"), reply);
                }
            }
            "message_delta" => {
                let (mut delta, usage) = (take("/delta"), take("/usage"));
                if let Value::Object(fields) = &mut delta {
                    keep_stop(reply.body.get("stop_reason"), fields, "stop_reason", stop_of);
                }
                merge(&mut reply.body, delta);
                merge(&mut reply.body, fields([("usage", usage)]));
                reply.has_started = true;
            }
            "message_stop" => reply.is_complete = true,
            "error" if reply.has_started => reply.body["error"] = take("/error"),
            "error" => return Err(InvalidReply::unexpected(NAME, "message", &event)),
            _ => {}
        }
        Ok(())
    }

    fn assemble(&self, mut reply: Assembly) -> Result<Value, InvalidReply> {
        if !reply.has_started {
            return Err(InvalidReply::new(NAME, "the stream has no `message_start`"));
        }
        reply.body["content"] = reply.take_blocks().collect();
        Ok(reply.body)
    }

    fn read(&self, reply: Assembled, names: &ExportedNames) -> Result<Parsed, InvalidReply> {
        let mut body = reply.body;
        let Some(Value::Array(mut content)) = body.get_mut("content").map(Value::take) else {
            return Err(InvalidReply::unexpected(NAME, "`content`", &body));
        };
        let mut parsed = Parsed::new(&body["id"]);
        content.retain(|block| block["type"].is_string());
        content.iter_mut().for_each(|block| read_block(block, names, &mut parsed));
        content.retain(is_accepted);
        parsed.stop(stop_reason(&body));
        if !content.is_empty() {
            parsed.messages.push(fields([("role", "assistant".into()), ("content", content.into())]));
        }
        Ok(parsed.with_metadata(body, "content"))
    }

    fn write(&self, items: &[Item<'_>]) -> Vec<Value> {
        vec![fields([("role", "user".into()), ("content", Item::write_each(items, result).into())])]
    }
}

fn read_block(block: &mut Value, names: &ExportedNames, parsed: &mut Parsed) {
    let field = |name: &str| block.get(name).and_then(Value::as_str);
    let (id, name) = (field("id"), field("name").unwrap_or_default());
    match field("type").unwrap_or_default() {
        "text" => parsed.text.push_str(field("text").unwrap_or_default()),
        "thinking" => parsed.reasoning.push_str(field("thinking").unwrap_or_default()),
        "tool_use" if block.get("toolset_name").is_some() || is_of_host(name, names) => {
            parsed.push_host_call(name, id, &CallArguments::from_value(block.get("input")));
            CallArguments::make_object(block, "input");
        }
        "tool_use" => {
            let caller = block.get("caller").filter(|caller| caller.is_object() && caller["type"] != "direct");
            let arguments = CallArguments::from_value(block.get("input"));
            let call = WrittenCall { caller, ..WrittenCall::new(id.filter(|id| is_valid_id(id)), name, arguments) };
            write_call(block, parsed.push(call, names));
        }
        kind @ ("server_tool_use" | "mcp_tool_use") => {
            parsed.push_provider_call(kind, id, false);
            CallArguments::make_object(block, "input");
        }
        // Other parts are only repeated.
        _ => {}
    }
}

/// Writes a call in the form of a request.
fn write_call(block: &mut Value, call: &ToolCall) {
    block["id"] = call.id.as_str().into();
    block["name"] = call.sent_name.as_str().into();
    if let Some(block) = block.as_object_mut() {
        block.retain(|field, value| field != "caller" || value.is_object());
    }
    CallArguments::make_object(block, "input");
}

/// Returns true if a request may contain a block. The API rejects blank texts, and thinking without its signature, at
/// which a stream may have ended.
fn is_accepted(block: &Value) -> bool {
    match block["type"].as_str() {
        Some("text") => block["text"].as_str().is_some_and(|text| !text.trim().is_empty()),
        Some("thinking") => block["thinking"].is_string() && block["signature"].is_string(),
        _ => true,
    }
}

fn is_valid_id(id: &str) -> bool {
    id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn is_of_host(name: &str, names: &ExportedNames) -> bool {
    HOST_TOOLS.contains(&name) && names.get(None, name).is_none()
}

fn stop_reason(body: &Value) -> StopReason {
    match stop_of(&stated(body.get("stop_reason"))) {
        StopReason::Refused(_) => {
            let details = &body["stop_details"];
            let why = details["explanation"].as_str().or_else(|| details["category"].as_str());
            StopReason::Refused(why.unwrap_or_default().to_owned())
        }
        _ if body.get("error").is_some() => {
            StopReason::Failed(body["error"]["message"].as_str().unwrap_or_default().to_owned())
        }
        stop => stop,
    }
}

/// Reads a value of `stop_reason`. A complete message has one.
fn stop_of(reason: &str) -> StopReason {
    match reason {
        "tool_use" => StopReason::ToolCalls,
        "end_turn" | "stop_sequence" => StopReason::End,
        "" | "max_tokens" | "model_context_window_exceeded" => StopReason::Truncated,
        "pause_turn" => StopReason::Paused,
        "refusal" => StopReason::Refused(String::new()),
        other => StopReason::Other(other.to_owned()),
    }
}

fn result(answer: &Answer<'_>) -> Value {
    let mut result = Map::new();
    result.insert("type".to_owned(), "tool_result".into());
    result.insert("tool_use_id".to_owned(), answer.call.id.as_str().into());
    if answer.is_error {
        result.insert("is_error".to_owned(), true.into());
    }
    // The API accepts nothing but text in an error, and in the result of a call by a program.
    let only_text = answer.is_error || answer.call.caller.is_some();
    let mut blocks: Vec<Value> = answer.parts.iter().filter_map(|part| block(part, only_text)).collect();
    match &mut blocks[..] {
        // A text without any letters is rejected, and so is an empty list.
        [] => {}
        [only] if only["type"] == "text" => {
            result.insert("content".to_owned(), only["text"].take());
        }
        _ => {
            result.insert("content".to_owned(), blocks.into());
        }
    }
    result.into()
}

fn block(part: &Part, only_text: bool) -> Option<Value> {
    let base64 = |kind: &str, mime_type: &str, data: &str| {
        let source = [("type", "base64".into()), ("media_type", mime_type.into()), ("data", data.into())];
        fields([("type", kind.into()), ("source", fields(source))])
    };
    match part {
        Part::Image { data, mime_type } if !only_text && IMAGE_TYPES.contains(&mime_type.as_str()) => {
            Some(base64("image", mime_type, data))
        }
        Part::File { data, mime_type, .. } if !only_text && mime_type == "application/pdf" => {
            Some(base64("document", mime_type, data))
        }
        other => {
            let text = other.to_text();
            (!text.trim().is_empty()).then(|| fields([("type", "text".into()), ("text", text.into())]))
        }
    }
}

/// Adds a piece to a block of a streamed message.
fn extend(index: u64, mut delta: Value, reply: &mut Assembly) {
    let mut take = |field: &str| delta.get_mut(field).map(Value::take).unwrap_or_default();
    match take("type").as_str().unwrap_or_default() {
        "text_delta" => reply.append(index, "text", &take("text"), ReplyEvent::Text),
        "thinking_delta" => reply.append(index, "thinking", &take("thinking"), ReplyEvent::Reasoning),
        "signature_delta" => reply.json(index)["signature"] = take("signature"),
        "input_json_delta" => reply.add_arguments(index, &["input"], take("partial_json")),
        "citations_delta" => push(reply.json(index), "citations", take("citation")),
        "compaction_delta" => reply.json(index)["content"] = take("content"),
        _ => {}
    }
}
