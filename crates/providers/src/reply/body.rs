//! The JSON of a reply.

use serde_json::Value;

/// The JSON of a reply: text or a value.
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::ExportedNames;
/// use toolkit_providers::openai::RESPONSES;
///
/// let names = ExportedNames::default();
/// let text = RESPONSES.read(r#"{"output": []}"#, &names)?;
/// let value = RESPONSES.read(json!({ "output": [] }), &names)?;
/// assert_eq!(text.stop_reason(), value.stop_reason());
/// # Ok::<(), toolkit_providers::reply::InvalidReply>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ReplyBody<'a> {
    /// JSON text, such as the body of an HTTP response.
    Json(&'a [u8]),
    /// A JSON value.
    Value(Value),
}

impl ReplyBody<'_> {
    pub(crate) fn into_value(self) -> Result<Value, serde_json::Error> {
        match self {
            Self::Json(json) => serde_json::from_slice(json),
            Self::Value(value) => Ok(value),
        }
    }
}

impl<'a> From<&'a [u8]> for ReplyBody<'a> {
    fn from(json: &'a [u8]) -> Self {
        Self::Json(json)
    }
}

impl<'a> From<&'a Vec<u8>> for ReplyBody<'a> {
    fn from(json: &'a Vec<u8>) -> Self {
        Self::Json(json)
    }
}

impl<'a> From<&'a str> for ReplyBody<'a> {
    fn from(json: &'a str) -> Self {
        Self::Json(json.as_bytes())
    }
}

impl<'a> From<&'a String> for ReplyBody<'a> {
    fn from(json: &'a String) -> Self {
        Self::Json(json.as_bytes())
    }
}

impl From<Value> for ReplyBody<'_> {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl From<&Value> for ReplyBody<'_> {
    fn from(value: &Value) -> Self {
        Self::Value(value.clone())
    }
}
