//! Tools as JSON: the canonical form, which has all fields, and the form of MCP.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::{META_KEY, Metadata, Tool, ToolId, Unknown};

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// The fields of a tool in MCP (`Tool` of both revisions; `execution` of 2025-11-25 only).
const MCP_FIELDS: [&str; 9] =
    ["name", "title", "description", "inputSchema", "outputSchema", "annotations", "execution", "icons", "_meta"];

/// The fields without an equivalent in MCP, which are written under [`META_KEY`].
pub(super) const EXTENSIONS: [&str; 9] =
    ["namespace", "version", "category", "tags", "aliases", "deprecated", "examples", "requirements", "timeoutMs"];

/// The canonical form.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Canonical<'a> {
    pub(super) name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) namespace: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<Cow<'a, str>>,
    #[serde(flatten)]
    pub(super) metadata: Cow<'a, Metadata>,
    #[schemars(with = "Object")]
    pub(super) input_schema: Cow<'a, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Object>")]
    pub(super) output_schema: Option<Cow<'a, Value>>,
    /// Keeps the form open. Unknown fields are determined by comparison, together with other fields that would be
    /// lost.
    #[serde(flatten, skip_serializing)]
    _unknown: Unknown,
}

impl Tool {
    /// Serializes the tool in its canonical form: the fields of MCP's `Tool` and, if present, `namespace`, `version`,
    /// `category`, `tags`, `aliases`, `deprecated`, `examples`, `requirements` and `timeoutMs`.
    ///
    /// Unknown fields that were parsed are included. Schemas are unchanged, including references.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut fields = self.fields();
        // Beside the fields of MCP, fields with the names of extensions belong to other programs, unless they are
        // empty.
        let unknown = self.metadata().unknown.iter();
        add(&mut fields, unknown.filter(|(name, value)| !EXTENSIONS.contains(name) || is_empty(value)));
        Value::Object(fields)
    }

    /// Serializes the tool in the form of MCP, without namespace, version, tags and other extensions.
    #[must_use]
    pub fn to_mcp_json(&self) -> Value {
        let mut fields = self.fields();
        fields.retain(|name, _| MCP_FIELDS.contains(&name.as_str()));
        add(&mut fields, self.metadata().unknown.iter());
        Value::Object(fields)
    }

    /// Serializes the tool in the form of MCP, with the other fields and the id, if it is valid, under [`META_KEY`] of
    /// `_meta`.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::Tool;
    /// use toolkit::tool::META_KEY;
    ///
    /// let tool = Tool::builder("read").namespace("files").version("1.0.0").tags(["disk"]).build()?;
    /// let json = tool.to_mcp_json_with_record();
    /// assert_eq!(json["_meta"][META_KEY]["tags"][0], "disk");
    /// assert_eq!(Tool::from_mcp_json(json)?.id().to_string(), "files:read:1.0.0");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to_mcp_json_with_record(&self) -> Value {
        Value::Object(self.with_record(self.fields()))
    }

    /// Returns the fields of [`Tool::to_mcp_json_with_record`], with `null` in place of the schemas.
    pub(crate) fn mcp_fields_without_schemas(&self) -> Object {
        self.with_record(self.fields_without_schemas())
    }

    fn with_record(&self, known: Object) -> Object {
        let (mut fields, mut record) = (Object::new(), Object::new());
        let id = self.id().to_string();
        // Invalid parts yield a text that is not an id, or the id of another tool. The fields identify the tool then.
        if id.parse().is_ok_and(|read: ToolId| read.prints_as(self.id())) {
            record.insert("id".to_owned(), id.into());
        }
        for (name, value) in known {
            let form = if MCP_FIELDS.contains(&name.as_str()) { &mut fields } else { &mut record };
            form.insert(name, value);
        }
        let meta = fields.entry("_meta").or_insert_with(|| json!({}));
        if let Value::Object(meta) = meta {
            meta.insert(META_KEY.to_owned(), record.into());
        }
        add(&mut fields, self.metadata().unknown.iter());
        fields
    }

    /// Returns all known fields.
    fn fields(&self) -> Object {
        let mut fields = self.fields_without_schemas();
        fields.insert("inputSchema".to_owned(), self.input().as_value().clone());
        if let Some(schema) = self.output() {
            fields.insert("outputSchema".to_owned(), schema.as_value().clone());
        }
        fields
    }

    /// Returns all known fields, with `null` in place of the schemas.
    fn fields_without_schemas(&self) -> Object {
        let form = Canonical {
            name: self.name().into(),
            namespace: self.id().namespace().map(Into::into),
            version: self.id().version().map(Into::into),
            metadata: Cow::Borrowed(self.metadata()),
            input_schema: Cow::Owned(Value::Null),
            output_schema: self.output().map(|_| Cow::Owned(Value::Null)),
            _unknown: Unknown::NONE,
        };
        match json!(form) {
            Value::Object(fields) => fields,
            _ => unreachable!("a struct is written as an object"),
        }
    }
}

/// Serializes the canonical form.
impl Serialize for Tool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
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
