//! Content blocks for the model, beside or instead of structured data.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A block of content (`ContentBlock` of MCP).
///
/// ```
/// use toolkit::Content;
///
/// let block = Content::text("3 files changed");
/// assert_eq!(block.as_text(), Some("3 files changed"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
// A block with unknown fields is read as `Other`, so that none of its fields is lost.
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
#[must_use]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    #[serde(rename_all = "camelCase")]
    Image {
        /// The bytes, as base64.
        data: String,
        /// The media type, such as `image/png`.
        mime_type: String,
    },
    /// Audio.
    #[serde(rename_all = "camelCase")]
    Audio {
        /// The bytes, as base64.
        data: String,
        /// The media type, such as `audio/wav`.
        mime_type: String,
    },
    /// A link to a resource that the client may fetch.
    #[serde(rename_all = "camelCase")]
    ResourceLink {
        /// The URI.
        uri: String,
        /// The name, for programs.
        name: String,
        /// The name for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// A description for the model.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// The media type, if known.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// The size in bytes before any encoding, if known.
        #[serde(skip_serializing_if = "Option::is_none")]
        size: Option<u64>,
    },
    /// An embedded resource.
    Resource {
        /// The fields `uri`, `mimeType`, and `text` or `blob`.
        resource: Map<String, Value>,
    },
    /// A block of another type, or with fields that the other variants lack, unchanged.
    #[serde(untagged)]
    Other(Map<String, Value>),
}

impl Content {
    /// Creates a block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Content::Text { text: text.into() }
    }

    /// Creates an image block from bytes.
    pub fn image(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Content::Image { data: base64(bytes), mime_type: mime_type.into() }
    }

    /// Creates an audio block from bytes.
    pub fn audio(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Content::Audio { data: base64(bytes), mime_type: mime_type.into() }
    }

    /// Creates a link to a resource that the client may read from the server, or fetch itself if it is a `https` URL.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::Content;
    ///
    /// let link = Content::resource_link("docs:///pump.md", "pump.md")
    ///     .with_title("The manual of the pump")
    ///     .with_mime_type("text/markdown")
    ///     .with_size(4_711);
    /// assert_eq!(serde_json::to_value(&link)?["size"], 4_711);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Content::ResourceLink {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
        }
    }

    /// Sets the name for people of a resource link. Other blocks stay unchanged.
    pub fn with_title(mut self, text: impl Into<String>) -> Self {
        if let Content::ResourceLink { title, .. } = &mut self {
            *title = Some(text.into());
        }
        self
    }

    /// Sets the description of a resource link. Other blocks stay unchanged.
    pub fn with_description(mut self, text: impl Into<String>) -> Self {
        if let Content::ResourceLink { description, .. } = &mut self {
            *description = Some(text.into());
        }
        self
    }

    /// Sets the media type of a resource link. Other blocks stay unchanged.
    pub fn with_mime_type(mut self, text: impl Into<String>) -> Self {
        if let Content::ResourceLink { mime_type, .. } = &mut self {
            *mime_type = Some(text.into());
        }
        self
    }

    /// Sets the size of a resource link, in bytes before any encoding. Other blocks stay unchanged.
    pub fn with_size(mut self, n_bytes: u64) -> Self {
        if let Content::ResourceLink { size, .. } = &mut self {
            *size = Some(n_bytes);
        }
        self
    }

    /// Creates an embedded text resource.
    pub fn resource_text(uri: impl Into<String>, mime_type: impl Into<String>, text: impl Into<String>) -> Self {
        embedded(uri.into(), mime_type.into(), "text", text.into())
    }

    /// Creates an embedded resource from bytes, such as a file that is neither an image nor audio.
    pub fn resource_bytes(uri: impl Into<String>, mime_type: impl Into<String>, bytes: &[u8]) -> Self {
        embedded(uri.into(), mime_type.into(), "blob", base64(bytes))
    }
}

fn embedded(uri: String, mime_type: String, key: &str, content: String) -> Content {
    let fields = [("uri", uri), ("mimeType", mime_type), (key, content)];
    Content::Resource { resource: fields.map(|(key, value)| (key.to_owned(), value.into())).into_iter().collect() }
}

impl Content {
    /// Returns the text of a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Content::Text { text } => Some(text),
            Content::Other(block) if block.get("type")? == "text" => block.get("text")?.as_str(),
            _ => None,
        }
    }

    /// Changes the URI of a resource or of a link to one.
    pub(crate) fn map_uri(&mut self, change: &mut dyn FnMut(&str) -> String) {
        let field = match self {
            Content::ResourceLink { uri, .. } => {
                *uri = change(uri);
                return;
            }
            Content::Resource { resource } => resource.get_mut("uri"),
            Content::Other(fields) => match fields.get("type").and_then(Value::as_str) {
                Some("resource_link") => fields.get_mut("uri"),
                Some("resource") => fields.get_mut("resource").and_then(|resource| resource.get_mut("uri")),
                _ => None,
            },
            _ => None,
        };
        if let Some(Value::String(uri)) = field {
            *uri = change(uri);
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Content::text(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Content::text(text)
    }
}

fn base64(bytes: &[u8]) -> String {
    data_encoding::BASE64.encode(bytes)
}

/// A structured result together with content for the model.
///
/// The output schema is that of `T`.
///
/// ```
/// use toolkit::{Content, Structured};
///
/// let result = Structured::new(42, [Content::text("The answer is 42.")]);
/// assert_eq!(result.value, 42);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Structured<T> {
    /// The structured result.
    pub value: T,
    /// The content for the model. If it is empty, the model receives the structured result.
    pub content: Vec<Content>,
}

impl<T> Structured<T> {
    /// Creates a result from `value` and `content`.
    pub fn new(value: T, content: impl IntoIterator<Item = Content>) -> Self {
        Self { value, content: content.into_iter().collect() }
    }
}
