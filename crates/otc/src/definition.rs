//! Tool definitions of Open Tool Calling.
//!
//! | module | contents |
//! |---|---|
//! | this file | the definition, and its conversion from and into a tool |
//! | `id` | ids, such as `Toolkit.Tool@1.0.0`, and names |
//! | `schema` | the rules of the format for schemas |

mod id;
mod schema;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use toolkit::Tool;
use toolkit::catalog::{Diagnostic, DiagnosticKind, Diagnostics};
use toolkit::tool::ToolBuilder;
use toolkit_providers::{Effect, Loss, Side, unsupported_fields};

use self::id::{MAX_NAME_LEN, id_of, is_definition_name, name_of, release};
pub use self::id::{Naming, OtcId};
use self::schema::{accepts_only_null, describe_parameters, inlined, match_published_style, reference_in};
use crate::error::OtcError;

/// A tool definition of Open Tool Calling (`ToolDefinition`).
///
/// # Examples
///
/// ```
/// # use serde_json::json;
/// # use toolkit_otc::Definition;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let json = json!({
///     "id": "Calculator.Add@1.0.0",
///     "name": "Calculator_Add",
///     "description": "Adds two numbers together.",
///     "version": "1.0.0",
///     "input_schema": { "parameters": {
///         "type": "object",
///         "properties": { "a": { "type": "number", "description": "The first number to add." } },
///         "required": ["a"],
///     } },
///     "output_schema": { "type": "number" },
/// });
/// let tool = Definition::from_json(&json)?.to_tool()?;
/// assert_eq!(tool.id().to_string(), "Calculator:Add:1.0.0");
/// assert_eq!(serde_json::to_value(Definition::from_tool(&tool, &Default::default())?)?, json);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Definition {
    id: OtcId,
    name: String,
    description: String,
    version: String,
    input_schema: InputFields,
    /// `None` if the tool returns nothing.
    output_schema: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Requirements::is_empty")]
    requirements: Requirements,
}

impl Definition {
    /// Returns the id, which has the version of the definition.
    #[must_use]
    pub fn id(&self) -> &OtcId {
        &self.id
    }

