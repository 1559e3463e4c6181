//! From a definition to a tool.

use std::fmt;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolkit::Tool;
use toolkit::catalog::Diagnostics;
use toolkit::tool::ToolBuilder;

use super::schema::reference_in;
use super::{AS_READ, Definition, Input, MAX_NAME_LEN, Naming, Requirements, is_definition_name};
use crate::absent::or_default;
use crate::id::{OtcId, release};

/// A definition before anything is known of its fields but their kind.
#[derive(Deserialize)]
struct Fields {
    id: String,
    name: String,
    description: String,
    version: String,
    input_schema: Input,
    /// Any value, where nothing is said: the published schema does not ask for it.
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
    /// Reads a definition. Fields that the format does not have are passed over, and a parameter without a description
    /// is taken as it is.
    ///
    /// # Errors
    ///
    /// A field is missing or not of its kind, the id, the name or the version is none, the id and the version do not
    /// agree, or a schema has references.
    pub fn from_json(json: &Value) -> Result<Self, InvalidDefinition> {
        let id = json.get("id").and_then(Value::as_str).map(str::to_owned);
        let invalid = |reasons| InvalidDefinition { id: id.clone(), reasons };
        if exceeds(json, MAX_DEPTH) {
            return Err(invalid(vec![format!("it is nested deeper than {MAX_DEPTH} levels")]));
        }
        let mut fields = Fields::deserialize(json).map_err(|error| invalid(vec![error.to_string()]))?;
        for authorization in &mut fields.requirements.authorization {
            // A list of no scopes says nothing.
            authorization.oauth2.take_if(|oauth2| oauth2.scopes.is_empty());
        }
        let parsed = fields.id.parse::<OtcId>();
        let reasons = wrong_with(&fields, parsed.as_ref());
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

    /// The tool that it describes: the toolkit is its namespace. A name other than `Toolkit_Tool` is its title.
    ///
    /// Where the definition of that tool would differ from this one, as for parameters without a `type`, the tool keeps
    /// this one in its `_meta`, so that [`Definition::of`] returns it.
    ///
    /// # Errors
    ///
    /// What [`ToolBuilder::build`](toolkit::tool::ToolBuilder::build) refuses, such as a schema that is not sound.
    pub fn to_tool(&self) -> Result<Tool, Diagnostics> {
        let tool = self.builder().build()?;
        let json = serde_json::to_value(self).unwrap_or_default();
        let is_kept =
            exceeds(&json, MAX_KEPT_DEPTH) || Self::of(&tool, &Naming::default()).is_ok_and(|again| again == *self);
        match is_kept {
            true => Ok(tool),
            false => self.builder().meta(Map::from_iter([(AS_READ.to_owned(), json)])).build(),
        }
    }

    /// The definition that a tool was read from, if the tool keeps it and is still the same.
    pub(super) fn as_read(tool: &Tool) -> Option<Self> {
        let definition = Self::from_json(tool.meta()?.get(AS_READ)?).ok()?;
        (definition.to_tool().ok()? == *tool).then_some(definition)
    }

    fn builder(&self) -> ToolBuilder {
        let mut input = self.input_schema.parameters.clone();
        // Arguments are an object, whether the schema says so or not.
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

/// How deep a definition may be nested: as deep as JSON text is read.
const MAX_DEPTH: usize = 127;

/// How deep one may be nested that a tool keeps: the tool has levels around it, and has to be read as JSON text too.
const MAX_KEPT_DEPTH: usize = 120;

fn exceeds(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| exceeds(item, levels - 1)),
        Value::Object(object) => levels == 0 || object.values().any(|value| exceeds(value, levels - 1)),
        _ => false,
    }
}

fn wrong_with(fields: &Fields, id: Result<&OtcId, &crate::InvalidOtcId>) -> Vec<String> {
    let mut reasons = Vec::new();
    match id {
        Err(invalid) => reasons.push(format!("its `id` is {invalid}")),
        // `@1` is short for `@1.0.0` in calls only.
        Ok(id) if id.version().is_none() || id.to_string() != fields.id => {
            reasons.push("its `id` has no version of three numbers, such as `@1.0.0`".to_owned());
        }
        Ok(id) if id.version() != release(&fields.version).as_ref() && release(&fields.version).is_some() => {
            reasons.push("its `id` and its `version` do not agree".to_owned());
        }
        Ok(_) => {}
    }
    if !is_definition_name(&fields.name) {
        reasons.push(format!("its `name` must have 1 to {MAX_NAME_LEN} letters, digits, `_` and `-`"));
    }
    if release(&fields.version).is_none() {
        reasons.push("its `version` must be three numbers and nothing more, such as `1.0.0`".to_owned());
    }
    if let Some(keyword) = reference_in(&fields.input_schema.parameters) {
        reasons.push(format!("its `input_schema` has `{keyword}`, and the format has no references"));
    }
    if let Some(keyword) = fields.output_schema.as_ref().and_then(reference_in) {
        reasons.push(format!("its `output_schema` has `{keyword}`, and the format has no references"));
    }
    reasons
}

/// A document that is no definition of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidDefinition {
    id: Option<String>,
    reasons: Vec<String>,
}

impl fmt::Display for InvalidDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a definition of a tool")?;
        if let Some(id) = &self.id {
            let id: String = id.chars().take(160).collect();
            write!(f, " (`{}`)", id.escape_debug())?;
        }
        // serde repeats what it did not expect, which may be long.
        let reasons: String = self.reasons.join("; ").chars().take(600).collect();
        write!(f, ": {}", reasons.escape_debug())
    }
}

impl std::error::Error for InvalidDefinition {}
