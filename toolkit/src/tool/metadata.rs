//! The metadata of tools.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Annotations, Execution, Icon, Literal, Requirements, Text, Unknown, limit};

/// The metadata of a tool: everything except its id and its schemas.
///
/// Its JSON is part of the canonical form of a tool; see [`Tool::to_json`](super::Tool::to_json).
///
/// # Examples
///
/// ```standalone_crate
/// use std::time::Duration;
///
/// use serde_json::json;
/// use toolkit::{catalog, tool};
///
/// /// Reads a file.
/// #[tool(title = "Read a file", tags = ["files"], read_only, timeout = "5s")]
/// fn read(path: String) -> String {
///     path
/// }
///
/// let catalog = catalog![read]?;
/// let metadata = catalog.resolve("read")?.metadata();
/// assert_eq!(metadata.tags, ["files"]);
/// assert_eq!(metadata.timeout, Some(Duration::from_secs(5)));
/// assert_eq!(serde_json::to_value(metadata)?["annotations"], json!({ "readOnlyHint": true }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    #[serde(rename = "timeoutMs", default, with = "limit", skip_serializing_if = "Option::is_none")]
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
