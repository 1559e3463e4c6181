//! Gemini: function declarations.

use serde_json::{Map, Value, json};

use super::described::{Described, Export, described, unsaid};
use super::dialect::Dialect;
use super::loss::Side;
use super::lower::lower;
use super::reading::{Fields, read_function};
use super::request::RequestLimits;
use crate::catalog::{Catalog, Naming, Problems};
use crate::tool::{InvalidTool, Tool};

/// In which of two ways schemas are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// `parametersJsonSchema`: JSON Schema, in part.
    #[default]
    JsonSchema,
    /// `parameters`: the schema of OpenAPI 3.0, in part, for older clients.
    OpenApi,
}

/// The `tools` of a request: one tool that has all function declarations.
///
/// # Errors
///
/// As for [`list_tools`](crate::adapter::mcp::list_tools).
pub fn tools(catalog: &Catalog, naming: Naming, form: Form) -> Result<Export, Problems> {
    let mut export = Export::of(catalog, naming, &RequestLimits::GEMINI, |tool, name| describe(tool, name, form))?;
    export.json = json!([{ "functionDeclarations": export.json }]);
    Ok(export)
}

/// One function declaration under its wire name.
#[must_use]
pub fn describe(tool: &Tool, name: &str, form: Form) -> Described {
    let (dialect, parameters, response) = match form {
        Form::JsonSchema => (Dialect::GEMINI, "parametersJsonSchema", "responseJsonSchema"),
        Form::OpenApi => (Dialect::GEMINI_OPENAPI, "parameters", "response"),
    };
    let input = lower(tool.input().as_value(), &dialect, Side::Input);
    let mut json = Map::from_iter([("name".to_owned(), json!(name))]);
    json.extend(described(tool).map(|text| ("description".to_owned(), json!(text))));
    // An object without properties is refused there; a function without parameters is not.
    let takes_nothing = input.schema["properties"].as_object().is_none_or(Map::is_empty);
    if form == Form::JsonSchema || !takes_nothing {
        json.insert(parameters.to_owned(), input.schema);
    }
    let mut losses = unsaid(tool, &["outputSchema"]);
    losses.extend(input.losses);
    if let Some(output) = tool.output() {
        let output = lower(output.as_value(), &dialect, Side::Output);
        json.insert(response.to_owned(), output.schema);
        losses.extend(output.losses);
    }
    Described { json: json.into(), losses, not_strict: Vec::new() }
}

/// Reads a function declaration, or a tool that has exactly one.
///
/// # Errors
///
/// There is none or more than one, or its fields are not of their kind.
pub fn read(json: &Value) -> Result<Tool, InvalidTool> {
    let declaration = match json.get("functionDeclarations") {
        None => json,
        Some(Value::Array(declarations)) if declarations.len() == 1 => &declarations[0],
        Some(_) => return Err(InvalidTool::Json("a tool of Gemini is read one declaration at a time".to_owned())),
    };
    let is_open_api = ["parameters", "response"].iter().any(|field| declaration.get(field).is_some());
    let form = if is_open_api {
        Fields { input: "parameters", output: Some("response"), examples: None, open_api: true }
    } else {
        Fields { input: "parametersJsonSchema", output: Some("responseJsonSchema"), examples: None, open_api: false }
    };
    read_function(declaration, &form)
}
