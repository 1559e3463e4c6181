//! Tools as JSON, written and parsed: the canonical form, which has all fields, and the form of MCP.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{META_KEY, Metadata, ToolId, Unknown, normalize_tags};
use crate::arguments::Arguments;
use toolkit_schema::{Schema, Violations, child, generate, is_too_deep};

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// The fields of a tool in MCP (`Tool` of both revisions; `execution` of 2025-11-25 only).
const MCP_FIELDS: [&str; 9] =
    ["name", "title", "description", "inputSchema", "outputSchema", "annotations", "execution", "icons", "_meta"];

/// The fields without an equivalent in MCP, which are written under [`META_KEY`].
const EXTENSIONS: [&str; 9] =
    ["namespace", "version", "category", "tags", "aliases", "deprecated", "examples", "requirements", "timeoutMs"];

/// The parts of a tool that its JSON has.
#[derive(Clone, Copy)]
pub(super) struct ToolRecord<'t> {
    pub(super) id: &'t ToolId,
    pub(super) metadata: &'t Metadata,
    pub(super) input: &'t Value,
    pub(super) output: Option<&'t Value>,
}

/// The parts of a tool that were parsed.
pub(super) struct Parsed {
    pub(super) id: ToolId,
    pub(super) metadata: Metadata,
    pub(super) input: Value,
    pub(super) output: Option<Value>,
}

impl Parsed {
    fn record(&self) -> ToolRecord<'_> {
        ToolRecord { id: &self.id, metadata: &self.metadata, input: &self.input, output: self.output.as_ref() }
    }
}

/// The canonical form.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Canonical<'a> {
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<Cow<'a, str>>,
    #[serde(flatten)]
    metadata: Cow<'a, Metadata>,
    #[schemars(with = "Object")]
    input_schema: Cow<'a, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Object>")]
    output_schema: Option<Cow<'a, Value>>,
    /// Keeps the form open. Unknown fields are determined by comparison, together with other fields that would be
    /// lost.
    #[serde(flatten, skip_serializing)]
    _unknown: Unknown,
}

/// Serializes the tool in its canonical form: the fields of MCP's `Tool` and, if present, `namespace`, `version`,
/// `category`, `tags`, `aliases`, `deprecated`, `examples`, `requirements` and `timeoutMs`.
pub(super) fn to_json(record: ToolRecord<'_>) -> Value {
    let mut fields = fields(record);
    // Beside the fields of MCP, fields with the names of extensions belong to other programs, unless they are
    // empty.
    let unknown = record.metadata.unknown.iter();
    add(&mut fields, unknown.filter(|(name, value)| !EXTENSIONS.contains(name) || is_empty(value)));
    Value::Object(fields)
}

/// Serializes the tool in the form of MCP, without namespace, version, tags and other extensions.
pub(super) fn to_mcp_json(record: ToolRecord<'_>) -> Value {
    let mut fields = fields(record);
    fields.retain(|name, _| MCP_FIELDS.contains(&name.as_str()));
    add(&mut fields, record.metadata.unknown.iter());
    Value::Object(fields)
}

/// Serializes the tool in the form of MCP, with the other fields and the id, if it is valid, under [`META_KEY`] of
/// `_meta`.
pub(super) fn to_mcp_json_with_record(record: ToolRecord<'_>) -> Value {
    Value::Object(mcp_fields(record))
}

/// Returns the fields of [`to_mcp_json_with_record`].
pub(super) fn mcp_fields(tool: ToolRecord<'_>) -> Object {
    let (mut fields, mut record) = (Object::new(), Object::new());
    let id = tool.id.to_string();
    // Invalid parts yield a text that is not an id, or the id of another tool. The fields identify the tool then.
    if id.parse().is_ok_and(|read: ToolId| read.prints_as(tool.id)) {
        record.insert("id".to_owned(), id.into());
    }
    for (name, value) in self::fields(tool) {
        let form = if MCP_FIELDS.contains(&name.as_str()) { &mut fields } else { &mut record };
        form.insert(name, value);
    }
    let meta = fields.entry("_meta").or_insert_with(|| json!({}));
    if let Value::Object(meta) = meta {
        meta.insert(META_KEY.to_owned(), record.into());
    }
    add(&mut fields, tool.metadata.unknown.iter());
    fields
}

/// Returns all known fields.
fn fields(record: ToolRecord<'_>) -> Object {
    let ToolRecord { id, metadata, input, output } = record;
    let form = Canonical {
        name: id.name().into(),
        namespace: id.namespace().map(Into::into),
        version: id.version().map(Into::into),
        metadata: Cow::Borrowed(metadata),
        input_schema: Cow::Owned(Value::Null),
        output_schema: None,
        _unknown: Unknown::NONE,
    };
    let Value::Object(mut fields) = json!(form) else { unreachable!("a struct is written as an object") };
    // A clone takes less time than a serializer.
    fields.insert("inputSchema".to_owned(), input.clone());
    fields.extend(output.map(|schema| ("outputSchema".to_owned(), schema.clone())));
    fields
}

