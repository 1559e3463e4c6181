//! The result of a call as content that a provider may support.

use serde_json::Value;

use super::ToolCall;
use toolkit::call::ErrorKind;
use toolkit::{Content, RunResult, ToolError};

/// A result that is ready to be written.
#[derive(Debug)]
pub(crate) enum ResultItem<'r> {
    /// The result of a call.
    CallResult(CallResult<'r>),
    /// A result that the host wrote.
    Written(&'r Value),
}

impl ResultItem<'_> {
    /// Writes each result with `write`, except those that the host wrote.
    pub(crate) fn write_each(items: &[Self], mut write: impl FnMut(&CallResult<'_>) -> Value) -> Vec<Value> {
        let written = items.iter().map(|item| match item {
            Self::CallResult(answer) => write(answer),
            Self::Written(result) => (*result).clone(),
        });
        written.collect()
    }
}

/// The result of one call.
#[derive(Debug)]
pub(crate) struct CallResult<'r> {
    pub(crate) call: &'r ToolCall,
    pub(crate) parts: Vec<ResultPart>,
    pub(crate) is_error: bool,
}

/// The types of images that most APIs accept.
pub(crate) const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// A part of a result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ResultPart {
    Text(String),
    /// The structured result, as JSON text.
    Json(String),
    /// Base64.
    Image {
        data: String,
        mime_type: String,
    },
    /// Base64.
    Audio {
        data: String,
        mime_type: String,
    },
    /// Base64.
    File {
        name: String,
        data: String,
        mime_type: String,
    },
}

impl ResultPart {
    /// Returns the parts of the outcome of a call, and true if it is an error.
    pub(crate) fn of(outcome: &Result<RunResult, ToolError>) -> (Vec<Self>, bool) {
        match outcome {
            Err(error) => {
                let did_not_run = if matches!(error.kind(), ErrorKind::Denied | ErrorKind::Pending) {
                    "the tool did not run: "
                } else {
                    ""
                };
                let message = Self::Text(format!("{did_not_run}{}", error.message()));
                ([message].into_iter().chain(error.content().iter().map(Self::of_content)).collect(), true)
            }
            Ok(result) if !result.own_content().is_empty() => {
                (result.own_content().iter().map(Self::of_content).collect(), false)
            }
            Ok(result) => (result.json().map(Self::of_json).into_iter().collect(), false),
        }
    }

    /// A string is shown without quotes and escapes.
    fn of_json(json: &[u8]) -> Self {
        let text = json.starts_with(b"\"").then(|| serde_json::from_slice::<String>(json).ok()).flatten();
        text.map_or_else(|| Self::Json(String::from_utf8_lossy(json).into_owned()), Self::Text)
    }

    fn of_content(content: &Content) -> Self {
        match content {
            Content::Image { data, mime_type } => Self::Image { data: data.clone(), mime_type: mime_type.clone() },
            Content::Audio { data, mime_type } => Self::Audio { data: data.clone(), mime_type: mime_type.clone() },
            Content::ResourceLink { uri, name, .. } => Self::Text(format!("{name}: {uri}")),
            Content::Resource { resource } => Self::of_resource(resource),
            other => match other.as_text() {
                Some(text) => Self::Text(text.to_owned()),
                None => Self::Json(serde_json::to_string(other).unwrap_or_default()),
            },
        }
    }

    fn of_resource(resource: &serde_json::Map<String, Value>) -> Self {
        let field = |name: &str| resource.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (uri, mime_type, data) = (field("uri"), field("mimeType"), field("blob"));
        match resource.get("text").and_then(Value::as_str) {
            Some(text) => Self::Text(format!("{uri}:\n{text}")),
            None if mime_type.starts_with("image/") => Self::Image { data, mime_type },
            None if mime_type.starts_with("audio/") => Self::Audio { data, mime_type },
            None => {
                let name = uri.rsplit('/').find(|part| !part.is_empty()).unwrap_or("file").to_owned();
                Self::File { name, data, mime_type }
            }
        }
    }

    /// Returns the media type and the base64 data of a part that is not text.
    pub(crate) fn media(&self) -> Option<(&'static str, &str, &str)> {
        match self {
            Self::Text(_) | Self::Json(_) => None,
            Self::Image { data, mime_type } => Some(("image", mime_type, data)),
            Self::Audio { data, mime_type } => Some(("audio", mime_type, data)),
            Self::File { data, mime_type, .. } => Some(("file", mime_type, data)),
        }
    }

    /// Returns a part that is not text as a URL that contains it.
    pub(crate) fn data_url(&self) -> String {
        let (_, mime_type, data) = self.media().unwrap_or_default();
        format!("data:{mime_type};base64,{data}")
    }

    /// Returns the text, or a note about what an API cannot show.
    pub(crate) fn to_text(&self) -> String {
        match (self, self.media()) {
            (Self::Text(text) | Self::Json(text), _) => text.clone(),
            (_, Some((kind, mime_type, data))) => {
                let mime_type: String = mime_type.chars().filter(|c| !c.is_control()).take(64).collect();
                format!("[{kind}, {mime_type}, {} bytes: not shown]", data.len() / 4 * 3)
            }
            (_, None) => String::new(),
        }
    }
}

impl CallResult<'_> {
    /// Returns all parts as one text, with a note for each that is not text. An error begins with `error: `, for APIs
    /// without a flag.
    pub(crate) fn to_text(&self) -> String {
        let text = match &self.parts[..] {
            [part] => part.to_text(),
            parts => parts.iter().map(ResultPart::to_text).collect::<Vec<String>>().join("\n"),
        };
        flagged(self.is_error, text)
    }
}

/// Returns the text of a result for an API without a flag for errors, and which may not be empty.
pub(crate) fn flagged(is_error: bool, text: String) -> String {
    match (is_error, text.trim().is_empty()) {
        (true, _) => format!("error: {text}"),
        (false, true) => "ok".to_owned(),
        (false, false) => text,
    }
}
