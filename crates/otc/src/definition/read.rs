//! Conversion of a definition into a tool.

use std::fmt;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolkit::Tool;
use toolkit::catalog::Diagnostics;
use toolkit::tool::ToolBuilder;

use super::schema::reference_in;
use super::{AS_READ, Definition, Input, MAX_NAME_LEN, Naming, Requirements, is_definition_name, or_default};
use crate::id::{OtcId, release};

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
    pub fn from_json(json: &Value) -> Result<Self, DefinitionError> {
        let id = json.get("id").and_then(Value::as_str).map(str::to_owned);
        let invalid = |reasons| DefinitionError { id: id.clone(), reasons };
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

fn find_defects(fields: &Fields, id: Result<&OtcId, &crate::OtcIdError>) -> Vec<String> {
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

/// The error for an invalid definition.
///
/// The message lists all defects.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit_otc::Definition;
///
/// let error = Definition::from_json(&json!({
///     "id": "Calculator.Add@1.0.0",
///     "name": "Calculator Add",
///     "description": "Adds two numbers.",
///     "version": "2.0",
///     "input_schema": { "parameters": {} },
///     "output_schema": null,
/// }));
/// let message = error.unwrap_err().to_string();
/// assert!(message.starts_with("not a definition of a tool (`Calculator.Add@1.0.0`): "));
/// assert!(message.contains("`name` must have 1 to 64 letters, digits, `_` and `-`"));
/// assert!(message.contains("`version` must be three numbers, such as `1.0.0`"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionError {
    id: Option<String>,
    reasons: Vec<String>,
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a definition of a tool")?;
        if let Some(id) = &self.id {
            let id: String = id.chars().take(160).collect();
            write!(f, " (`{}`)", id.escape_debug())?;
        }
        // serde repeats the unexpected value, which may be long.
        let reasons: String = self.reasons.join("; ").chars().take(600).collect();
        write!(f, ": {}", reasons.escape_debug())
    }
}

impl std::error::Error for DefinitionError {}
