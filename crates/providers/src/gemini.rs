//! The APIs of Gemini: function declarations, and replies of `generateContent` and of Interactions.

mod content;
mod interactions;
mod partial_args;
mod property_ordering;
mod stream;

use serde_json::{Value, json};

use super::dialect::{Dialect, check_record};
use super::export::Export;
use super::loss::{NOT_REQUESTED, Side, ToolExport, output_left_out, provider_description, unsupported_fields};
use super::lower::lower_unsorted;
use super::reader::{FunctionFields, read_function};
use super::request_limits::RequestLimits;
use crate::reply::Api;
use toolkit::catalog::{Catalog, Diagnostics, Naming};
use toolkit::tool::{ParseToolError, Tool};
use toolkit_schema::is_too_deep;

/// `models/{model}:generateContent`, and `streamGenerateContent` with `alt=sse`.
///
/// Both exist in the Gemini API and in Vertex AI. The messages are for `contents`. A stream without `alt=sse` is one
/// JSON array, which [`Api::read`] accepts.
///
/// ```
/// use serde_json::json;
/// use toolkit::Dispatcher;
/// use toolkit::catalog::Naming;
/// use toolkit_providers::gemini::{GENERATE_CONTENT, Options, tools};
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
/// let export = tools(dispatcher.catalog(), Naming::Name, Options::default())?;
/// let response = json!({ "candidates": [{ "finishReason": "STOP", "content": { "role": "model", "parts": [
///     { "functionCall": { "name": "add", "args": { "a": 1, "b": 2 } } },
/// ] } }] });
/// let turn = GENERATE_CONTENT.respond(&dispatcher, &export, &response).await?;
/// assert_eq!(turn.messages()?[1], json!({ "role": "user", "parts": [
///     { "functionResponse": { "name": "add", "response": { "output": 3 } } },
/// ] }));
/// # Ok(())
/// # })
/// # }
/// ```
pub const GENERATE_CONTENT: Api = Api(&content::GenerateContent);

/// `POST /v1beta/interactions`, complete and streamed.
///
/// The messages are steps for `input`. With `previous_interaction_id`, send only those of the results, without those of the
/// reply. The tools of a request are those of [`interaction_tools`].
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::Naming;
/// use toolkit::{Context, Dispatcher};
/// use toolkit_providers::gemini::{INTERACTIONS, interaction_tools};
///
/// /// Adds two integers.
/// #[toolkit::tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let dispatcher = Dispatcher::new(toolkit::catalog![add]?)?;
/// let export = interaction_tools(dispatcher.catalog(), Naming::Name)?;
/// let call = json!({ "type": "function_call", "id": "zggx", "name": "add", "arguments": { "a": 1, "b": 2 } });
/// let interaction = json!({ "id": "int_1", "status": "requires_action", "steps": [call] });
/// let reply = INTERACTIONS.read(&interaction, &export.names)?;
/// assert_eq!(reply.messages(), [call]);
/// let results = reply.run_sync(&dispatcher, &Context::new());
/// let result = json!({ "type": "function_result", "call_id": "zggx", "name": "add", "result": "3" });
/// assert_eq!(results.messages()?, [result]);
/// # Ok(())
/// # }
/// ```
pub const INTERACTIONS: Api = Api(&interactions::Interactions);

/// Options of the export.
///
/// ```
/// use toolkit::catalog;
/// use toolkit::catalog::Naming;
/// use toolkit_providers::gemini::{Options, tools};
///
/// /// Adds two integers.
/// #[toolkit::tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let mut options = Options::default();
/// options.output_schemas = true;
/// let export = tools(&catalog![add]?, Naming::Name, options)?;
/// let declaration = &export.json[0]["functionDeclarations"][0];
/// assert_eq!(declaration["responseJsonSchema"]["type"], "integer");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Adds the schemas of results, which the model reads with each request.
    pub output_schemas: bool,
}

/// Returns the `tools` of a request: one tool with all function declarations.
///
/// ```
/// use toolkit_providers::gemini::{Options, tools};
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
/// assert_eq!(export.json[0]["functionDeclarations"][0]["name"], "add");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`list_tools`](toolkit::mcp::list_tools).
pub fn tools(catalog: &Catalog, naming: Naming, options: Options) -> Result<Export, Diagnostics> {
    let described = |tool: &Tool, name: &str| described(tool, name, options);
    let mut export = Export::new(catalog, naming, &RequestLimits::GEMINI, described)?;
    export.json = json!([{ "functionDeclarations": export.json }]);
    Ok(export)
}

