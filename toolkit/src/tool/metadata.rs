//! The metadata of tools: texts, hints about effects, execution, icons, JSON literals and unknown fields.

use std::borrow::Cow;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::Requirements;
use toolkit_schema::equality;

/// The key of `_meta` under which the record of a tool is published by every adapter that supports `_meta`.
///
/// MCP requires a reverse-DNS prefix (`_meta` in the General fields of both revisions).
pub const META_KEY: &str = "rs.toolkit/tool";

/// A text of a tool: a string literal of the program, or a parsed string.
///
/// # Examples
///
/// ```
/// use std::borrow::Cow;
///
/// use toolkit::Tool;
/// use toolkit::tool::Text;
///
/// let title: Text = Cow::Owned(format!("Read {}", "files"));
/// let tool = Tool::builder("read").title(title).description("Reads a file.").build()?;
/// assert_eq!(tool.title(), Some("Read files"));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
pub type Text = Cow<'static, str>;

/// The metadata of a tool: everything except its id and its schemas.
///
/// Its JSON is part of the canonical form of a tool; see [`Tool::to_json`](super::Tool::to_json).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Metadata {
    /// The title for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// The description, by which a model decides whether to call the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
    /// The category for listings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<Text>,
    /// The normalized tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Text>,
    /// The hints about effects.
    #[serde(default, skip_serializing_if = "Annotations::is_empty")]
    pub annotations: Annotations,
    /// The properties of how the tool is executed.
    #[serde(default, skip_serializing_if = "Execution::is_empty")]
    pub execution: Execution,
    /// Earlier names and ids that still resolve to the tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Text>,
    /// The replacement of a deprecated tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<Text>,
    /// The icons for clients.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// The `_meta` of the author, a JSON object.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub meta: Option<Literal>,
    /// Example arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Literal>,
    /// The credentials that the tool requires.
    #[serde(default, skip_serializing_if = "Requirements::is_empty")]
    pub requirements: Requirements,
    /// The timeout of a call, in milliseconds.
    #[serde(rename = "timeoutMs", default, with = "millis", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<u64>")]
    pub timeout: Option<Duration>,
    /// Unknown fields of the tool.
    #[serde(skip)]
    pub unknown: Unknown,
}

impl Metadata {
    /// Metadata with no field set.
    pub const NONE: Self = Self {
        title: None,
        description: None,
        category: None,
        tags: Vec::new(),
        annotations: Annotations::NONE,
        execution: Execution::NONE,
        aliases: Vec::new(),
        deprecated: None,
        icons: Vec::new(),
        meta: None,
        examples: Vec::new(),
        requirements: Requirements::NONE,
        timeout: None,
        unknown: Unknown::NONE,
    };
}

/// The hints of a tool about its effects (`ToolAnnotations` of MCP). They are not guarantees.
///
/// `None` means unspecified, which differs from `Some(false)`.
///
/// ```
/// use toolkit::{Tool, tool::Annotations};
///
/// let tool = Tool::builder("read").annotations(Annotations::NONE.with_title("Read a file")).read_only(true).build()?;
/// assert_eq!(tool.annotations().read_only, Some(true));
/// assert_eq!(tool.annotations().destructive, None);
/// assert_eq!(tool.display_name(), "Read a file");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// A title for people. [`Tool::title`](crate::Tool::title) takes precedence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// True if the tool does not modify its environment.
    #[serde(rename = "readOnlyHint", skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// True if the tool may perform destructive updates. Meaningful only if the tool is not read-only.
    #[serde(rename = "destructiveHint", skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// True if repeated calls with the same arguments have no additional effect.
    #[serde(rename = "idempotentHint", skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// True if the tool interacts with an open world of external entities, such as a web search.
    #[serde(rename = "openWorldHint", skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
    /// Unknown fields.
    #[serde(flatten)]
    pub unknown: Unknown,
}

impl Annotations {
    /// Annotations with no field set.
    pub const NONE: Self = Self {
        title: None,
        read_only: None,
        destructive: None,
        idempotent: None,
        open_world: None,
        unknown: Unknown::NONE,
    };

    /// Returns true if the tool may perform destructive updates. A tool without hints may, as MCP assumes: only those with
    /// `read_only` or `destructive = false` may not.
    ///
    /// ```
    /// use toolkit::Tool;
    ///
    /// assert!(Tool::builder("update").build()?.annotations().may_be_destructive());
    /// assert!(!Tool::builder("create").destructive(false).build()?.annotations().may_be_destructive());
    /// assert!(!Tool::builder("list").read_only(true).build()?.annotations().may_be_destructive());
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn may_be_destructive(&self) -> bool {
        self.read_only != Some(true) && self.destructive != Some(false)
    }

    /// Returns true if a call may be repeated when its outcome is unknown: if the tool is declared as read-only or
    /// idempotent.
    ///
    /// ```
    /// use toolkit::Tool;
    ///
    /// assert!(Tool::builder("list").read_only(true).build()?.annotations().may_repeat());
    /// assert!(Tool::builder("replace").idempotent(true).build()?.annotations().may_repeat());
    /// assert!(!Tool::builder("append").build()?.annotations().may_repeat());
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn may_repeat(&self) -> bool {
        self.read_only == Some(true) || self.idempotent == Some(true)
    }

