//! Parsing of tools from their JSON forms.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::json::{Canonical, EXTENSIONS, Object};
use super::parse_error::ParseToolError;
use super::{META_KEY, Metadata, Tool, ToolId, normalize_tags};
use crate::arguments::Arguments;
use toolkit_schema::{Schema, generate, is_too_deep};

impl Tool {
    /// Parses the canonical form from text or a value.
    ///
    /// A field that is `null` counts as absent and is preserved. Tags are normalized. Only the types of the fields are
    /// checked. [`Catalog::check`](crate::Catalog::check) checks their contents, and [`Manifest`](crate::Manifest)
    /// does so while it parses.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not JSON, or with every field that is missing or has the wrong type.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolkit::Tool;
    /// let tool = Tool::from_json(r#"{"name": "add", "namespace": "math", "inputSchema": {"type": "object"}}"#)?;
    /// assert_eq!(tool.id().to_string(), "math:add");
    ///
    /// let error = Tool::from_json(r#"{"name": 1}"#).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "not a tool:\n/inputSchema is required\n/name must be a string, got 1"
    /// );
    /// # Ok::<(), toolkit::tool::ParseToolError>(())
    /// ```
    pub fn from_json<'j>(json: impl Into<Arguments<'j>>) -> Result<Self, ParseToolError> {
        Self::from_fields(&mut object(json.into())?)
    }

    /// Parses the fields of the canonical form. The schemas are moved out of them, unless there is an error.
    pub(crate) fn from_fields(fields: &mut Object) -> Result<Self, ParseToolError> {
        parse_apart(fields, |fields| Ok(complete(parse(fields.clone())?, fields, Self::to_json)))
    }

    /// Parses the form of MCP from text or a value, including the record under [`META_KEY`].
    ///
    /// As in [`Tool::from_json`], contents are not checked. In particular, a name may contain any characters, because
    /// MCP only recommends a set.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Tool::from_json`].
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::Tool;
    ///
    /// let tool = Tool::from_mcp_json(
    ///     r#"{"name": "read", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}"#,
    /// )?;
    /// assert_eq!(tool.annotations().read_only, Some(true));
    /// # Ok::<(), toolkit::tool::ParseToolError>(())
    /// ```
    pub fn from_mcp_json<'j>(json: impl Into<Arguments<'j>>) -> Result<Self, ParseToolError> {
        Self::from_mcp_fields(&mut object(json.into())?)
    }

    /// Parses the fields of the form of MCP. The schemas are moved out of them, unless there is an error.
    pub(crate) fn from_mcp_fields(fields: &mut Object) -> Result<Self, ParseToolError> {
        parse_apart(fields, |fields| {
            let is_canonical = |(name, _): &(&String, &Value)| !EXTENSIONS.contains(&name.as_str());
            let mut canonical: Object =
                fields.iter().filter(is_canonical).map(|(name, value)| (name.clone(), value.clone())).collect();
            let record = match canonical.get_mut("_meta").and_then(Value::as_object_mut) {
                Some(meta) => meta.remove(META_KEY),
                None => None,
            };
            let Some(record) = record else {
                return Ok(complete(parse(canonical)?, fields, Self::to_mcp_json));
            };
            // An object that contained nothing else was not attached by the author of the tool.
            if canonical["_meta"] == json!({}) {
                canonical.remove("_meta");
            }
            let Value::Object(mut record) = record else {
                return Err(ParseToolError::carried("must be an object"));
            };
            let id = record.remove("id");
            canonical.extend(record.into_iter().filter(|(name, _)| EXTENSIONS.contains(&name.as_str())));
            // The id takes precedence for the parts that it has.
            if let Some(id) = id {
                name_by(&id, &mut canonical)?;
            }
            let tool = parse(canonical).map_err(ParseToolError::relocate_to_record)?;
            Ok(complete(tool, fields, Self::to_mcp_json_with_record))
        })
    }
}

/// Parses the fields of a tool with empty objects in place of its schemas, which are large and would be copied. If there
/// is an error, the fields are unchanged.
fn parse_apart(
    fields: &mut Object,
    parse: impl FnOnce(&Object) -> Result<(ToolId, Metadata), ParseToolError>,
) -> Result<Tool, ParseToolError> {
    let names = ["inputSchema", "outputSchema"];
    let schemas = names.map(|name| {
        let schema = fields.get_mut(name).filter(|schema| schema.is_object())?;
        Some(std::mem::replace(schema, json!({})))
    });
    match parse(fields) {
        Ok((id, metadata)) => {
            let [input, output] = schemas;
            Ok(Tool::given(id, metadata, input.expect("the form requires an object"), output))
        }
        Err(error) => {
            for (name, schema) in names.into_iter().zip(schemas) {
                fields.extend(schema.map(|schema| (name.to_owned(), schema)));
            }
            Err(error)
        }
    }
}

