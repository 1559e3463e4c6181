//! A function in the words of a provider, read.

use serde_json::{Map, Value};

use crate::call::is_too_deep;
use crate::tool::{InvalidTool, Tool};

/// Under which fields a provider has what MCP calls otherwise.
pub(super) struct Fields {
    pub(super) input: &'static str,
    pub(super) output: Option<&'static str>,
    pub(super) examples: Option<&'static str>,
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
    let mut move_to = |from: &str, to: &str| {
        if let Some(value) = function.remove(from) {
            function.insert(to.to_owned(), in_lower_case(value));
        }
    };
    move_to(fields.input, "inputSchema");
    if let Some(output) = fields.output {
        move_to(output, "outputSchema");
    }
    if let Some(examples) = fields.examples {
        move_to(examples, "examples");
    }
    // A function without parameters takes an empty object.
    function.entry("inputSchema").or_insert_with(|| Value::Object(Map::from_iter([("type".into(), "object".into())])));
    Tool::from_json(Value::Object(function))
}

/// OpenAPI's types in Gemini are capitals.
fn in_lower_case(mut schema: Value) -> Value {
    fn rewrite(value: &mut Value) {
        match value {
            Value::Object(map) => {
                if let Some(Value::String(name)) = map.get_mut("type")
                    && name.bytes().all(|byte| byte.is_ascii_uppercase())
                {
                    name.make_ascii_lowercase();
                }
                map.values_mut().for_each(rewrite);
            }
            Value::Array(list) => list.iter_mut().for_each(rewrite),
            _ => {}
        }
    }
    rewrite(&mut schema);
    schema
}
