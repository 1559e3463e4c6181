//! OpenAI: the tools of Chat Completions and of Responses.

mod namespaces;

use serde_json::{Map, Value, json};

use super::described::{Described, Export, described, unsaid};
use super::dialect::Dialect;
use super::reading::{Fields, read_function};
use super::request::{Member, RequestLimits, Usage, of_schemas};
use super::strictly::{Strictly, strictly, wanted};
use crate::catalog::{Catalog, Naming, Problems};
use crate::tool::{InvalidTool, Tool};

pub use self::namespaces::{find, read_all};

/// Which of the two interfaces the tools are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Interface {
    /// `POST /v1/chat/completions`: the function stands under `function`.
    ChatCompletions,
    /// `POST /v1/responses`: the function stands at the top, `parameters` and `strict` are always there.
    #[default]
    Responses,
}

/// How tools are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// For which interface.
    pub interface: Interface,
    /// Whether to hold the model to the schema, for every tool for which that is possible.
    pub strict: bool,
    /// Whether the model is given the parameters only once it has searched for the tool (Responses only). The request
    /// then has `{"type": "tool_search"}` among its tools, which is not written here.
    pub defer_loading: bool,
    /// Whether the tools of one namespace stand together in one (Responses only).
    pub namespaces: bool,
}

impl Options {
    /// For Chat Completions.
    #[must_use]
    pub fn chat_completions() -> Self {
        Self { interface: Interface::ChatCompletions, ..Self::default() }
    }

    /// For Responses.
    #[must_use]
    pub fn responses() -> Self {
        Self::default()
    }

    /// Holds the model to the schema, for every tool for which that is possible.
    #[must_use]
    pub fn strict(self) -> Self {
        Self { strict: true, ..self }
    }

    /// Gives the model the parameters only once it has searched for the tool.
    #[must_use]
    pub fn deferred(self) -> Self {
        Self { defer_loading: true, ..self }
    }

    /// Puts the tools of one namespace together, under a name that the model reads once.
    #[must_use]
    pub fn namespaced(self) -> Self {
        Self { namespaces: true, ..self }
    }
}

/// The `tools` of a request.
///
/// ```
/// # use toolkit::adapter::openai::{Options, tools};
/// # use toolkit::catalog::Naming;
/// /// Says hello.
/// #[toolkit::tool]
/// fn greet(name: String, title: Option<String>) -> String {
///     format!("Hello, {} {name}!", title.unwrap_or_default())
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Problems> {
/// let export = tools(&toolkit::catalog![greet]?, Naming::Name, Options::responses().strict())?;
/// let tool = &export.json[0];
/// assert_eq!(tool["strict"], true);
/// assert_eq!(tool["parameters"]["required"], serde_json::json!(["name", "title"]));
/// assert_eq!(tool["parameters"]["properties"]["title"]["type"], serde_json::json!(["string", "null"]));
/// # Ok(())
/// # }
/// ```
///
/// With [`Options::namespaced`], the tools of a namespace are called by their bare names within it, whatever `naming`
/// says, and those without one come first. What the model reads of a namespace is which tools it has; a host that knows
/// better writes over its `description`. [`find`] is the way back from a call.
///
/// # Errors
///
/// As for [`list_tools`](crate::adapter::mcp::list_tools).
pub fn tools(catalog: &Catalog, naming: Naming, options: Options) -> Result<Export, Problems> {
    if options.namespaces && options.interface == Interface::Responses {
        return namespaces::grouped(catalog, options);
    }
    let names = catalog.listed(naming)?;
    let members = Member::all(&names, |tool, name| describe(tool, name, options));
    let of_schemas = of_strict_schemas(&members, options);
    let mut export = Export::of_members(&RequestLimits::OPENAI, members);
    export.usage.extend(of_schemas);
    Ok(export)
}

/// How much of the limits of strict mode the schemas use up, where it is asked for.
fn of_strict_schemas(members: &[Member<'_>], options: Options) -> Vec<Usage> {
    if options.strict { of_schemas(&Dialect::OPENAI_STRICT, members) } else { Vec::new() }
}

/// One tool under its wire name. A tool that was read with `strict` or `defer_loading` keeps them, whatever the options
/// say.
#[must_use]
pub fn describe(tool: &Tool, name: &str, options: Options) -> Described {
    let strict = wanted(tool, "strict", options.strict).then_some(&Dialect::OPENAI_STRICT);
    let Strictly { lowered, is_strict, not_strict } = strictly(tool, strict, &Dialect::OPENAI);
    let mut function = Map::from_iter([("name".to_owned(), json!(name)), ("parameters".to_owned(), lowered.schema)]);
    function.extend(described(tool).map(|text| ("description".to_owned(), json!(text))));
    let mut said = vec!["strict"];
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
            said.push("defer_loading");
            if wanted(tool, "defer_loading", options.defer_loading) {
                function.insert("defer_loading".to_owned(), json!(true));
            }
            if let Some(is_async) = tool.metadata().unknown.get("async") {
                said.push("async");
                function.insert("async".to_owned(), is_async.clone());
            }
            if let Some(output) = tool.output() {
                said.push("outputSchema");
                function.insert("output_schema".to_owned(), as_object(output.as_value()));
            }
            function.into()
        }
    };
    let losses = unsaid(tool, &said).into_iter().chain(lowered.losses).collect();
    Described { json, losses, not_strict }
}

/// A schema that is `true` or `false`, in words.
fn as_object(schema: &Value) -> Value {
    match schema {
        Value::Bool(true) => json!({}),
        Value::Bool(false) => json!({ "not": {} }),
        schema => schema.clone(),
    }
}

/// Reads a tool of either interface; [`read_all`] reads namespaces too.
///
/// # Errors
///
/// It is no function, or its fields are not of their kind.
pub fn read(json: &Value) -> Result<Tool, InvalidTool> {
    let fields = Fields { input: "parameters", output: Some("output_schema"), examples: None, open_api: false };
    let function = json.get("function").unwrap_or(json);
    read_function(function, &fields)
}
