//! A function in the words of a provider, read.

use serde_json::{Map, Value, json};

use crate::schema::is_too_deep;
use crate::schema::walk;
use crate::tool::{InvalidTool, Tool};

/// Under which fields a provider has what MCP calls otherwise.
pub(super) struct Fields {
    pub(super) input: &'static str,
    pub(super) output: Option<&'static str>,
    pub(super) examples: Option<&'static str>,
    /// Whether schemas are OpenAPI's.
    pub(super) open_api: bool,
}

/// Reads a function. Fields that are not known here are kept, as in every tool that is read.
pub(super) fn read_function(function: &Value, fields: &Fields) -> Result<Tool, InvalidTool> {
    let mut function = match function {
        Value::Object(function) => function.clone(),
        _ => return Err(InvalidTool::Json("a function is an object".to_owned())),
    };
    if function.values().any(is_too_deep) {
        return Err(InvalidTool::Json("it is nested deeper than 127 levels".to_owned()));
    }
    function.remove("type");
    let schema = |schema: Value| if fields.open_api { of_open_api(schema) } else { schema };
    // Without parameters, or with null for them, it takes an empty object.
    let input = function.remove(fields.input).filter(|input| !input.is_null());
    function.insert("inputSchema".to_owned(), input.map_or_else(|| json!({ "type": "object" }), schema));
    if let Some(output) = fields.output.and_then(|output| function.remove(output)) {
        function.insert("outputSchema".to_owned(), schema(output));
    }
    if let Some(examples) = fields.examples.and_then(|examples| function.remove(examples)) {
        function.insert("examples".to_owned(), examples);
    }
    Tool::from_json(Value::Object(function))
}

/// In OpenAPI 3.0 null is said by a keyword, and in Gemini types are capitals.
fn of_open_api(mut schema: Value) -> Value {
    fn rewrite(schema: &mut Value) {
        let Value::Object(keywords) = schema else {
            return;
        };
        walk::each_mut(keywords, |_, sub| rewrite(sub));
        if let Some(Value::String(name)) = keywords.get_mut("type") {
            name.make_ascii_lowercase();
        }
        if keywords.get("nullable") == Some(&Value::Bool(true)) {
            keywords.remove("nullable");
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
