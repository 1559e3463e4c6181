//! Content blocks: what a model reads beside, or instead of, structured data.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One block of content (MCP `ContentBlock`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
// A block with more to it is none of the known ones, so that nothing of it is lost.
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    #[serde(rename_all = "camelCase")]
    Image {
        /// The bytes, as base64.
        data: String,
        /// The media type, such as `image/png`.
        mime_type: String,
    },
    /// A sound.
    #[serde(rename_all = "camelCase")]
    Audio {
        /// The bytes, as base64.
        data: String,
        /// The media type, such as `audio/wav`.
        mime_type: String,
    },
    /// A resource that the client may fetch.
    #[serde(rename_all = "camelCase")]
    ResourceLink {
        /// Where it is.
        uri: String,
        /// What it is called.
        name: String,
        /// The media type, where it is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
    /// A resource that comes along.
    Resource {
        /// `uri`, `mimeType`, and `text` or `blob`.
        resource: Map<String, Value>,
    },
    /// A block that was read, and has more to it than the others can say: kept as it came.
    #[serde(untagged)]
    Other(Map<String, Value>),
}

impl Content {
    /// A block of text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Content::Text { text: text.into() }
    }

    /// A picture from its bytes.
    #[must_use]
    pub fn image(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Content::Image { data: base64(bytes), mime_type: mime_type.into() }
    }

    /// A sound from its bytes.
    #[must_use]
    pub fn audio(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Content::Audio { data: base64(bytes), mime_type: mime_type.into() }
    }

    /// A resource that the client may fetch.
    #[must_use]
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Content::ResourceLink { uri: uri.into(), name: name.into(), mime_type: None }
    }

    /// A text resource that comes along.
    #[must_use]
    pub fn resource_text(uri: impl Into<String>, mime_type: impl Into<String>, text: impl Into<String>) -> Self {
        let entry = |key: &str, value: String| (key.to_owned(), Value::String(value));
        Content::Resource {
            resource: Map::from_iter([
                entry("uri", uri.into()),
                entry("mimeType", mime_type.into()),
                entry("text", text.into()),
            ]),
        }
    }
}

impl Content {
    /// The text of a block of text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Content::Text { text } => Some(text),
            Content::Other(block) if block.get("type")? == "text" => block.get("text")?.as_str(),
            _ => None,
        }
    }

    /// Reads a block.
    ///
    /// # Errors
    ///
    /// It is no object with a `type`.
    pub(crate) fn from_value(value: &Value) -> Result<Self, &'static str> {
        if !value.get("type").is_some_and(Value::is_string) {
            return Err("a block of content is no object with a `type`");
        }
        Self::deserialize(value).map_err(|_| "a block of content cannot be read")
    }
}

fn base64(bytes: &[u8]) -> String {
    data_encoding::BASE64.encode(bytes)
}

/// A structured result with content of the author's choice beside it.
///
/// The output schema is that of `T`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Structured<T> {
    /// What programs read.
    pub value: T,
    /// What a model reads; where it is empty, it reads the value.
    pub content: Vec<Content>,
}

impl<T> Structured<T> {
    /// `value` for programs, and `content` for the model.
    pub fn new(value: T, content: impl IntoIterator<Item = Content>) -> Self {
        Self { value, content: content.into_iter().collect() }
    }
}
