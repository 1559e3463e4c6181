//! What providers return: listed resources and templates, and contents.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A listed resource (`Resource` of MCP).
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit::resource::Resource;
///
/// let resource = Resource::new("notes://7", "note-7").title("Shopping").mime_type("text/plain").size(8);
/// assert_eq!(
///     serde_json::to_value(&resource)?,
///     json!({ "uri": "notes://7", "name": "note-7", "title": "Shopping", "mimeType": "text/plain", "size": 8 })
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[must_use]
pub struct Resource {
    /// The URI.
    pub uri: String,
    /// The name, for programs.
    pub name: String,
    /// The name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The media type, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The size in bytes before any encoding, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Metadata for clients, such as that of extensions of the protocol.
    #[serde(rename = "_meta", default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
    /// The other fields, such as `annotations` and `icons`.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl Resource {
    /// Creates a resource from its URI and its name.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            meta: Map::new(),
            other: Map::new(),
        }
    }

    /// Sets the name for people.
    pub fn title(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    /// Sets the description for the model.
    pub fn description(self, description: impl Into<String>) -> Self {
        Self { description: Some(description.into()), ..self }
    }

    /// Sets the media type.
    pub fn mime_type(self, mime_type: impl Into<String>) -> Self {
        Self { mime_type: Some(mime_type.into()), ..self }
    }

    /// Sets the size in bytes before any encoding.
    pub fn size(self, n_bytes: u64) -> Self {
        Self { size: Some(n_bytes), ..self }
    }

    /// Adds an entry to `_meta`.
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(key.into(), value.into());
        self
    }
}

/// A listed skill: a directory of resources with instructions for agents (the extension `io.modelcontextprotocol/skills` of
/// MCP).
///
/// # Examples
///
/// ```
/// use toolkit::resource::Skill;
///
/// let listed = r#"{"uri": "skill://refunds/SKILL.md", "frontmatter": {"name": "refunds", "description": "Refunds orders"}}"#;
/// let skill: Skill = serde_json::from_str(listed)?;
/// assert_eq!(skill.frontmatter["name"], "refunds");
/// assert!(skill.resources.is_none());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Skill {
    /// The URI of its `SKILL.md`.
    pub uri: String,
    /// The frontmatter of `SKILL.md`, with at least `name` and `description`.
    pub frontmatter: Map<String, Value>,
    /// All files of the skill, or `None` if their contents are generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Vec<SkillFile>>,
}

/// A file of a [`Skill`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillFile {
    /// The URI of the file.
    pub uri: String,
    /// The SHA-256 hash of its bytes, such as `sha256:2cf2…`.
    pub digest: String,
    /// The number of its bytes, which earlier drafts of the extension lack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

impl Skill {
    /// Creates a skill from the URI of its `SKILL.md`, its frontmatter and its files.
    #[must_use]
    pub fn new(uri: impl Into<String>, frontmatter: Map<String, Value>, resources: Vec<SkillFile>) -> Self {
        Self { uri: uri.into(), frontmatter, resources: Some(resources) }
    }
}

impl SkillFile {
    /// Creates a file from its URI, its digest, and its size in bytes.
    #[must_use]
    pub fn new(uri: impl Into<String>, digest: impl Into<String>, size: u64) -> Self {
        Self { uri: uri.into(), digest: digest.into(), size: Some(size) }
    }
}

/// A template of the URIs of similar resources (`ResourceTemplate` of MCP).
///
/// # Examples
///
/// ```
/// use toolkit::resource::ResourceTemplate;
///
/// let template = ResourceTemplate::new("notes://{id}", "note").mime_type("text/markdown");
/// assert_eq!(serde_json::to_value(&template)?["uriTemplate"], "notes://{id}");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[must_use]
pub struct ResourceTemplate {
    /// The template (RFC 6570).
    pub uri_template: String,
    /// The name, for programs.
    pub name: String,
    /// The name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The media type, if all resources have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Metadata for clients, such as that of extensions of the protocol.
    #[serde(rename = "_meta", default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
    /// The other fields, such as `annotations` and `icons`.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl ResourceTemplate {
    /// Creates a template from its text (RFC 6570) and its name.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            meta: Map::new(),
            other: Map::new(),
        }
    }

    /// Sets the name for people.
    pub fn title(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    /// Sets the description for the model.
    pub fn description(self, description: impl Into<String>) -> Self {
        Self { description: Some(description.into()), ..self }
    }

    /// Sets the media type of all resources.
    pub fn mime_type(self, mime_type: impl Into<String>) -> Self {
        Self { mime_type: Some(mime_type.into()), ..self }
    }

    /// Adds an entry to `_meta`.
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(key.into(), value.into());
        self
    }
}

/// The contents of a resource (`TextResourceContents` or `BlobResourceContents` of MCP).
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit::resource::ResourceContents;
///
/// let contents = ResourceContents::new("notes://7", "Buy milk").mime_type("text/plain");
/// assert_eq!(
///     serde_json::to_value(&contents)?,
///     json!({ "uri": "notes://7", "mimeType": "text/plain", "text": "Buy milk" })
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceContents {
    /// The URI, which is usually the one that was requested.
    pub uri: String,
    /// The media type, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text or the bytes.
    #[serde(flatten)]
    pub body: ResourceBody,
    /// Metadata for clients, such as that of extensions of the protocol.
    #[serde(rename = "_meta", default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// The text or the bytes of a resource.
///
/// # Examples
///
/// ```
/// use toolkit::resource::ResourceBody;
///
/// assert_eq!(ResourceBody::from("text"), ResourceBody::Text("text".to_owned()));
/// assert_eq!(ResourceBody::from(vec![0, 1, 2]), ResourceBody::Blob("AAEC".to_owned()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Bytes, as base64.
    Blob(String),
}

impl ResourceContents {
    /// Creates the contents of the resource with a URI.
    #[must_use]
    pub fn new(uri: impl Into<String>, body: impl Into<ResourceBody>) -> Self {
        Self { uri: uri.into(), mime_type: None, body: body.into(), meta: Map::new() }
    }

    /// Sets the media type.
    #[must_use]
    pub fn mime_type(self, mime_type: impl Into<String>) -> Self {
        Self { mime_type: Some(mime_type.into()), ..self }
    }

    /// Adds an entry to `_meta`.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(key.into(), value.into());
        self
    }

    /// Returns the text, or `None` for bytes.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.body {
            ResourceBody::Text(text) => Some(text),
            ResourceBody::Blob(_) => None,
        }
    }
}

impl ResourceBody {
    /// Returns the size in a message, in bytes: that of the text, or that of the base64 of bytes.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        match self {
            ResourceBody::Text(text) | ResourceBody::Blob(text) => text.len(),
        }
    }
}

impl From<&str> for ResourceBody {
    fn from(text: &str) -> Self {
        ResourceBody::Text(text.to_owned())
    }
}

impl From<String> for ResourceBody {
    fn from(text: String) -> Self {
        ResourceBody::Text(text)
    }
}

impl From<&[u8]> for ResourceBody {
    fn from(bytes: &[u8]) -> Self {
        ResourceBody::Blob(data_encoding::BASE64.encode(bytes))
    }
}

impl From<Vec<u8>> for ResourceBody {
    fn from(bytes: Vec<u8>) -> Self {
        ResourceBody::from(&*bytes)
    }
}
