//! Anthropic: the tools of Messages.

use serde_json::{Map, Value, json};

use super::described::{Described, Export, described, unsaid};
use super::dialect::Dialect;
use super::reading::{Fields, read_function};
use super::request::{Member, RequestLimits, hold_to};
use super::strictly::{Strictly, strictly, wanted};
use crate::catalog::{Catalog, Naming, Problems};
use crate::tool::{InvalidTool, Tool};

/// How tools are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Whether to hold the model to the schema, for every tool for which that is possible. A request may have 20 such
    /// tools; [`tools`] says which.
    pub strict: bool,
    /// Whether the model is given a tool only once it has searched for it.
    pub defer_loading: bool,
}

impl Options {
    /// Holds the model to the schema, for every tool for which that is possible.
    #[must_use]
    pub fn strict(self) -> Self {
        Self { strict: true, ..self }
    }

    /// Gives the model a tool only once it has searched for it.
    #[must_use]
    pub fn deferred(self) -> Self {
        Self { defer_loading: true, ..self }
    }
}

/// The `tools` of a request. Examples of arguments go along as `input_examples`.
///
/// A request has room for 20 strict tools, with so many optional parameters and parameters of several types. Where more
/// are asked for, some give it up, and `not_strict` says which; a tool is strict if it still fits, in this order: tools
/// that may change things, since wrong arguments do more harm there; those that take the least room; by their ids.
/// [`tools_within`] takes other limits.
///
/// # Errors
///
/// As for [`list_tools`](crate::adapter::mcp::list_tools).
pub fn tools(catalog: &Catalog, naming: Naming, options: Options) -> Result<Export, Problems> {
    tools_within(&RequestLimits::ANTHROPIC, catalog, naming, options)
}

/// [`tools`], where a host knows better what a request has room for.
///
/// ```
/// # use toolkit::adapter::RequestLimits;
/// # use toolkit::adapter::anthropic::{Options, tools_within};
/// # use toolkit::catalog::Naming;
/// # fn main() -> Result<(), toolkit::catalog::Problems> {
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
/// As for [`list_tools`](crate::adapter::mcp::list_tools).
pub fn tools_within(
    limits: &RequestLimits,
    catalog: &Catalog,
    naming: Naming,
    options: Options,
) -> Result<Export, Problems> {
    let names = catalog.listed(naming)?;
    let mut members = Member::all(&names, |tool, name| describe(tool, name, options));
    // Tools that were read as strict have no more room than others.
    let strict = hold_to(limits, &mut members, |tool, name| written(tool, name, false, options));
    let strict = strict.into_iter().filter(|usage| options.strict || usage.count > 0);
    let mut export = Export::of_members(limits, members);
    export.usage.extend(strict);
    Ok(export)
}

/// The fields that only this provider has, which come back where a tool was read with them.
const OWN: [&str; 2] = ["cache_control", "eager_input_streaming"];

/// One tool under its wire name. A tool that was read with `strict` or `defer_loading` keeps them, whatever the options
/// say.
#[must_use]
pub fn describe(tool: &Tool, name: &str, options: Options) -> Described {
    written(tool, name, wanted(tool, "strict", options.strict), options)
}

fn written(tool: &Tool, name: &str, strict: bool, options: Options) -> Described {
    let strict = strict.then_some(&Dialect::ANTHROPIC_STRICT);
    let Strictly { lowered, is_strict, not_strict } = strictly(tool, strict, &Dialect::ANTHROPIC);
    let mut json = Map::from_iter([("name".to_owned(), json!(name)), ("input_schema".to_owned(), lowered.schema)]);
    json.extend(described(tool).map(|text| ("description".to_owned(), json!(text))));
    if is_strict {
        json.insert("strict".to_owned(), json!(true));
    }
    if wanted(tool, "defer_loading", options.defer_loading) {
        json.insert("defer_loading".to_owned(), json!(true));
    }
    let examples = tool.examples();
    if !examples.is_empty() {
        json.insert("input_examples".to_owned(), examples.into());
    }
    let mut said = vec!["examples", "strict", "defer_loading"];
    for field in OWN {
        if let Some(value) = tool.metadata().unknown.get(field) {
            json.insert(field.to_owned(), value.clone());
            said.push(field);
        }
    }
    let losses = unsaid(tool, &said).into_iter().chain(lowered.losses).collect();
    Described { json: json.into(), losses, not_strict }
}

/// Reads a tool.
///
/// # Errors
///
/// Its fields are not of their kind.
pub fn read(json: &Value) -> Result<Tool, InvalidTool> {
    read_function(
        json,
        &Fields { input: "input_schema", output: None, examples: Some("input_examples"), open_api: false },
    )
}
