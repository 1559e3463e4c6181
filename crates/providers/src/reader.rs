//! Readers of the function formats of providers.

use serde_json::{Map, Value, json};

use toolkit::tool::{ParseToolError, Tool};
use toolkit_schema::walk;
use toolkit_schema::{is_too_deep, quoted};

/// The field names of a provider's function format.
pub(super) struct FunctionFields {
    pub(super) input: &'static str,
    pub(super) output: Option<&'static str>,
    pub(super) examples: Option<&'static str>,
    /// The schemas are OpenAPI schemas.
    pub(super) open_api: bool,
}

/// Reads a function. Unknown fields are kept, as for every tool that is read.
pub(super) fn read_function(function: &Value, fields: &FunctionFields) -> Result<Tool, ParseToolError> {
    let mut function = match function {
        Value::Object(function) => function.clone(),
        _ => return Err(ParseToolError::Json("a function is an object".to_owned())),
    };
    if function.values().any(is_too_deep) {
        return Err(ParseToolError::Json("it is nested deeper than 127 levels".to_owned()));
    }
    if let Some(kind) =
        function.shift_remove("type").filter(|kind| !matches!(kind.as_str(), None | Some("function" | "custom")))
    {
        let kind = kind.as_str().unwrap_or_default();
        return Err(ParseToolError::Json(format!(
            "{} is a tool that the provider defines; only functions can be read",
            quoted(kind)
        )));
    }
    let schema = |schema: Value| if fields.open_api { from_open_api(schema) } else { schema };
    // Without parameters, or with `null` for them, the function accepts an empty object.
    let input = function.shift_remove(fields.input).filter(|input| !input.is_null());
    function.insert("inputSchema".to_owned(), input.map_or_else(|| json!({ "type": "object" }), schema));
    if let Some(output) = fields.output.and_then(|output| function.shift_remove(output)) {
        function.insert("outputSchema".to_owned(), schema(output));
    }
    if let Some(examples) = fields.examples.and_then(|examples| function.shift_remove(examples)) {
        function.insert("examples".to_owned(), examples);
    }
    Tool::from_json(Value::Object(function))
}

/// Converts an OpenAPI 3.0 schema: `nullable` becomes the type `null`, and types become lowercase (Gemini writes
/// capitals).
fn from_open_api(mut schema: Value) -> Value {
    fn rewrite(schema: &mut Value) {
        let Value::Object(keywords) = schema else {
            return;
        };
        walk::each_mut(keywords, |_, sub| rewrite(sub));
        if let Some(Value::String(name)) = keywords.get_mut("type") {
            name.make_ascii_lowercase();
        }
        if keywords.get("nullable") == Some(&Value::Bool(true)) {
            keywords.shift_remove("nullable");
            allow_null(keywords);
        }
    }
    rewrite(&mut schema);
    schema
}

fn allow_null(keywords: &mut Map<String, Value>) {
    if let Some(name @ Value::String(_)) = keywords.get_mut("type") {
        *name = json!([name.take(), "null"]);
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = keywords.get_mut(choice) {
            branches.push(json!({ "type": "null" }));
        }
    }
    if let Some(Value::Array(values)) = keywords.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}
