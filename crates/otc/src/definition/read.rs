//! Conversion of a definition into a tool, and the rules of the format for schemas.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolkit::Tool;
use toolkit::catalog::Diagnostics;
use toolkit::schema::inline;
use toolkit::tool::ToolBuilder;

use crate::definition::{
    AS_READ, Definition, Input, MAX_NAME_LEN, Naming, OtcId, Requirements, is_definition_name, or_default, release,
};
use crate::error::OtcError;

/// The fields of a definition before validation.
#[derive(Deserialize)]
struct Fields {
    id: String,
    name: String,
    description: String,
    version: String,
    input_schema: Input,
    /// Defaults to any value, since the published schema does not require the field.
    #[serde(default = "any")]
    output_schema: Option<Map<String, Value>>,
    #[serde(default, deserialize_with = "or_default")]
    requirements: Requirements,
}

#[expect(clippy::unnecessary_wraps, reason = "serde wants the type of the field")]
fn any() -> Option<Map<String, Value>> {
    Some(Map::new())
}

impl Definition {
    /// Parses and validates a definition. Unknown fields are ignored, and parameters need no description.
    ///
    /// # Errors
    ///
    /// Returns an error if a field is missing or has the wrong type, if the id, the name or the version is invalid, if
    /// the id and the version differ, or if a schema has references.
    pub fn from_json(json: &Value) -> Result<Self, OtcError> {
        let id = json.get("id").and_then(Value::as_str).map(str::to_owned);
        let invalid = |reasons| OtcError::Definition { id: id.clone(), reasons };
        if exceeds(json, MAX_DEPTH) {
            return Err(invalid(vec![format!("exceeds the nesting limit of {MAX_DEPTH} levels")]));
        }
        let mut fields = Fields::deserialize(json).map_err(|error| invalid(vec![error.to_string()]))?;
        for authorization in &mut fields.requirements.authorization {
            // An empty list of scopes means the same as none.
            authorization.oauth2.take_if(|oauth2| oauth2.scopes.is_empty());
        }
        let parsed = fields.id.parse::<OtcId>();
        let reasons = find_defects(&fields, parsed.as_ref());
        match parsed {
            Ok(id) if reasons.is_empty() => Ok(Self {
                id,
                name: fields.name,
                description: fields.description,
                version: fields.version,
                input_schema: fields.input_schema,
                output_schema: fields.output_schema,
                requirements: fields.requirements,
            }),
            _ => Err(invalid(reasons)),
        }
    }

    /// Converts the definition into a tool. The toolkit becomes the namespace. A name other than `Toolkit_Tool` becomes
    /// the title.
    ///
    /// If the definition of that tool would differ from this one, for example for parameters without a `type`, the tool
    /// keeps this definition in its `_meta` for [`Definition::from_tool`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ToolBuilder::build`](toolkit::tool::ToolBuilder::build), such as an invalid schema.
    pub fn to_tool(&self) -> Result<Tool, Diagnostics> {
        let tool = self.builder().build()?;
        let json = serde_json::to_value(self).unwrap_or_default();
        let is_kept = exceeds(&json, MAX_KEPT_DEPTH)
            || Self::from_tool(&tool, &Naming::default()).is_ok_and(|again| again == *self);
        match is_kept {
            true => Ok(tool),
            false => self.builder().meta(Map::from_iter([(AS_READ.to_owned(), json)])).build(),
        }
    }

    /// Returns the definition in the `_meta` of a tool if the tool is still equal to it.
    pub(super) fn as_read(tool: &Tool) -> Option<Self> {
        let definition = Self::from_json(tool.meta()?.get(AS_READ)?).ok()?;
        (definition.to_tool().ok()? == *tool).then_some(definition)
    }

    fn builder(&self) -> ToolBuilder {
        let mut input = self.input_schema.parameters.clone();
        // Arguments are always an object.
        input.entry("type").or_insert_with(|| "object".into());
        let output = self.output_schema.as_ref().map_or_else(|| json!({ "type": "null" }), |schema| json!(schema));
        let builder = Tool::builder(self.id.tool().to_owned())
            .namespace(self.id.toolkit().to_owned())
            .version(self.version.clone())
            .description(self.description.clone())
            .requirements(self.requirements.clone().into())
            .input(input.into())
            .output(output);
        match self.name == self.id.default_name() {
            true => builder,
            false => builder.title(self.name.clone()),
        }
    }
}

/// The maximum nesting of a definition, which is that of the JSON parser.
const MAX_DEPTH: usize = 127;

/// The maximum nesting of a definition that a tool keeps. The tool adds levels around it and must be parseable too.
const MAX_KEPT_DEPTH: usize = 120;

fn exceeds(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| exceeds(item, levels - 1)),
        Value::Object(object) => levels == 0 || object.values().any(|value| exceeds(value, levels - 1)),
        _ => false,
    }
}

