//! The API of Amazon Bedrock, Converse: tools, replies and results, and the assembly of a streamed message.

use serde_json::{Map, Value, json};

use super::dialect::{Dialect, check_record};
use super::export::Export;
use super::loss::{Effect, Loss, Side, ToolExport, provider_description, unsupported_fields};
use super::lower::{StrictResult, is_requested, lower_strict};
use super::request::RequestLimits;
use crate::reply::{
    Answer, Api, Assembled, Assembly, CallArguments, Format, Framing, InvalidReply, Item, Parsed, Part, ReplyEvent,
    StopReason, ToolCall, WrittenCall, append, field_mut, fields, keep_stop, merge, object, push, stated,
};
use toolkit::catalog::{Catalog, Diagnostics, ExportedNames, Naming};
use toolkit::tool::Tool;
use toolkit_runtime::media_type;
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
pub const CONVERSE: Api = Api(&Converse);

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
    let mut export = described(tool, name, options);
    export.json.sort_all_objects();
    export
}

/// Describes one tool without sorting its keys.
fn described(tool: &Tool, name: &str, options: Options) -> ToolExport {
    let strict = is_requested(tool, "strict", options.strict).then_some(&Dialect::BEDROCK_STRICT);
    let StrictResult { mut lowered, is_strict, not_strict, .. } = lower_strict(tool, strict, &Dialect::BEDROCK);
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
        keywords.remove("additionalProperties");
    }
    walk::each_mut(keywords, |_, sub| was_closed |= open_objects(sub));
    was_closed
}

// Replies of Converse.

/// The format of Converse.
#[derive(Debug)]
struct Converse;

const NAME: &str = "Bedrock Converse";

impl Format for Converse {
    fn name(&self) -> &'static str {
        NAME
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn add(&self, event: Value, reply: &mut Assembly) -> Result<(), InvalidReply> {
        let (kind, mut payload) = typed(event);
        let mut take = |field: &str| payload.get_mut(field).map(Value::take).unwrap_or_default();
        match kind.as_str() {
            "messageStart" => {}
            "contentBlockStart" => start(take("contentBlockIndex").as_u64(), take("start"), reply),
            "contentBlockDelta" => extend(take("contentBlockIndex").as_u64(), take("delta"), reply),
            "messageStop" | "metadata" => {
                // Padding, against conclusions from the length of an event.
                take("p");
                if let Value::Object(fields) = &mut payload {
                    keep_stop(reply.body.get("stopReason"), fields, "stopReason", stop_of);
                }
                merge(&mut reply.body, payload);
                reply.is_complete |= kind == "messageStop";
            }
            kind if kind.ends_with("Exception") => {
                let message = payload["message"].as_str().unwrap_or(kind);
                if !reply.has_started {
                    return Err(InvalidReply::unexpected(NAME, "`messageStart`", &json!({ "message": message })));
                }
                reply.body["error"] = json!({ "type": kind, "message": message });
            }
            _ => return Ok(()),
        }
        reply.has_started |= kind != "metadata";
        Ok(())
    }

    fn assemble(&self, mut reply: Assembly) -> Result<Value, InvalidReply> {
        if !reply.has_started {
            return Err(InvalidReply::new(NAME, "the stream has no `messageStart`"));
        }
        let message = [("role", "assistant".into()), ("content", reply.take_blocks().collect())];
        reply.body["output"] = fields([("message", fields(message))]);
        Ok(reply.body)
    }

