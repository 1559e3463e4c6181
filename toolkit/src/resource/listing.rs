//! Listed resources and templates.

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
    #[must_use]
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
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    /// Sets the description for the model.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        Self { description: Some(description.into()), ..self }
    }

    /// Sets the media type.
    #[must_use]
    pub fn mime_type(self, mime_type: impl Into<String>) -> Self {
        Self { mime_type: Some(mime_type.into()), ..self }
    }

    /// Sets the size in bytes before any encoding.
    #[must_use]
    pub fn size(self, n_bytes: u64) -> Self {
        Self { size: Some(n_bytes), ..self }
    }

    /// Adds an entry to `_meta`.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(key.into(), value.into());
        self
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
    #[must_use]
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
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    /// Sets the description for the model.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        Self { description: Some(description.into()), ..self }
    }

    /// Sets the media type of all resources.
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
}
