//! The arguments of a call, in the form that the caller has.

use std::borrow::Cow;
use std::fmt;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The arguments of a call: JSON text, or a JSON value.
///
/// JSON text is faster: it is deserialized into the typed arguments in one pass.
///
/// ```
/// use serde_json::json;
/// use toolkit::Arguments;
///
/// let text = Arguments::from(r#"{"path":"a.txt"}"#);
/// let value = Arguments::from(json!({ "path": "a.txt" }));
/// assert_eq!(text.to_json()?, value.to_json()?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum Arguments<'a> {
    /// JSON text.
    Json(Cow<'a, [u8]>),
    /// A JSON value.
    Value(Cow<'a, Value>),
}

// Arguments may contain secrets, and `Debug` output usually ends up in logs.
impl fmt::Debug for Arguments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arguments::Json(text) => write!(f, "{} bytes of JSON", text.len()),
            Arguments::Value(_) => f.write_str("a JSON value"),
        }
    }
}

impl Arguments<'_> {
    /// The empty object, for a tool without parameters.
    pub const NONE: Arguments<'static> = Arguments::Json(Cow::Borrowed(b"{}"));

    /// Returns the same arguments without copying them.
    #[must_use]
    pub fn borrowed(&self) -> Arguments<'_> {
        match self {
            Arguments::Json(text) => Arguments::Json(Cow::Borrowed(text)),
            Arguments::Value(value) => Arguments::Value(Cow::Borrowed(value)),
        }
    }

    /// Returns the arguments as JSON text; a value is serialized.
    ///
    /// ```
    /// # use serde_json::json;
    /// # use toolkit::Arguments;
    /// assert_eq!(*Arguments::from("{ }").to_json()?, *b"{ }");
    /// assert_eq!(*Arguments::from(&json!({ "a": 1 })).to_json()?, *br#"{"a":1}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the value cannot be serialized.
    pub fn to_json(&self) -> Result<Cow<'_, [u8]>, serde_json::Error> {
        match self {
            Arguments::Json(text) => Ok(Cow::Borrowed(text)),
            Arguments::Value(value) => serde_json::to_vec(value).map(Cow::Owned),
        }
    }

    /// Converts the arguments into an owned form.
    #[must_use]
    pub fn into_owned(self) -> Arguments<'static> {
        match self {
            Arguments::Json(text) => Arguments::Json(Cow::Owned(text.into_owned())),
            Arguments::Value(value) => Arguments::Value(Cow::Owned(value.into_owned())),
        }
    }

    /// Returns the length of the text in bytes, or 0 for a value, which is in memory already.
    pub(crate) fn len(&self) -> usize {
        match self {
            Arguments::Json(text) => text.len(),
            Arguments::Value(_) => 0,
        }
    }
}

impl<'a> From<&'a str> for Arguments<'a> {
    fn from(json: &'a str) -> Self {
        Arguments::Json(Cow::Borrowed(json.as_bytes()))
    }
}

impl<'a> From<&'a [u8]> for Arguments<'a> {
    fn from(json: &'a [u8]) -> Self {
        Arguments::Json(Cow::Borrowed(json))
    }
}

impl<'a> From<&'a String> for Arguments<'a> {
    fn from(json: &'a String) -> Self {
        json.as_str().into()
    }
}

impl<'a> From<&'a Vec<u8>> for Arguments<'a> {
    fn from(json: &'a Vec<u8>) -> Self {
        json.as_slice().into()
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Arguments<'a> {
    fn from(json: &'a [u8; N]) -> Self {
        json.as_slice().into()
    }
}

impl<'a> From<&'a RawValue> for Arguments<'a> {
    fn from(json: &'a RawValue) -> Self {
        json.get().into()
    }
}

impl From<String> for Arguments<'static> {
    fn from(json: String) -> Self {
        Arguments::Json(Cow::Owned(json.into_bytes()))
    }
}

impl From<Vec<u8>> for Arguments<'static> {
    fn from(json: Vec<u8>) -> Self {
        Arguments::Json(Cow::Owned(json))
    }
}

impl From<Map<String, Value>> for Arguments<'static> {
    fn from(object: Map<String, Value>) -> Self {
        Value::Object(object).into()
    }
}

impl From<Value> for Arguments<'static> {
    fn from(value: Value) -> Self {
        Arguments::Value(Cow::Owned(value))
    }
}

impl<'a> From<&'a Value> for Arguments<'a> {
    fn from(value: &'a Value) -> Self {
        Arguments::Value(Cow::Borrowed(value))
    }
}
