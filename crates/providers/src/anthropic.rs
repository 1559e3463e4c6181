//! The API of Anthropic, Messages: tools, replies and results.

mod messages;

use serde_json::{Map, Value, json};

use super::dialect::{Dialect, check_record};
use super::export::Export;
use super::loss::{Effect, Loss, Side, ToolExport, provider_description, unsupported_fields};
use super::lower::{StrictResult, is_requested, lower_strict, replace_names};
use super::reader::{FunctionFields, read_function};
use super::request_limits::{Member, RequestLimits, apply_limits};
use crate::reply::Api;
use toolkit::catalog::{Catalog, Diagnostics, Naming};
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
pub const MESSAGES: Api = Api(&messages::Messages);

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
    /// Sends a tool to the model only after it has searched for it, with the search tool of the provider, which the export
    /// contains as its last tool.
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
    Ok(export.with_search_tool(json!({ "name": "tool_search_tool_bm25", "type": "tool_search_tool_bm25_20251119" })))
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
    described(tool, name, is_requested(tool, "strict", options.strict), options).sorted()
}

/// Describes one tool without sorting its keys.
fn described(tool: &Tool, name: &str, strict: bool, options: Options) -> ToolExport {
    let strict = strict.then_some(&Dialect::ANTHROPIC_STRICT);
    let StrictResult { lowered, is_strict, not_strict } = lower_strict(tool, strict, &Dialect::ANTHROPIC);
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
        &FunctionFields { input: "input_schema", output: None, examples: Some("input_examples"), open_api: false },
    )
}
