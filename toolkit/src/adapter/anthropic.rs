//! Anthropic: the tools of Messages.

use serde_json::{Map, Value, json};

use super::described::{Described, Export, described, unsaid};
use super::dialect::Dialect;
use super::reading::{Fields, read_function};
use super::strictly::{Strictly, strictly, wanted};
use crate::catalog::{Catalog, Naming, Problems};
use crate::tool::{InvalidTool, Tool};

/// How tools are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Whether to hold the model to the schema, for every tool for which that is possible. A request may have 20 such
    /// tools.
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
/// # Errors
///
/// As for [`list_tools`](crate::adapter::mcp::list_tools).
pub fn tools(catalog: &Catalog, naming: Naming, options: Options) -> Result<Export, Problems> {
    Export::of(catalog, naming, |tool, name| describe(tool, name, options))
}

/// The fields that only this provider has, which come back where a tool was read with them.
const OWN: [&str; 2] = ["cache_control", "eager_input_streaming"];

/// One tool under its wire name. A tool that was read with `strict` or `defer_loading` keeps them, whatever the options
/// say.
#[must_use]
pub fn describe(tool: &Tool, name: &str, options: Options) -> Described {
    let strict = wanted(tool, "strict", options.strict).then_some(&Dialect::ANTHROPIC_STRICT);
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
