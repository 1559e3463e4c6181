//! The form of a tool that a server lists, completed to one that every client can read. Whether the arguments match its
//! schemas is left to the server, unless they can be compiled here.

use serde_json::{Map, Value, json};
use toolkit::Tool;
use toolkit::tool::ParseToolError;
use toolkit_schema::walk::{self, Holds};
use toolkit_schema::{Schema, SchemaError, SchemaErrorKind, values};

/// Completes a tool, and returns descriptions of the fields that were dropped, since they have another type than the
/// protocol states, or are an output schema that is none.
pub(super) fn complete(tool: &mut Value) -> Vec<String> {
    let Value::Object(tool) = tool else { return Vec::new() };
    for key in ["inputSchema", "outputSchema", "annotations", "execution", "_meta"] {
        tool.get_mut(key).into_iter().for_each(replace_empty_list);
    }
    complete_input(tool.entry("inputSchema").or_insert(Value::Null));
    for key in ["inputSchema", "outputSchema"] {
        tool.get_mut(key).into_iter().for_each(replace_empty_lists);
    }
    let mut dropped = drop_wrong_fields(tool);
    if let Some(wrong) = tool.get("outputSchema").and_then(invalid_in_each_dialect) {
        tool.shift_remove("outputSchema");
        dropped.push(format!("/outputSchema is invalid: {wrong}"));
    }
    dropped
}

/// Returns the defect of an output schema that is invalid in each dialect. The official client for TypeScript compiles the
/// output schemas of a list, and rejects the list if one of them is invalid. A schema of another dialect passes.
fn invalid_in_each_dialect(schema: &Value) -> Option<String> {
    let error = invalid(schema.clone())?;
    let is_valid_as = |dialect: Value| {
        let mut schema = schema.clone();
        schema["$schema"] = dialect;
        invalid(schema).is_none()
    };
    let dialects = ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"];
    (!dialects.into_iter().any(|dialect| is_valid_as(dialect.into()))).then(|| error.diagnostics()[0].to_string())
}

/// Returns the defects of a schema, except that it is too complex.
fn invalid(schema: Value) -> Option<SchemaError> {
    let error = Schema::generated(schema).check_alone().err()?;
    (error.kind() != SchemaErrorKind::TooComplex).then_some(error)
}

/// Makes an input schema that of an object.
fn complete_input(input: &mut Value) {
    let is_object = values::is_object(input);
    match input {
        Value::Object(_) if is_object => {}
        Value::Object(schema) => {
            schema.insert("type".to_owned(), "object".into());
        }
        other => *other = json!({ "type": "object" }),
    }
}

/// Replaces an empty list by an empty object. PHP writes `[]` for both.
fn replace_empty_list(value: &mut Value) {
    if value.as_array().is_some_and(Vec::is_empty) {
        *value = json!({});
    }
}

/// Does the same for each schema in a schema, and for each object of schemas.
fn replace_empty_lists(schema: &mut Value) {
    let Value::Object(keywords) = schema else { return };
    for (keyword, value) in keywords.iter_mut() {
        match walk::holds(keyword, &Value::Null) {
            Holds::One => replace_empty_list(value),
            Holds::Named => {
                replace_empty_list(value);
                value.as_object_mut().into_iter().flat_map(Map::values_mut).for_each(replace_empty_list);
            }
            Holds::List | Holds::None => {}
        }
    }
    walk::each_mut(keywords, |_, schema| replace_empty_lists(schema));
}

/// Drops the fields of other types, except for those without which there is no tool.
fn drop_wrong_fields(tool: &mut Map<String, Value>) -> Vec<String> {
    // Schemas are large and would be copied.
    let form = tool.iter().map(|(key, value)| match value {
        Value::Object(_) if key.ends_with("Schema") => (key.clone(), json!({})),
        value => (key.clone(), value.clone()),
    });
    let Err(ParseToolError::Form(violations)) = Tool::from_mcp_json(Value::Object(form.collect())) else {
        return Vec::new();
    };
    let mut dropped = Vec::new();
    for violation in violations.iter() {
        let mut keys = violation.pointer.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~"));
        let (Some(field), inner) = (keys.next(), keys.next()) else { continue };
        let removed = match (field.as_str(), inner) {
            // Other values of `taskSupport` are read as none.
            ("name" | "inputSchema", _) | ("execution", Some(_)) => None,
            ("annotations" | "_meta", Some(inner)) => {
                tool.get_mut(&field).and_then(Value::as_object_mut).and_then(|fields| fields.shift_remove(&inner))
            }
            _ => tool.shift_remove(&field),
        };
        dropped.extend(removed.map(|_| violation.to_string()));
    }
    dropped
}