fn add<'a>(fields: &mut Object, unknown: impl Iterator<Item = (&'a str, &'a Value)>) {
    for (name, value) in unknown {
        fields.entry(name).or_insert_with(|| value.clone());
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// Parses the fields of the canonical form. The schemas are moved out of them, unless there is an error.
pub(super) fn from_fields(fields: &mut Object) -> Result<Parsed, ParseToolError> {
    parse_apart(fields, |fields| Ok(complete(parse(fields.clone())?, fields, to_json)))
}

/// Parses the fields of the form of MCP. The schemas are moved out of them, unless there is an error.
pub(super) fn from_mcp_fields(fields: &mut Object) -> Result<Parsed, ParseToolError> {
    parse_apart(fields, |fields| {
        let is_canonical = |(name, _): &(&String, &Value)| !EXTENSIONS.contains(&name.as_str());
        let mut canonical: Object =
            fields.iter().filter(is_canonical).map(|(name, value)| (name.clone(), value.clone())).collect();
        let record = match canonical.get_mut("_meta").and_then(Value::as_object_mut) {
            Some(meta) => meta.shift_remove(META_KEY),
            None => None,
        };
        let Some(record) = record else {
            return Ok(complete(parse(canonical)?, fields, to_mcp_json));
        };
        // An object that contained nothing else was not attached by the author of the tool.
        if canonical["_meta"] == json!({}) {
            canonical.shift_remove("_meta");
        }
        let Value::Object(mut record) = record else {
            return Err(ParseToolError::carried("must be an object"));
        };
        let id = record.shift_remove("id");
        canonical.extend(record.into_iter().filter(|(name, _)| EXTENSIONS.contains(&name.as_str())));
        // The id takes precedence for the parts that it has.
        if let Some(id) = id {
            name_by(&id, &mut canonical)?;
        }
        let tool = parse(canonical).map_err(ParseToolError::relocate_to_record)?;
        Ok(complete(tool, fields, to_mcp_json_with_record))
    })
}

/// Parses the fields of a tool with empty objects in place of its schemas, which are large and would be copied. If there
/// is an error, the fields are unchanged.
fn parse_apart(
    fields: &mut Object,
    parse: impl FnOnce(&Object) -> Result<Parsed, ParseToolError>,
) -> Result<Parsed, ParseToolError> {
    let names = ["inputSchema", "outputSchema"];
    let schemas = names.map(|name| {
        let schema = fields.get_mut(name).filter(|schema| schema.is_object())?;
        Some(std::mem::replace(schema, json!({})))
    });
    match parse(fields) {
        Ok(tool) => {
            let [input, output] = schemas;
            Ok(Parsed { input: input.expect("the form requires an object"), output, ..tool })
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
fn parse(mut fields: Object) -> Result<Parsed, ParseToolError> {
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
    Ok(Parsed { id, metadata, input: Value::Null, output: read.output_schema.map(|_| Value::Null) })
}

/// Adds to a tool those of the `fields` that `write` does not write.
fn complete(mut tool: Parsed, fields: &Object, write: impl FnOnce(ToolRecord<'_>) -> Value) -> Parsed {
    let written = write(tool.record());
    let metadata = &mut tool.metadata;
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
    tool
}

/// Returns the fields that were parsed and would not be written.
fn beyond<'a>(read: &'a Value, written: &'a Value) -> impl Iterator<Item = (String, Value)> + 'a {
    let fields = read.as_object().into_iter().flatten().filter(|(name, _)| written.get(name.as_str()).is_none());
    fields.map(|(name, value)| (name.clone(), value.clone()))
}

/// Deserializes the canonical form; see [`Tool::from_json`].
pub(super) fn object(json: Arguments<'_>) -> Result<Object, ParseToolError> {
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

/// The error of a document that is not a tool, or not a list of tools.
///
/// # Examples
///
/// ```
/// use toolkit::Tool;
/// use toolkit::tool::ParseToolError;
///
/// let error = Tool::from_mcp_json(r#"{"name": "read", "inputSchema": []}"#).unwrap_err();
/// let ParseToolError::Form(violations) = error else { panic!("{error}") };
/// assert_eq!(violations[0].pointer, "/inputSchema");
///
/// let error = Tool::from_json("[]").unwrap_err();
/// assert!(matches!(error, ParseToolError::Json(_)));
///
/// let response = r#"{"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}"#;
/// let error = toolkit::Manifest::from_mcp_json(response).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "not a manifest: it has no `tools`; for a JSON-RPC response, pass its `result`"
/// );
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ParseToolError {
    /// The text is not JSON, or not an object.
    Json(String),
    /// The violations of the form of a tool.
    Form(Violations),
    /// The document has no list of tools.
    Manifest(String),
}

impl ParseToolError {
    /// Replaces "argument" by "field" in the messages of a schema.
    fn from_violations(violations: Violations) -> Self {
        ParseToolError::Form(violations.reworded(|violation| {
            if violation.keyword == "additionalProperties" {
                violation.rule = "is not a field".to_owned();
            }
        }))
    }

    fn carried(rule: &str) -> Self {
        ParseToolError::Form(Violations::from_type_errors([(child(&child("", "_meta"), META_KEY), rule.to_owned())]))
    }

    /// Restores the locations of fields that were in the record.
    fn relocate_to_record(self) -> Self {
        let ParseToolError::Form(violations) = self else { return self };
        let place = child(&child("", "_meta"), META_KEY);
        ParseToolError::Form(violations.reworded(|violation| {
            let field = violation.pointer.split('/').nth(1).unwrap_or_default();
            if EXTENSIONS.contains(&field) {
                violation.pointer.insert_str(0, &place);
            }
        }))
    }
}

impl fmt::Display for ParseToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseToolError::Json(reason) => write!(f, "not a tool: {reason}"),
            ParseToolError::Form(violations) => write!(f, "not a tool:\n{violations}"),
            ParseToolError::Manifest(reason) => write!(f, "not a manifest: {reason}"),
        }
    }
}

impl std::error::Error for ParseToolError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ParseToolError::Json(_) | ParseToolError::Manifest(_) => None,
            ParseToolError::Form(violations) => Some(violations),
        }
    }
}
