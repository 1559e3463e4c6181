//! The tool formats of OpenAI: Chat Completions and Responses.
//!
//! ```
//! use toolkit_providers::openai::{Options, read, tools};
//! use toolkit::catalog::Naming;
//!
//! /// Adds two integers.
//! #[toolkit::tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let export = tools(&toolkit::catalog![add]?, Naming::Name, Options::chat_completions())?;
//! assert_eq!(export.json[0]["function"]["name"], "add");
//! assert_eq!(read(&export.json[0])?.description(), "Adds two integers.");
//! # Ok(())
//! # }
//! ```

mod namespaces;

use serde_json::{Map, Value, json};

use super::dialect::Dialect;
use super::export::Export;
use super::reader::{Fields, read_function};
use super::request::{Member, RequestLimits, Usage, schema_usage};
use super::strict::{StrictResult, is_requested, lower_strict};
use super::tool_export::{ToolExport, provider_description, unsupported_fields};
use toolkit::catalog::{Catalog, Diagnostics, Naming};
use toolkit::tool::{ParseToolError, Tool};

pub use self::namespaces::{find, read_all};

/// The API that the tools are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Interface {
    /// `POST /v1/chat/completions`: the function is nested under `function`.
    ChatCompletions,
    /// `POST /v1/responses`: the function is at the top level, always with `parameters` and `strict`.
    #[default]
    Responses,
}

/// Options of the export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The API.
    pub interface: Interface,
    /// Requests strict mode for every tool for which it is possible.
    pub strict: bool,
    /// Sends the parameters of a tool to the model only after it has searched for the tool (Responses only). The
    /// request also needs `{"type": "tool_search"}` among its tools, which this module does not add.
    pub defer_loading: bool,
    /// Groups the tools of each namespace (Responses only).
    pub namespaces: bool,
}

impl Options {
    /// Creates the options for Chat Completions.
    #[must_use]
    pub fn chat_completions() -> Self {
        Self { interface: Interface::ChatCompletions, ..Self::default() }
    }

    /// Creates the options for Responses.
    #[must_use]
    pub fn responses() -> Self {
        Self::default()
    }

    /// Requests strict mode for every tool for which it is possible.
    #[must_use]
    pub fn strict(self) -> Self {
        Self { strict: true, ..self }
    }

    /// Sends the parameters of a tool to the model only after it has searched for the tool.
    #[must_use]
    pub fn deferred(self) -> Self {
        Self { defer_loading: true, ..self }
    }

    /// Groups the tools of each namespace under a name that the model reads once.
    #[must_use]
    pub fn namespaced(self) -> Self {
        Self { namespaces: true, ..self }
    }
}

/// Returns the `tools` of a request.
///
/// ```
/// # use toolkit_providers::openai::{Options, tools};
/// # use toolkit::catalog::Naming;
/// /// Says hello.
/// #[toolkit::tool]
/// fn greet(name: String, title: Option<String>) -> String {
///     format!("Hello, {} {name}!", title.unwrap_or_default())
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// let export = tools(&toolkit::catalog![greet]?, Naming::Name, Options::responses().strict())?;
/// let tool = &export.json[0];
/// assert_eq!(tool["strict"], true);
/// assert_eq!(tool["parameters"]["required"], serde_json::json!(["name", "title"]));
/// assert_eq!(tool["parameters"]["properties"]["title"]["type"], serde_json::json!(["string", "null"]));
/// # Ok(())
/// # }
/// ```
///
/// With [`Options::namespaced`], tools have their bare names within their namespace, independently of `naming`, and
/// tools without a namespace come first. The description of a namespace lists its tools; a host can replace it.
/// [`find`] resolves a call to its tool.
///
/// # Errors
///
/// Returns the errors of [`list_tools`](toolkit::mcp::list_tools).
pub fn tools(catalog: &Catalog, naming: Naming, options: Options) -> Result<Export, Diagnostics> {
    if options.namespaces && options.interface == Interface::Responses {
        return namespaces::grouped(catalog, options);
    }
    let names = catalog.listed(naming)?;
    let members = Member::all(&names, |tool, name| describe(tool, name, options));
    let schema_usage = strict_schema_usage(&members, options);
    let mut export = Export::from_members(&RequestLimits::OPENAI, members);
    export.usage.extend(schema_usage);
    Ok(export)
}

/// Returns the use of the limits of strict mode, if it is requested.
fn strict_schema_usage(members: &[Member<'_>], options: Options) -> Vec<Usage> {
    if options.strict { schema_usage(&Dialect::OPENAI_STRICT, members) } else { Vec::new() }
}

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
    let strict = is_requested(tool, "strict", options.strict).then_some(&Dialect::OPENAI_STRICT);
    let StrictResult { lowered, is_strict, not_strict } = lower_strict(tool, strict, &Dialect::OPENAI);
    let mut function = Map::from_iter([("name".to_owned(), json!(name)), ("parameters".to_owned(), lowered.schema)]);
    function.extend(provider_description(tool).map(|text| ("description".to_owned(), json!(text))));
    let mut supported = vec!["strict"];
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
            if let Some(output) = tool.output() {
                supported.push("outputSchema");
                function.insert("output_schema".to_owned(), as_object(output.as_value()));
            }
            function.into()
        }
    };
    let losses = unsupported_fields(tool, &supported).into_iter().chain(lowered.losses).collect();
    ToolExport { json, losses, not_strict }
}

/// Replaces a boolean schema by an equivalent object.
fn as_object(schema: &Value) -> Value {
    match schema {
        Value::Bool(true) => json!({}),
        Value::Bool(false) => json!({ "not": {} }),
        schema => schema.clone(),
    }
}

/// Reads a tool of either API. [`read_all`] also reads namespaces.
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
    let fields = Fields { input: "parameters", output: Some("output_schema"), examples: None, open_api: false };
    let function = json.get("function").unwrap_or(json);
    read_function(function, &fields)
}