/// Describes one tool as a function declaration under its wire name.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_providers::gemini::{Options, describe};
///
/// let tool = Tool::builder("now").description("Returns the time.").build()?;
/// let export = describe(&tool, "now", Options::default());
/// assert_eq!(export.json["description"], "Returns the time.");
/// assert_eq!(export.json["parametersJsonSchema"]["type"], "object");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[must_use]
pub fn describe(tool: &Tool, name: &str, options: Options) -> ToolExport {
    described(tool, name, options).sorted()
}

/// Describes one tool without sorting its keys.
fn described(tool: &Tool, name: &str, options: Options) -> ToolExport {
    let mut export = function(tool, name, "parametersJsonSchema", &["outputSchema", "behavior"]);
    // Kept in a tool that was read: `NON_BLOCKING` functions run while the model goes on.
    if let Some(behavior) = tool.metadata().unknown.get("behavior") {
        export.json["behavior"] = behavior.clone();
    }
    match tool.output() {
        Some(output) if options.output_schemas => {
            let output = lower_unsorted(output.as_value(), &Dialect::GEMINI, Side::Output);
            export.json["responseJsonSchema"] = output.schema;
            export.losses.extend(output.losses);
        }
        Some(_) => export.losses.push(output_left_out(NOT_REQUESTED)),
        None => {}
    }
    export
}

/// Describes the name, the description and the input schema of a tool.
fn function(tool: &Tool, name: &str, parameters: &str, supported: &[&str]) -> ToolExport {
    let mut input = lower_unsorted(tool.input().as_value(), &Dialect::GEMINI, Side::Input);
    property_ordering::add(&mut input.schema);
    let description = provider_description(tool);
    let mut losses = unsupported_fields(tool, supported);
    losses.extend(check_record(&Dialect::GEMINI, name, description.as_deref()));
    losses.extend(input.losses);
    let mut json = json!({ "name": name, parameters: input.schema });
    if let Some(text) = description {
        json["description"] = text.into();
    }
    ToolExport { json, losses, not_strict: Vec::new() }
}

/// Returns the `tools` of a request to Interactions.
///
/// ```
/// use toolkit_providers::gemini::interaction_tools;
/// use toolkit::catalog::Naming;
///
/// /// Adds two integers.
/// #[toolkit::tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// let export = interaction_tools(&toolkit::catalog![add]?, Naming::Name)?;
/// assert_eq!((&export.json[0]["type"], &export.json[0]["name"]), (&"function".into(), &"add".into()));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`list_tools`](toolkit::mcp::list_tools).
pub fn interaction_tools(catalog: &Catalog, naming: Naming) -> Result<Export, Diagnostics> {
    Export::new(catalog, naming, &RequestLimits::GEMINI, |tool, name| {
        let mut export = function(tool, name, "parameters", &[]);
        export.json["type"] = "function".into();
        export
    })
}

/// Reads a function declaration, a tool with exactly one declaration, or a function of Interactions.
///
/// ```
/// use serde_json::json;
/// use toolkit_providers::gemini::read;
///
/// let tool = read(&json!({ "functionDeclarations": [{ "name": "now" }] }))?;
/// assert_eq!(tool.name(), "now");
/// # Ok::<(), toolkit::tool::ParseToolError>(())
/// ```
///
/// # Errors
///
/// Returns an error if there is not exactly one declaration, or if a field has the wrong type.
pub fn read(json: &Value) -> Result<Tool, ParseToolError> {
    let mut declaration = match json.get("functionDeclarations") {
        None => json.clone(),
        Some(Value::Array(declarations)) if declarations.len() == 1 => declarations[0].clone(),
        Some(_) => return Err(ParseToolError::Json("expected exactly one function declaration".to_owned())),
    };
    let is_open_api = ["parameters", "response"].iter().any(|field| declaration.get(field).is_some());
    let form = if declaration["type"] == "function" {
        FunctionFields { input: "parameters", output: None, examples: None, open_api: false }
    } else if is_open_api {
        FunctionFields { input: "parameters", output: Some("response"), examples: None, open_api: true }
    } else {
        FunctionFields {
            input: "parametersJsonSchema",
            output: Some("responseJsonSchema"),
            examples: None,
            open_api: false,
        }
    };
    let schemas = [Some(form.input), form.output].into_iter().flatten();
    for schema in schemas.filter(|_| !is_too_deep(&declaration)).collect::<Vec<_>>() {
        declaration.get_mut(schema).into_iter().for_each(property_ordering::resolve);
    }
    read_function(&declaration, &form)
}