    fn read(&self, reply: Assembled, names: &ExportedNames) -> Result<Parsed, InvalidReply> {
        let mut body = reply.body;
        let message = body.get_mut("output").and_then(|output| output.as_object_mut()?.remove("message"));
        let Some(Value::Object(mut message)) = message else {
            return Err(InvalidReply::unexpected(NAME, "`output.message`", &body));
        };
        // Converse does not return the id of the response in its JSON.
        let mut parsed = Parsed::new(&Value::Null);
        let mut content = match message.remove("content") {
            Some(Value::Array(content)) => content,
            _ => Vec::new(),
        };
        // A block of an unknown type is empty in a stream.
        content.retain(|block| block.as_object().is_some_and(|block| !block.is_empty()));
        content.iter_mut().for_each(|block| read_block(block, names, &mut parsed));
        parsed.stop(stop_reason(&body));
        // Models write blank texts before calls, but the API rejects them in a request.
        let is_blank = |text: &Value| text.as_str().is_none_or(|text| text.trim().is_empty());
        content.retain(|block| !block.get("text").is_some_and(is_blank));
        if !content.is_empty() {
            message.insert("content".to_owned(), content.into());
            message.insert("role".to_owned(), "assistant".into());
            parsed.messages.push(message.into());
        }
        parsed.metadata = body;
        Ok(parsed)
    }

    fn write(&self, items: &[Item<'_>]) -> Vec<Value> {
        let blocks = Item::write_each(items, |answer| fields([("toolResult", tool_result(answer))]));
        vec![fields([("role", "user".into()), ("content", blocks.into())])]
    }
}

fn read_block(block: &mut Value, names: &ExportedNames, parsed: &mut Parsed) {
    if let Some(call) = block.get_mut("toolUse") {
        *call = object(call.take());
        let id = call["toolUseId"].as_str();
        if let Some(kind) = provider_kind(call) {
            parsed.push_provider_call(kind, id, false);
            return CallArguments::make_object(call, "input");
        }
        let arguments = CallArguments::from_value(call.get("input"));
        let name = call["name"].as_str().unwrap_or_default();
        let written = WrittenCall::new(id.filter(|id| is_valid_id(id)), name, arguments);
        return write_call(call, parsed.push(written, names));
    }
    parsed.text.push_str(block["text"].as_str().unwrap_or_default());
    for cited in block["citationsContent"]["content"].as_array().into_iter().flatten() {
        parsed.text.push_str(cited["text"].as_str().unwrap_or_default());
    }
    if let Some(reasoning) = block.pointer_mut("/reasoningContent/reasoningText").filter(|text| text.is_object()) {
        let text = reasoning["text"].as_str().unwrap_or_default().to_owned();
        parsed.reasoning.push_str(&text);
        // A request requires it, also if the model shows nothing but a signature.
        reasoning["text"] = text.into();
    }
}

/// Writes a call in the form of a request.
fn write_call(json: &mut Value, call: &ToolCall) {
    json["toolUseId"] = call.id.as_str().into();
    json["name"] = call.sent_name.as_str().into();
    CallArguments::make_object(json, "input");
}

/// Returns true if an id has the form of the service model.
fn is_valid_id(id: &str) -> bool {
    id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte))
}

/// Returns the type of a call of a tool of the provider.
fn provider_kind(tool_use: &Value) -> Option<&str> {
    tool_use["type"].as_str().filter(|kind| *kind != "tool_use")
}

fn stop_reason(body: &Value) -> StopReason {
    match (stop_of(&stated(body.get("stopReason"))), body.get("error")) {
        (StopReason::Refused(reason), _) => {
            let why = body["trace"]["guardrail"]["actionReason"].as_str();
            StopReason::Refused(why.unwrap_or(&reason).to_owned())
        }
        (_, Some(error)) => StopReason::Failed(error["message"].as_str().unwrap_or_default().to_owned()),
        (stop, None) => stop,
    }
}

/// Reads a value of `stopReason`. A complete reply has one.
fn stop_of(reason: &str) -> StopReason {
    match reason {
        "tool_use" => StopReason::ToolCalls,
        "end_turn" | "stop_sequence" => StopReason::End,
        "" | "max_tokens" | "model_context_window_exceeded" => StopReason::Truncated,
        why @ ("content_filtered" | "guardrail_intervened") => StopReason::Refused(why.to_owned()),
        why @ ("malformed_tool_use" | "malformed_model_output") => StopReason::Malformed(why.to_owned()),
        other => StopReason::Other(other.to_owned()),
    }
}