    /// Returns the name: 1 to 64 letters, digits, `_` and `-`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

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
        let mut fields = DefinitionFields::deserialize(json).map_err(|error| invalid(vec![error.to_string()]))?;
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
    fn as_read(tool: &Tool) -> Option<Self> {
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

    /// Converts a tool into a definition.
    ///
    /// - The namespace becomes the toolkit. `-` and `.` in names become `_`.
    /// - The title becomes the name if it is a valid one; otherwise the name is `Toolkit_Tool`.
    /// - Definitions in schemas are inlined.
    /// - A tool or a parameter without a description is described by its title or by its name in words.
    /// - A tool without an output schema may return any value. One whose output schema accepts only `null` returns
    ///   nothing.
    /// - The parameters of a function of this program are written like the published examples: without
    ///   `additionalProperties: false`, and with `required`, even if it is empty.
    ///
    /// A tool that was read from a definition, and has not changed, has that definition.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool lacks a namespace or a version without a default in `naming`, if its version is not
    /// three numbers, if a schema is recursive, or if its name is too long.
    pub fn from_tool(tool: &Tool, naming: &Naming) -> Result<Self, Diagnostics> {
        if let Some(read) = Self::as_read(tool) {
            return Ok(read);
        }
        let id = id_of(tool, naming)?;
        let wrong = |which: &str, reason: String| {
            Diagnostics::from(Diagnostic::new(
                DiagnosticKind::InvalidSchema,
                format!("its {which} schema {reason}"),
                [tool],
            ))
        };
        let mut parameters = inlined(tool.input().as_value()).map_err(|reason| wrong("input", reason))?;
        describe_parameters(&mut parameters);
        if tool.location().is_some() {
            match_published_style(&mut parameters);
        }
        let output_schema = match tool.output().map(|schema| schema.as_value()) {
            None if tool.returns_unit() => None,
            None => Some(Default::default()),
            Some(schema) if accepts_only_null(schema) => None,
            Some(schema) => Some(inlined(schema).map_err(|reason| wrong("output", reason))?),
        };
        Ok(Self {
            name: name_of(tool, &id)?,
            description: match tool.description().trim() {
                "" if tool.deprecated().is_none() => tool.display_name().to_owned(),
                _ => tool.full_description(),
            },
            version: id.version().map(ToString::to_string).unwrap_or_default(),
            input_schema: InputFields { parameters },
            output_schema,
            requirements: tool.requirements().into(),
            id,
        })
    }

    /// Returns the properties of the tool that the definition does not have.
    #[must_use]
    pub fn losses(&self, tool: &Tool) -> Vec<Loss> {
        let mut supported = vec!["namespace", "version", "requirements", "outputSchema"];
        // A title that became the name is not lost, unless the annotations have another title.
        if tool.title().is_none_or(|title| title == self.name) && tool.annotations().title.is_none() {
            supported.push("title");
        }
        let keeps_only = |meta: &Value| meta.as_object().is_some_and(|meta| meta.keys().all(|key| key == AS_READ));
        if tool.meta().is_some_and(|meta| keeps_only(&meta)) {
            supported.push("_meta");
        }
        let mut losses = unsupported_fields(tool, &supported);
        if !tool.requirements().scopes.is_empty() {
            let reason = "are not written; Open Tool Calling has no tokens of callers with scopes";
            losses.push(Loss::new(Side::Record, "/requirements/scopes", "scopes", Effect::MetadataOnly, reason));
        }
        let parts = [
            ("name", Some(tool.name()), self.id.tool()),
            ("namespace", tool.id().namespace(), self.id.toolkit()),
            ("version", tool.id().version(), &self.version),
        ];
        for (field, part, written) in parts {
            if part.is_some_and(|part| part != written) {
                let reason = format!("is written as `{written}`");
                losses.push(Loss::new(Side::Record, format!("/{field}"), field, Effect::MetadataOnly, reason));
            }
        }
        if tool.location().is_some() && tool.input().as_value().get("additionalProperties") == Some(&false.into()) {
            let reason = "is not written; the tool rejects other parameters nevertheless";
            losses.push(Loss::new(Side::Input, "", "additionalProperties", Effect::Widened, reason));
        }
        losses
    }
}

/// The key in the `_meta` of a tool for the definition that it was read from, if `Definition::from_tool` would produce
/// another.
const AS_READ: &str = "open-tool-calling/definition";

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

fn find_defects(fields: &DefinitionFields, id: Result<&OtcId, &OtcError>) -> Vec<String> {
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

/// The fields of a definition before validation.
#[derive(Deserialize)]
struct DefinitionFields {
    id: String,
    name: String,
    description: String,
    version: String,
    input_schema: InputFields,
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct InputFields {
    parameters: Map<String, Value>,
}

/// Like [`toolkit::tool::Requirements`], but `oauth2` is optional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Requirements {
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub(crate) authorization: Vec<Authorization>,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub(crate) secrets: Vec<Secret>,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) user_id: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Authorization {
    pub(crate) id: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) oauth2: Option<OAuth2>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct OAuth2 {
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub(crate) scopes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Secret {
    pub(crate) id: String,
}

impl Requirements {
    pub(crate) fn is_empty(&self) -> bool {
        self.authorization.is_empty() && self.secrets.is_empty() && !self.user_id
    }
}

impl From<&toolkit::tool::Requirements> for Requirements {
    fn from(required: &toolkit::tool::Requirements) -> Self {
        let authorization = required.authorization.iter().map(|authorization| {
            let scopes: Vec<String> = authorization.scopes.iter().map(ToString::to_string).collect();
            let oauth2 = (!scopes.is_empty()).then_some(OAuth2 { scopes });
            Authorization { id: authorization.id.to_string(), oauth2 }
        });
        Self {
            authorization: authorization.collect(),
            secrets: required.secrets.iter().map(|secret| Secret { id: secret.id.to_string() }).collect(),
            user_id: required.user_id,
        }
    }
}

impl From<Requirements> for toolkit::tool::Requirements {
    fn from(required: Requirements) -> Self {
        let authorization = required.authorization.into_iter().map(|authorization| {
            toolkit::tool::Authorization::new(authorization.id, authorization.oauth2.unwrap_or_default().scopes)
        });
        let mut requirements = Self::NONE;
        requirements.authorization = authorization.collect();
        requirements.secrets =
            required.secrets.into_iter().map(|secret| toolkit::tool::Secret::new(secret.id)).collect();
        requirements.user_id = required.user_id;
        requirements
    }
}

/// Deserializes a field, with its default value for `null`, which some programs write for an absent one.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