    /// Sets the title for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<Text>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Returns true if no field is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }
}

/// The properties of how a tool is executed (`ToolExecution` of MCP).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Execution {
    /// The support of tasks. Without it, the tool does not support them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_support: Option<TaskSupport>,
    /// Unknown fields.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// The support of a tool for tasks of MCP: long calls whose client receives an id at once and polls for the result.
///
/// # Examples
///
/// ```
/// use toolkit::tool::TaskSupport;
/// use toolkit::{catalog, tool};
///
/// /// Renders a video.
/// #[tool(task)]
/// async fn render(scene: String) -> String {
///     scene
/// }
///
/// assert_eq!(catalog![render]?.resolve("render")?.task_support(), TaskSupport::Optional);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TaskSupport {
    /// A call never becomes a task.
    #[default]
    Forbidden,
    /// A call may become a task.
    Optional,
    /// Only clients that support tasks can call the tool.
    Required,
}

impl Execution {
    /// No properties.
    pub const NONE: Self = Self { task_support: None, unknown: Unknown::NONE };

    /// Returns true if no field is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }
}

/// An icon that a client may show beside a tool (`Icon` of MCP).
///
/// ```
/// use toolkit::tool::Icon;
///
/// let icon = Icon::new("https://example.com/icon.png".into()).with_sizes(["48x48"]);
/// assert_eq!(icon.sizes, ["48x48"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Icon {
    /// An `https:` or `data:` URI.
    pub src: Text,
    /// The media type, if the URI does not determine it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<Text>,
    /// Sizes such as `48x48`, or `any`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<Text>,
    /// The background for which the icon is designed: `light` or `dark`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<Text>,
    /// Unknown fields.
    #[serde(flatten)]
    pub unknown: Unknown,
}

impl Icon {
    /// Creates an icon from its URI.
    #[must_use]
    pub const fn new(src: Text) -> Self {
        Self { src, mime_type: None, sizes: Vec::new(), theme: None, unknown: Unknown::NONE }
    }

    /// Sets the sizes of the icon, such as `48x48`.
    #[must_use]
    pub fn with_sizes(mut self, sizes: impl IntoIterator<Item: Into<Text>>) -> Self {
        self.sizes = sizes.into_iter().map(Into::into).collect();
        self
    }
}

/// Serialization of timeouts in whole milliseconds.
mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(limit: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        match limit {
            Some(limit) => serializer.serialize_u64(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
    }
}

/// A JSON value in the metadata of a tool: the text of the author, or a parsed value.
///
/// Literals are equal if their values are equal.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Literal {
    /// The text of the author, parsed on use. [`Catalog::check`](crate::Catalog::check) checks that it is JSON.
    Text(&'static str),
    /// A parsed value.
    Value(Value),
}

impl Literal {
    /// Returns the value.
    ///
    /// # Errors
    ///
    /// Returns an error if the text of the author is not JSON.
    pub fn parse(&self) -> Result<Value, serde_json::Error> {
        match self {
            Literal::Text(text) => serde_json::from_str(text),
            Literal::Value(value) => Ok(value.clone()),
        }
    }
}

impl PartialEq for Literal {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Literal::Text(a), Literal::Text(b)) if a == b => true,
            _ => matches!((self.parse(), other.parse()), (Ok(a), Ok(b)) if equality::equal(&a, &b)),
        }
    }
}

impl Serialize for Literal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Literal::Text(_) => self.parse().unwrap_or_default().serialize(serializer),
            Literal::Value(value) => value.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Literal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Literal::Value)
    }
}

impl JsonSchema for Literal {
    fn schema_name() -> Cow<'static, str> {
        "Literal".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Value::json_schema(generator)
    }
}

/// Fields of a parsed document that this crate does not know. They are written back unchanged.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit::Tool;
///
/// let json = json!({ "name": "read", "inputSchema": {}, "limits": { "perMinute": 10 } });
/// let tool = Tool::from_mcp_json(json.clone())?;
/// assert_eq!(tool.unknown().get("limits"), Some(&json!({ "perMinute": 10 })));
/// assert_eq!(tool.to_mcp_json(), json);
/// # Ok::<(), toolkit::tool::ParseToolError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unknown(Option<Box<Map<String, Value>>>);

impl Unknown {
    /// No unknown fields.
    pub const NONE: Self = Self(None);

    /// Returns the value of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.as_ref()?.get(name)
    }

    /// Returns true if there are no unknown fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn add(&mut self, fields: impl IntoIterator<Item = (String, Value)>) {
        let known = self.0.take().into_iter().flat_map(|known| *known);
        *self = known.chain(fields).collect();
    }

    /// Returns an iterator over the names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().flat_map(|fields| fields.iter()).map(|(name, value)| (name.as_str(), value))
    }
}

impl FromIterator<(String, Value)> for Unknown {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(fields: I) -> Self {
        let fields: Map<String, Value> = fields.into_iter().collect();
        Self((!fields.is_empty()).then(|| Box::new(fields)))
    }
}

impl Serialize for Unknown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Unknown {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self::from_iter)
    }
}

impl JsonSchema for Unknown {
    fn schema_name() -> Cow<'static, str> {
        "Unknown".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": true })
    }
}