// A message from the events of its stream.

/// Splits an event into its type and its payload.
fn typed(event: Value) -> (String, Value) {
    match event {
        Value::Object(fields) if fields.len() == 1 && fields.values().all(Value::is_object) => {
            fields.into_iter().next().unwrap_or_default()
        }
        payload => (kind(&payload).to_owned(), payload),
    }
}

/// Returns the type of a payload, which the frame of the event contains and the JSON does not.
fn kind(payload: &Value) -> &'static str {
    let has = |field: &str| payload.get(field).is_some();
    match () {
        () if has("start") => "contentBlockStart",
        () if has("delta") => "contentBlockDelta",
        () if has("contentBlockIndex") => "contentBlockStop",
        () if has("stopReason") => "messageStop",
        () if has("usage") || has("metrics") => "metadata",
        () if has("role") => "messageStart",
        () if has("message") => "modelStreamErrorException",
        () => "",
    }
}

/// Begins a block.
fn start(index: Option<u64>, mut block: Value, reply: &mut Assembly) {
    // The start of a text is empty, or missing.
    if block.as_object().is_none_or(Map::is_empty) {
        return;
    }
    let mut call = None;
    if let Some(tool_use) = block.get_mut("toolUse").filter(|tool_use| tool_use.is_object()) {
        tool_use["input"] = json!({});
        call = provider_kind(tool_use).is_none().then(|| tool_use["name"].clone());
    }
    let index = reply.start(index, block);
    if let Some(name) = call {
        reply.show_call(index, &name);
    }
}

/// Adds a piece to a block.
fn extend(index: Option<u64>, delta: Value, reply: &mut Assembly) {
    let Value::Object(delta) = delta else { return };
    for (kind, mut delta) in delta {
        let index = index.unwrap_or_else(|| index_of(&kind, reply));
        match (kind.as_str(), &mut delta) {
            ("text", Value::String(text)) => {
                append_text(reply.json(index), text);
                reply.show(ReplyEvent::Text, text);
            }
            ("toolUse", Value::Object(tool_use)) if reply.known(Some(index)).is_some() => {
                reply.add_arguments(index, &["toolUse", "input"], tool_use.remove("input").unwrap_or_default());
            }
            ("citation", citation) => append_citation(reply.json(index), citation.take()),
            ("reasoningContent", Value::Object(reasoning)) => {
                for (kind, piece) in reasoning {
                    append_reasoning(index, kind, piece.take(), reply);
                }
            }
            ("toolResult", Value::Array(items)) => {
                let result = field_mut(reply.json(index), &["toolResult"]);
                items.drain(..).for_each(|item| push(result, "content", item));
            }
            ("image", image) => merge(field_mut(reply.json(index), &["image"]), image.take()),
            _ => {}
        }
    }
}

/// Returns the index of the block that a piece without an index belongs to: the latest one if it has the type of the
/// piece.
fn index_of(kind: &str, reply: &Assembly) -> u64 {
    let fields: &[&str] = match kind {
        "text" | "citation" => &["text", "citationsContent"],
        _ => &[kind],
    };
    let latest = reply.blocks.last_key_value();
    let latest = latest.filter(|(_, block)| fields.iter().any(|field| block.json.get(field).is_some()));
    latest.map_or_else(|| reply.next_index(), |(index, _)| *index)
}

/// Adds text to a block, which has citations if any of them arrived before.
fn append_text(block: &mut Value, text: &str) {
    match block.pointer_mut("/citationsContent/content/0").filter(|cited| cited.is_object()) {
        Some(cited) => append(cited, "text", text),
        None => append(block, "text", text),
    }
}

fn append_citation(block: &mut Value, citation: Value) {
    if block.get("citationsContent").is_none() {
        let text = block.get("text").cloned().unwrap_or_else(|| "".into());
        *block = json!({ "citationsContent": { "content": [{ "text": text }] } });
    }
    push(field_mut(block, &["citationsContent"]), "citations", citation);
}