fn find_defects(fields: &Fields, id: Result<&OtcId, &OtcError>) -> Vec<String> {
    let mut reasons = Vec::new();
    match id {
        Err(invalid) => reasons.push(format!("`id` is {invalid}")),
        // Only calls may abbreviate `@1.0.0` to `@1`.
        Ok(id) if id.version().is_none() || id.to_string() != fields.id => {
            reasons.push("`id` must have a version of three numbers, such as `@1.0.0`".to_owned());
        }
        Ok(id) if id.version() != release(&fields.version).as_ref() && release(&fields.version).is_some() => {
            reasons.push("`id` and `version` have different versions".to_owned());
        }
        Ok(_) => {}
    }
    if !is_definition_name(&fields.name) {
        reasons.push(format!("`name` must have 1 to {MAX_NAME_LEN} letters, digits, `_` and `-`"));
    }
    if release(&fields.version).is_none() {
        reasons.push("`version` must be three numbers, such as `1.0.0`".to_owned());
    }
    if let Some(keyword) = reference_in(&fields.input_schema.parameters) {
        reasons.push(format!("`input_schema` has `{keyword}`, but references are not supported"));
    }
    if let Some(keyword) = fields.output_schema.as_ref().and_then(reference_in) {
        reasons.push(format!("`output_schema` has `{keyword}`, but references are not supported"));
    }
    reasons
}

/// The keywords that contain or refer to definitions.
const REFERRING: [&str; 5] = ["$ref", "$dynamicRef", "$recursiveRef", "$defs", "definitions"];

/// The keywords whose value is not a schema.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];

/// The keywords whose value is a map of schemas.
const NAMED: [&str; 6] =
    ["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"];

/// Returns the first keyword anywhere in a schema that the format does not support.
pub(super) fn reference(schema: &Value) -> Option<&'static str> {
    match schema {
        Value::Object(map) => reference_in(map),
        Value::Array(parts) => parts.iter().find_map(reference),
        _ => None,
    }
}

pub(super) fn reference_in(map: &Map<String, Value>) -> Option<&'static str> {
    let own = REFERRING.iter().find(|keyword| map.contains_key(**keyword)).copied();
    own.or_else(|| {
        map.iter().filter(|(keyword, _)| !DATA.contains(&keyword.as_str())).find_map(|(keyword, value)| match value {
            Value::Object(named) if NAMED.contains(&keyword.as_str()) => named.values().find_map(reference),
            value => reference(value),
        })
    })
}

/// Inlines the definitions of a schema.
///
/// # Errors
///
/// Returns an error for a reference that cannot be inlined, such as a recursive one.
pub(super) fn inlined(schema: &Value) -> Result<Map<String, Value>, String> {
    let mut schema = schema.clone();
    inline::inline(&mut schema);
    if let Some(keyword) = reference(&schema) {
        return Err(format!(
            "has a `{keyword}` that cannot be inlined, but Open Tool Calling does not support references; a recursive \
             type can pass its inner values as JSON text instead"
        ));
    }
    match schema {
        Value::Object(map) => Ok(map),
        Value::Bool(false) => Err("accepts no value".to_owned()),
        _ => Ok(Map::new()),
    }
}

/// Adds a description to each parameter without one: its title, or its name in words.
pub(super) fn describe_parameters(parameters: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = parameters.get_mut("properties") else {
        return;
    };
    for (name, schema) in properties {
        match schema {
            Value::Object(map) => {
                let text = |key: &str| map.get(key)?.as_str().filter(|text| !text.trim().is_empty());
                if text("description").is_none() {
                    let description = text("title").map_or_else(|| in_words(name), str::to_owned);
                    map.insert("description".to_owned(), description.into());
                }
            }
            Value::Bool(true) => *schema = json!({ "description": in_words(name) }),
            other => *other = json!({ "description": in_words(name), "not": {} }),
        }
    }
}

/// Writes the parameters of a function like the published examples: without `additionalProperties: false`, and with
/// `required`, even if it is empty.
pub(super) fn match_published_style(parameters: &mut Map<String, Value>) {
    if parameters.get("additionalProperties") == Some(&Value::Bool(false)) {
        parameters.remove("additionalProperties");
    }
    if parameters.get("properties").and_then(Value::as_object).is_some_and(|named| !named.is_empty()) {
        parameters.entry("required").or_insert_with(|| json!([]));
    }
}

/// `doorbellId` and `doorbell_id` as `doorbell id`.
fn in_words(name: &str) -> String {
    let mut words = String::new();
    let mut after_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && after_lower {
            words.push(' ');
        }
        after_lower = c.is_lowercase() || c.is_ascii_digit();
        match c {
            '_' | '-' | '.' => words.push(' '),
            c => words.extend(c.to_lowercase()),
        }
    }
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() { name.to_owned() } else { words }
}

/// Returns true if a schema accepts only `null`, as for a tool that returns nothing.
pub(super) fn accepts_only_null(schema: &Value) -> bool {
    let says = |keyword: &String| matches!(keyword.as_str(), "type" | "title" | "description" | "$schema");
    schema.get("type").is_some_and(|ty| ty == "null") && schema.as_object().is_some_and(|map| map.keys().all(says))
}