/// Parses the canonical form, without the schemas.
fn parse(mut fields: Object) -> Result<Tool, ParseToolError> {
    /// The schema of the canonical form, which provides the error messages.
    static FORM: LazyLock<Schema> = LazyLock::new(|| Schema::generated(generate::input::<Canonical<'static>>()));

    drop_nulls(&mut fields);
    let fields = Value::Object(fields);
    FORM.validate(&fields).map_err(ParseToolError::from_violations)?;
    let read = Canonical::deserialize(fields).map_err(|error| ParseToolError::Json(error.to_string()))?;
    let mut metadata = read.metadata.into_owned();
    metadata.tags = normalize_tags(metadata.tags.iter()).into_iter().map(Cow::Owned).collect();
    let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
    let id = ToolId::unchecked(read.namespace.map(owned), owned(read.name), read.version.map(owned));
    Ok(Tool::given(id, metadata, Value::Null, read.output_schema.map(|_| Value::Null)))
}

/// Returns the id and the metadata of a tool, with those of the `fields` that `write` does not write.
fn complete(tool: Tool, fields: &Object, write: impl FnOnce(&Tool) -> Value) -> (ToolId, Metadata) {
    let written = write(&tool);
    let mut metadata = tool.metadata().clone();
    if let (Some(read), Some(written)) = (fields.get("annotations"), written.get("annotations")) {
        metadata.annotations.unknown.add(beyond(read, written));
    }
    if let (Some(read), Some(written)) = (fields.get("execution"), written.get("execution")) {
        metadata.execution.unknown.add(beyond(read, written));
    }
    if let (Some(read), Some(written)) = (fields.get("icons"), written.get("icons")) {
        for (idx, icon) in metadata.icons.iter_mut().enumerate() {
            icon.unknown.add(beyond(&read[idx], &written[idx]));
        }
    }
    let unknown = fields.iter().filter(|(name, _)| written.get(name.as_str()).is_none());
    metadata.unknown = unknown.map(|(name, value)| (name.clone(), value.clone())).collect();
    (tool.id, metadata)
}

/// Returns the fields that were parsed and would not be written.
fn beyond<'a>(read: &'a Value, written: &'a Value) -> impl Iterator<Item = (String, Value)> + 'a {
    let fields = read.as_object().into_iter().flatten().filter(|(name, _)| written.get(name.as_str()).is_none());
    fields.map(|(name, value)| (name.clone(), value.clone()))
}

/// Deserializes the canonical form; see [`Tool::from_json`].
impl<'de> Deserialize<'de> for Tool {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

fn object(json: Arguments<'_>) -> Result<Object, ParseToolError> {
    if matches!(&json, Arguments::Value(value) if is_too_deep(value)) {
        return Err(ParseToolError::Json("it is nested deeper than 127 levels".to_owned()));
    }
    match json.to_value().map_err(|error| ParseToolError::Json(error.message().to_owned()))? {
        Value::Object(fields) => Ok(fields),
        _ => Err(ParseToolError::Json("a tool is a JSON object".to_owned())),
    }
}

/// Moves the parts of the id in a record to their canonical fields. The name beside the record is a wire name.
fn name_by(id: &Value, canonical: &mut Object) -> Result<(), ParseToolError> {
    let id = ToolId::deserialize(id).map_err(|error| ParseToolError::carried(&error.to_string()))?;
    canonical.insert("name".to_owned(), id.name().into());
    let parts = [("namespace", id.namespace()), ("version", id.version())];
    canonical.extend(parts.into_iter().filter_map(|(name, part)| Some((name.to_owned(), part?.into()))));
    Ok(())
}

/// Removes fields that are `null`. Several servers write `null` for every field without a value.
pub(crate) fn drop_nulls(fields: &mut Object) {
    fields.retain(|_, value| !value.is_null());
    let icons = fields.get_mut("icons").and_then(Value::as_array_mut);
    let icons = icons.into_iter().flatten().filter_map(Value::as_object_mut);
    icons.for_each(|icon| icon.retain(|_, value| !value.is_null()));
    for name in ["annotations", "execution"] {
        if let Some(Value::Object(object)) = fields.get_mut(name) {
            object.retain(|_, value| !value.is_null());
        }
    }
}