fn append_reasoning(index: u64, kind: &str, piece: Value, reply: &mut Assembly) {
    let block = reply.json(index);
    match (kind, piece) {
        ("text" | "signature", Value::String(text)) => {
            append(field_mut(block, &["reasoningContent", "reasoningText"]), kind, &text);
            if kind == "text" {
                reply.show(ReplyEvent::Reasoning, &text);
            }
        }
        ("redactedContent", redacted) => *field_mut(block, &["reasoningContent", kind]) = redacted,
        _ => {}
    }
}

// Results of calls as blocks of a message.

/// The formats of images by their media types.
const IMAGE_FORMATS: [(&str, &str); 4] =
    [("image/png", "png"), ("image/jpeg", "jpeg"), ("image/gif", "gif"), ("image/webp", "webp")];

/// The formats of documents by their media types.
const DOCUMENT_FORMATS: [(&str, &str); 9] = [
    ("application/pdf", "pdf"),
    ("text/plain", "txt"),
    ("text/markdown", "md"),
    ("text/csv", "csv"),
    ("text/html", "html"),
    ("application/msword", "doc"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ("application/vnd.ms-excel", "xls"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
];

/// The maximum number of characters of the name of a document, which may have 200 with the id of its call.
const MAX_NAME: usize = 100;

fn tool_result(answer: &Answer<'_>) -> Value {
    let id = &answer.call.id;
    let blocks = answer.parts.iter().enumerate();
    let mut content: Vec<Value> = blocks.filter_map(|(position, part)| block(part, id, position)).collect();
    if content.is_empty() {
        // The API rejects a result without content.
        content.push(json!({ "text": if answer.is_error { "error" } else { "ok" } }));
    }
    let status = if answer.is_error { "error" } else { "success" };
    fields([("toolUseId", id.as_str().into()), ("content", content.into()), ("status", status.into())])
}

fn block(part: &Part, id: &str, position: usize) -> Option<Value> {
    match part {
        Part::Json(json) if json.trim_ascii_start().starts_with('{') => match serde_json::from_str::<Value>(json) {
            Ok(object) => return Some(fields([("json", object)])),
            Err(_) => return Some(json!({ "text": json })),
        },
        Part::Image { data, mime_type } => {
            if let Some(format) = format(&IMAGE_FORMATS, mime_type) {
                return Some(json!({ "image": { "format": format, "source": { "bytes": data } } }));
            }
        }
        Part::File { name, data, mime_type } => {
            if let Some(format) = format(&DOCUMENT_FORMATS, mime_type) {
                let name = document_name(name, id, position);
                return Some(json!({ "document": { "format": format, "name": name, "source": { "bytes": data } } }));
            }
        }
        _ => {}
    }
    let text = part.to_text();
    (!text.trim().is_empty()).then(|| json!({ "text": text }))
}

fn format(formats: &[(&str, &'static str)], mime_type: &str) -> Option<&'static str> {
    let essence = media_type(mime_type);
    formats.iter().find(|(known, _)| known.eq_ignore_ascii_case(essence)).map(|(_, format)| *format)
}

/// Returns a name of letters, digits, hyphens and single spaces. It contains the id of the call, since two documents of
/// a request may not have the same name.
fn document_name(name: &str, id: &str, position: usize) -> String {
    let words = |text: &str| -> String {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(" ").chars().take(MAX_NAME - 8).collect()
    };
    format!("{} {} {position}", words(name), words(id)).trim_ascii().to_owned()
}

#[cfg(test)]
mod tests {
    use super::document_name;

    #[test]
    fn the_name_of_a_document_has_only_permitted_characters() {
        assert_eq!(document_name("Q3  report_v2.pdf", "tooluse_1-a", 0), "Q3 report v2 pdf tooluse 1-a 0");
        assert_eq!(document_name("ä/..\n", "", 2), "2");
        assert!(document_name(&"x".repeat(1000), &"y".repeat(1000), usize::MAX).len() <= 210);
    }
}
