//! A tool as a function of either API, and back.

use serde_json::{Map, Value, json};

use super::options::{Interface, Options};
use crate::dialect::{Dialect, check_record};
use crate::loss::{
    Effect, Loss, NOT_REQUESTED, Side, ToolExport, output_left_out, provider_description, unsupported_fields,
};
use crate::lower::{StrictResult, is_requested, lower_strict};
use crate::reader::{FunctionFields, read_function};
use crate::request_limits::{Member, Usage, schema_usage};
use toolkit::tool::{ParseToolError, Tool};
use toolkit_schema::types::Types;
use toolkit_schema::view::View;
use toolkit_schema::{Schema, width};

/// Describes one tool under its wire name.
///
/// `strict` and `defer_loading` of a tool that was read with them take precedence over the options.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_providers::openai::{Options, describe};
///
/// let tool = Tool::builder("now").description("Returns the time.").build()?;
/// let export = describe(&tool, "now", Options::responses());
/// assert_eq!(export.json["type"], "function");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[must_use]
pub fn describe(tool: &Tool, name: &str, options: Options) -> ToolExport {
    described(tool, name, options).sorted()
}

/// Describes one tool without sorting its keys.
pub(super) fn described(tool: &Tool, name: &str, options: Options) -> ToolExport {
    let strict = is_requested(tool, "strict", options.strict).then_some(&Dialect::OPENAI_STRICT);
    let StrictResult { lowered, is_strict, not_strict } = lower_strict(tool, strict, &Dialect::OPENAI);
    let (description, cut) = within(provider_description(tool), options.max_description);
    let rejected = check_record(&Dialect::OPENAI, name, description.as_deref());
    let mut function = Map::from_iter([("name".to_owned(), json!(name)), ("parameters".to_owned(), lowered.schema)]);
    function.extend(description.map(|text| ("description".to_owned(), json!(text))));
    let (mut supported, mut left_out) = (vec!["strict"], None);
    let json = match options.interface {
        Interface::ChatCompletions => {
            if is_strict {
                function.insert("strict".to_owned(), json!(true));
            }
            json!({ "type": "function", "function": function })
        }
        Interface::Responses => {
            function.insert("type".to_owned(), json!("function"));
            function.insert("strict".to_owned(), json!(is_strict));
            supported.push("defer_loading");
            if is_requested(tool, "defer_loading", options.defer_loading) {
                function.insert("defer_loading".to_owned(), json!(true));
            }
            if let Some(is_async) = tool.metadata().unknown.get("async") {
                supported.push("async");
                function.insert("async".to_owned(), is_async.clone());
            }
            supported.push("outputSchema");
            match tool.output().map(Schema::as_value) {
                Some(_) if !options.output_schemas => left_out = Some(output_left_out(NOT_REQUESTED)),
                Some(schema) if View::new(schema).types().meets(Types::STRING) => {
                    left_out = Some(output_left_out("is left out: a text is sent without quotes, and is not JSON"));
                }
                Some(schema) => {
                    let mut schema = as_object(schema);
                    width::remove(&mut schema);
                    function.insert("output_schema".to_owned(), schema);
                }
                None => {}
            }
            function.into()
        }
    };
    let of_record = unsupported_fields(tool, &supported).into_iter().chain(cut).chain(rejected);
    let losses = of_record.chain(lowered.losses).chain(left_out).collect();
    ToolExport { json, losses, not_strict }
}

/// Cuts a description to a number of characters, after a word.
fn within(description: Option<String>, most: Option<usize>) -> (Option<String>, Option<Loss>) {
    let (Some(text), Some(most)) = (&description, most) else { return (description, None) };
    let Some((end, _)) = text.char_indices().nth(most) else { return (description, None) };
    let room = text.char_indices().nth(most.saturating_sub(2)).map_or(end, |(end, _)| end);
    let end = text[..room].rfind(char::is_whitespace).unwrap_or(room);
    let reason = format!("is cut: it has more than {most} characters");
    let loss = Loss::new(Side::Record, "/description", "description", Effect::MetadataOnly, reason);
    (Some(format!("{} …", text[..end].trim_end())), Some(loss))
}

/// Returns the use of the limits of strict mode, if it is requested.
pub(super) fn strict_usage(members: &[Member<'_>], options: Options) -> Vec<Usage> {
    if options.strict { schema_usage(&Dialect::OPENAI_STRICT, members) } else { Vec::new() }
}

/// Replaces a boolean schema by an equivalent object.
fn as_object(schema: &Value) -> Value {
    match schema {
        Value::Bool(true) => json!({}),
        Value::Bool(false) => json!({ "not": {} }),
        schema => schema.clone(),
    }
}

/// Reads a tool of either API. [`read_all`](super::read_all) also reads namespaces.
///
/// ```
/// use serde_json::json;
/// use toolkit_providers::openai::read;
///
/// let tool = read(&json!({ "type": "function", "name": "now", "parameters": { "type": "object" } }))?;
/// assert_eq!(tool.name(), "now");
/// # Ok::<(), toolkit::tool::ParseToolError>(())
/// ```
///
/// # Errors
///
/// Returns an error if `json` is not a function, or if a field has the wrong type.
pub fn read(json: &Value) -> Result<Tool, ParseToolError> {
    let fields = FunctionFields { input: "parameters", output: Some("output_schema"), examples: None, open_api: false };
    let function = json.get("function").unwrap_or(json);
    if json["type"] == "custom" {
        return Err(ParseToolError::Json("a custom tool takes text; only functions can be read".to_owned()));
    }
    read_function(function, &fields)
}
